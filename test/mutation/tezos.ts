import type { Guard } from './guard.js'

const octez = 'src/chains/tezos/rpc/octez/source.ts'
const search = 'src/chains/tezos/rpc/octez/findPosition.ts'
const tzkt = 'src/chains/tezos/rpc/tzkt/source.ts'
const identifiers = 'src/chains/tezos/encoding/identifiers.ts'
const claim = 'src/chains/tezos/exactDirect/signedClaim.ts'
const chain = 'src/chains/tezos/exactDirect/chain.ts'
const pitfalls = ['test/chains/tezos/pitfalls.test.ts']
const opening = ['test/chains/tezos/open.test.ts']
const searching = ['test/chains/tezos/search.test.ts']
const encodings = ['test/chains/tezos/encoding.test.ts']
const claims = ['test/chains/tezos/signedClaim.test.ts']

export const guards: readonly Guard[] = [
  {
    name: 'octez: two blocks on top',
    file: octez,
    from: 'position.onTop < blocksOnTop',
    to: 'position.onTop < 0',
    tests: pitfalls,
  },
  {
    name: 'octez: every content is applied',
    file: octez,
    from: "metadata.operation_result.status === 'applied'",
    to: 'metadata !== null',
    tests: pitfalls,
  },
  {
    name: 'octez: the operation is the one that was asked for',
    file: octez,
    from: 'operation.hash !== hash',
    to: 'false',
    tests: opening,
  },
  {
    name: 'octez: an endpoint that changes its chain is not believed',
    file: octez,
    from: 'head.chain_id !== chainId',
    to: 'false',
    tests: opening,
  },
  {
    name: 'octez: only the entrypoint transfer moves tokens',
    file: octez,
    from: "parameters?.entrypoint !== 'transfer'",
    to: 'parameters === undefined',
    tests: pitfalls,
  },
  {
    name: 'octez: a block is the one that was asked for',
    file: 'src/chains/tezos/rpc/octez/blockCache.ts',
    from: 'header.hash !== hash',
    to: 'false',
    tests: searching,
  },
  {
    name: 'octez: the search follows the chain of the head',
    file: search,
    from: 'const block = await cache.load(next)',
    to: 'const block = await cache.load(String(level))',
    tests: [...pitfalls, ...searching],
  },
  {
    name: 'octez: the memory is bounded',
    file: 'src/chains/tezos/rpc/octez/blockCache.ts',
    from: 'blocks.size > most',
    to: 'false',
    tests: searching,
  },
  {
    name: 'octez: one look-up loads a bounded number of blocks',
    file: search,
    from: 'loaded >= maxLoadedBlocks',
    to: 'false',
    tests: searching,
  },
  {
    name: 'octez: the search ends at the age limit',
    file: search,
    from: 'isTooOld = block.time < notBefore',
    to: 'isTooOld = false',
    tests: searching,
  },
  {
    name: 'amounts are natural numbers',
    file: 'src/chains/tezos/rpc/transferShape.ts',
    from: '/^\\d{1,78}$/',
    to: '/^-?\\d{1,78}$/',
    tests: encodings,
  },
  {
    name: 'TzKT: two blocks on top',
    file: tzkt,
    from: 'head.level - blocksOnTop',
    to: 'head.level',
    tests: pitfalls,
  },
  {
    name: 'TzKT: every content is applied',
    file: tzkt,
    from: "rows.every(({ status }) => status === 'applied')",
    to: 'true',
    tests: pitfalls,
  },
  {
    name: 'TzKT: the operation is the one that was asked for',
    file: tzkt,
    from: 'row.hash === hash && ',
    to: '',
    tests: opening,
  },
  {
    name: 'TzKT: an endpoint that changes its chain is not believed',
    file: tzkt,
    from: 'head.chainId !== chainId',
    to: 'false',
    tests: opening,
  },
  {
    name: 'TzKT: an indexer that is behind is not used',
    file: tzkt,
    from: '!head.synced',
    to: 'false',
    tests: opening,
  },
  {
    name: 'TzKT: only the entrypoint transfer moves tokens',
    file: tzkt,
    from: "parameter?.entrypoint !== 'transfer'",
    to: '!isPresent(parameter)',
    tests: pitfalls,
  },
  {
    name: 'TzKT: calls between contracts are no payment',
    file: tzkt,
    from: 'isPresent(initiator) || isPresent(nonce)',
    to: 'false',
    tests: pitfalls,
  },
  {
    name: 'the payer signed the operation',
    file: 'src/chains/tezos/exactDirect/transfers.ts',
    from: 'from !== payer || ',
    to: '',
    tests: pitfalls,
  },
  {
    name: 'a failed operation moved nothing',
    file: 'src/chains/tezos/exactDirect/lookUp.ts',
    from: '!found.isApplied',
    to: 'false',
    tests: pitfalls,
  },
  {
    name: 'an address has a checksum',
    file: identifiers,
    from: ' && validateAddress(text) === ValidationResult.VALID',
    to: '',
    tests: encodings,
  },
  {
    name: 'an operation hash has a checksum',
    file: identifiers,
    from: ' && validateOperation(text) === ValidationResult.VALID',
    to: '',
    tests: encodings,
  },
  {
    name: 'a token id has one spelling',
    file: identifiers,
    from: '(0|[1-9][0-9]{0,77})',
    to: '([0-9]{1,78})',
    tests: encodings,
  },
  {
    name: 'only configured assets are settled',
    file: 'src/chains/common/direct/tokens.ts',
    from: 'isOffered: (asset) => offered.has(asset)',
    to: 'isOffered: () => true',
    tests: pitfalls,
  },
  {
    name: 'the token id of the payload counts',
    file: chain,
    from: 'isId ? (',
    to: 'isId ? (readTezosAsset(contractAddress) ?? ',
    tests: pitfalls,
  },
  {
    name: 'the key of a claim is that of the account',
    file: claim,
    from: 'getPkhfromPk(publicKey) === account && ',
    to: '',
    tests: claims,
  },
  {
    name: 'a claim is signed',
    file: claim,
    from: ' && verifySignature(packString(text), publicKey, signature)',
    to: '',
    tests: claims,
  },
]
