import { type Guard, guardsIn } from './guard.js'

const octez = 'src/chains/tezos/octez.ts'
const search = 'src/chains/tezos/blockSearch.ts'
const tzkt = 'src/chains/tezos/tzkt.ts'
const identifiers = 'src/chains/tezos/addresses.ts'
const claim = 'src/chains/tezos/signedClaim.ts'
const chain = 'src/chains/tezos/open.ts'
const pitfalls = ['test/chains/tezos/pitfalls.test.ts']
const opening = ['test/chains/tezos/open.test.ts']
const searching = ['test/chains/tezos/search.test.ts']
const encodings = ['test/chains/tezos/encoding.test.ts']
const claims = ['test/chains/tezos/signedClaim.test.ts']

export const guards: readonly Guard[] = [
  ...guardsIn(octez, pitfalls, {
    'octez: two blocks on top': ['position.onTop < blocksOnTop', 'position.onTop < 0'],
    'octez: every content is applied': [
      "metadata.operation_result.status === 'applied'",
      'metadata !== null',
    ],
    'octez: only the entrypoint transfer moves tokens': [
      "parameters?.entrypoint !== 'transfer'",
      'parameters === undefined',
    ],
  }),
  ...guardsIn(octez, opening, {
    'octez: the operation is the one that was asked for': ['operation.hash !== hash', 'false'],
    'octez: an endpoint that changes its chain is not believed': ['head.chain_id !== chainId', 'false'],
  }),
  ...guardsIn('src/chains/tezos/blockSearch.ts', searching, {
    'octez: a block is the one that was asked for': ['header.hash !== hash', 'false'],
    'octez: the memory is bounded': ['blocks.size > most', 'false'],
  }),
  ...guardsIn(search, [...pitfalls, ...searching], {
    'octez: the search follows the chain of the head': [
      'const block = await cache.load(next)',
      'const block = await cache.load(String(level))',
    ],
  }),
  ...guardsIn(search, searching, {
    'octez: one look-up loads a bounded number of blocks': ['loaded >= maxLoadedBlocks', 'false'],
    'octez: the search ends at the age limit': ['isTooOld = block.time < notBefore', 'isTooOld = false'],
  }),
  ...guardsIn('src/chains/tezos/source.ts', encodings, {
    'amounts are natural numbers': ['/^\\d{1,78}$/', '/^-?\\d{1,78}$/'],
  }),
  ...guardsIn(tzkt, pitfalls, {
    'TzKT: two blocks on top': ['head.level - blocksOnTop', 'head.level'],
    'TzKT: every content is applied': ["rows.every(({ status }) => status === 'applied')", 'true'],
    'TzKT: only the entrypoint transfer moves tokens': [
      "parameter?.entrypoint !== 'transfer'",
      '!isPresent(parameter)',
    ],
    'TzKT: calls between contracts are no payment': ['isPresent(initiator) || isPresent(nonce)', 'false'],
  }),
  ...guardsIn(tzkt, opening, {
    'TzKT: the operation is the one that was asked for': ['row.hash === hash && ', ''],
    'TzKT: an endpoint that changes its chain is not believed': ['head.chainId !== chainId', 'false'],
    'TzKT: an indexer that is behind is not used': ['!head.synced', 'false'],
  }),
  ...guardsIn('src/chains/tezos/lookUp.ts', pitfalls, {
    'the payer signed the operation': ['from !== payer || ', ''],
  }),
  ...guardsIn('src/chains/tezos/lookUp.ts', pitfalls, {
    'a failed operation moved nothing': ['!found.isApplied', 'false'],
  }),
  ...guardsIn(identifiers, encodings, {
    'an address has a checksum': [' && validateAddress(text) === ValidationResult.VALID', ''],
    'an operation hash has a checksum': [' && validateOperation(text) === ValidationResult.VALID', ''],
    'a token id has one spelling': ['(0|[1-9][0-9]{0,77})', '([0-9]{1,78})'],
  }),
  ...guardsIn('src/chains/common/direct/tokens.ts', pitfalls, {
    'only configured assets are settled': [
      'isOffered: (asset) => offered.has(asset)',
      'isOffered: () => true',
    ],
  }),
  ...guardsIn(chain, pitfalls, {
    'the token id of the payload counts': ['isId ? (', 'isId ? (readTezosAsset(contractAddress) ?? '],
  }),
  ...guardsIn(claim, claims, {
    'the key of a claim is that of the account': ['getPkhfromPk(publicKey) === account && ', ''],
    'a claim is signed': [' && verifySignature(packString(text), publicKey, signature)', ''],
  }),
]
