import { type Guard, guardsIn } from './guard.js'

const folder = 'src/chains/cosmos'
const tests = 'test/chains/cosmos'
const pitfalls = [`${tests}/pitfalls.test.ts`]
const lookUp = [`${tests}/lookUp.test.ts`]
const signers = [`${tests}/transactionSigner.test.ts`]
const claims = [`${tests}/signedClaim.test.ts`]
const opening = [`${tests}/open.test.ts`]
const encoding = [`${tests}/encoding.test.ts`]

export const guards: readonly Guard[] = [
  ...guardsIn(`${folder}/rpc.ts`, pitfalls, {
    'the bytes have the hash': ['hash === expected ?', 'hash !== null ?'],
    'the header holds the root of the proof': ['header.data_hash === expected.dataHash', 'true'],
    'the header is of the chain': ['header.chain_id === expected.chainId &&', ''],
    // biome-ignore lint/suspicious/noTemplateCurlyInString: source text
    'the header is of the height': ['header.height === `${expected.height}` &&', ''],
  }),
  ...guardsIn(`${folder}/inclusionProof.ts`, pitfalls, {
    'a proof has as many aunts as its place needs': [
      'return aunt === undefined ? leafHash : null',
      'return leafHash',
    ],
  }),
  ...guardsIn(`${folder}/inclusionProof.ts`, encoding, {
    'a leaf is hashed as a leaf': [
      'const leafPrefix = Uint8Array.of(0)',
      'const leafPrefix = Uint8Array.of(1)',
    ],
  }),
  ...guardsIn(`${folder}/lookUp.ts`, signers, {
    'the sender signed the transaction': [
      "signature === 'forged'",
      '(await readAccountNumber(ask, from)) < 0n',
    ],
  }),
  ...guardsIn(`${folder}/transactionSigner.ts`, signers, {
    'the key of a signature is that of the sender': [
      'addressOf(publicKey, prefix) === account',
      'publicKey !== undefined && prefix !== account',
    ],
    'a multi-signature key has as many signatures as it requires': ['signed.length < threshold ||', ''],
  }),
  ...guardsIn(`${folder}/lookUp.ts`, pitfalls, {
    'a transaction with a code has failed': ["if (code !== 0) return { state: 'failed' }", ''],
  }),
  ...guardsIn(`${folder}/lookUp.ts`, pitfalls, {
    'messages inside others are left out': [
      'default:\n      return []',
      'default:\n      throw new Error(typeUrl)',
    ],
    'events confirm what a message sends': [
      // biome-ignore lint/suspicious/noTemplateCurlyInString: source text
      'credits(index, to, asset) >= (sent.get(`${to},${asset}`) ?? 0n)',
      'credits(index, to, asset) >= (sent.get(to) ?? 0n)',
    ],
  }),
  ...guardsIn(`${folder}/lookUp.ts`, lookUp, {
    'a message with several senders is no transfer': [
      'input === undefined || others.length > 0',
      'input === undefined',
    ],
  }),
  ...guardsIn(`${folder}/lookUp.ts`, lookUp, {
    'an event of another message confirms nothing': ["readAttribute(event, 'msg_index')", "'0'"],
    'only transfer events confirm': ["event.type !== 'transfer'", 'false'],
  }),
  ...guardsIn(`${folder}/rpc.ts`, pitfalls, {
    'a node without an index knows nothing about a transaction': [
      // biome-ignore lint/suspicious/noTemplateCurlyInString: source text
      '.toUpperCase().includes(`TX (${transaction}) NOT FOUND`)',
      '.length > 0',
    ],
  }),
  ...guardsIn(`${folder}/rpc.ts`, opening, {
    'a node that is catching up proves nothing': ['if (sync_info.catching_up)', 'if (false)'],
    'a node without an index is not read from': ["if (node_info.other?.tx_index === 'off')", 'if (false)'],
  }),
  ...guardsIn(`${folder}/addresses.ts`, encoding, {
    'an address has the prefix of the chain': ['decoded.prefix !== prefix ||', ''],
  }),
  ...guardsIn(`${folder}/open.ts`, pitfalls, {
    'the denomination that the payload names is that of the requirements': [
      "return typeof denom === 'string' ? (readDenom(denom) ?? 'invalid') : 'invalid'",
      'return null',
    ],
  }),
  ...guardsIn(`${folder}/signedClaim.ts`, claims, {
    "the key of a claim is the account's": [
      'if (formatAddress(hashKey(key), prefix) !== account) return false',
      '',
    ],
  }),
  ...guardsIn(`${folder}/signature.ts`, claims, {
    'the claim is signed': [
      "return verify('sha256', message, { key: keyObject, dsaEncoding: 'ieee-p1363' }, rs)",
      'return keyObject !== null',
    ],
    'a claim has no second form': ['> maxS) return false', '< 0n) return false'],
  }),
]
