import type { Guard } from './guard.js'

const folder = 'src/chains/cosmos'
const tests = 'test/chains/cosmos'
const pitfalls = [`${tests}/exactDirect/pitfalls.test.ts`]
const lookUp = [`${tests}/exactDirect/lookUp.test.ts`]
const signers = [`${tests}/exactDirect/transactionSigner.test.ts`]
const claims = [`${tests}/exactDirect/signedClaim.test.ts`]
const opening = [`${tests}/open.test.ts`]
const encoding = [`${tests}/encoding/encoding.test.ts`]

export const guards: readonly Guard[] = [
  {
    name: 'the bytes have the hash',
    file: `${folder}/rpc/wireShapes.ts`,
    from: 'toHash(digest) !== hash',
    to: 'false',
    tests: pitfalls,
  },
  {
    name: 'the header holds the root of the proof',
    file: `${folder}/rpc/wireShapes.ts`,
    from: 'data_hash: z.literal(expected.dataHash)',
    to: 'data_hash: z.string()',
    tests: pitfalls,
  },
  {
    name: 'the header is of the chain',
    file: `${folder}/rpc/wireShapes.ts`,
    from: 'chain_id: z.literal(expected.chainId)',
    to: 'chain_id: z.string()',
    tests: pitfalls,
  },
  {
    name: 'the header is of the height',
    file: `${folder}/rpc/wireShapes.ts`,
    // biome-ignore lint/suspicious/noTemplateCurlyInString: source text
    from: 'height: z.literal(`${expected.height}`)',
    to: 'height: z.string()',
    tests: pitfalls,
  },
  {
    name: 'a proof has as many aunts as its place needs',
    file: `${folder}/encoding/inclusionProof.ts`,
    from: 'return aunt === undefined ? leafHash : null',
    to: 'return leafHash',
    tests: pitfalls,
  },
  {
    name: 'a leaf is hashed as a leaf',
    file: `${folder}/encoding/inclusionProof.ts`,
    from: 'const leafPrefix = Uint8Array.of(0)',
    to: 'const leafPrefix = Uint8Array.of(1)',
    tests: encoding,
  },
  {
    name: 'the sender signed the transaction',
    file: `${folder}/exactDirect/lookUp.ts`,
    from: "signature === 'forged'",
    to: '(await readAccountNumber(ask, from)) < 0n',
    tests: signers,
  },
  {
    name: 'the key of a signature is that of the sender',
    file: `${folder}/exactDirect/transactionSigner.ts`,
    from: 'addressOf(publicKey, prefix) === account',
    to: 'publicKey !== undefined && prefix !== account',
    tests: signers,
  },
  {
    name: 'a multi-signature key has as many signatures as it requires',
    file: `${folder}/exactDirect/transactionSigner.ts`,
    from: 'signed.length < threshold ||',
    to: '',
    tests: signers,
  },
  {
    name: 'a transaction with a code has failed',
    file: `${folder}/exactDirect/lookUp.ts`,
    from: "if (code !== 0) return { state: 'failed' }",
    to: '',
    tests: pitfalls,
  },
  {
    name: 'messages inside others are left out',
    file: `${folder}/exactDirect/transfers.ts`,
    from: 'default:\n      return []',
    to: 'default:\n      throw new Error(typeUrl)',
    tests: pitfalls,
  },
  {
    name: 'a message with several senders is no transfer',
    file: `${folder}/exactDirect/transfers.ts`,
    from: 'input === undefined || others.length > 0',
    to: 'input === undefined',
    tests: lookUp,
  },
  {
    name: 'events confirm what a message sends',
    file: `${folder}/exactDirect/transfers.ts`,
    // biome-ignore lint/suspicious/noTemplateCurlyInString: source text
    from: 'credits(index, to, asset) >= (sent.get(`${to},${asset}`) ?? 0n)',
    to: 'credits(index, to, asset) >= (sent.get(to) ?? 0n)',
    tests: pitfalls,
  },
  {
    name: 'an event of another message confirms nothing',
    file: `${folder}/exactDirect/credits.ts`,
    from: "readAttribute(event, 'msg_index')",
    to: "'0'",
    tests: lookUp,
  },
  {
    name: 'only transfer events confirm',
    file: `${folder}/exactDirect/credits.ts`,
    from: "event.type !== 'transfer'",
    to: 'false',
    tests: lookUp,
  },
  {
    name: 'a node without an index knows nothing about a transaction',
    file: `${folder}/rpc/rpc.ts`,
    // biome-ignore lint/suspicious/noTemplateCurlyInString: source text
    from: '.toUpperCase().includes(`TX (${transaction}) NOT FOUND`)',
    to: '.length > 0',
    tests: pitfalls,
  },
  {
    name: 'a node that is catching up proves nothing',
    file: `${folder}/rpc/rpc.ts`,
    from: 'if (sync_info.catching_up)',
    to: 'if (false)',
    tests: opening,
  },
  {
    name: 'a node without an index is not read from',
    file: `${folder}/rpc/rpc.ts`,
    from: "if (node_info.other?.tx_index === 'off')",
    to: 'if (false)',
    tests: opening,
  },
  {
    name: 'an address has the prefix of the chain',
    file: `${folder}/encoding/address.ts`,
    from: 'decoded.prefix !== prefix ||',
    to: '',
    tests: encoding,
  },
  {
    name: 'the denomination that the payload names is that of the requirements',
    file: `${folder}/exactDirect/chain.ts`,
    from: "return typeof denom === 'string' ? (readDenom(denom) ?? 'invalid') : 'invalid'",
    to: 'return null',
    tests: pitfalls,
  },
  {
    name: "the key of a claim is the account's",
    file: `${folder}/exactDirect/signedClaim.ts`,
    from: 'if (formatAddress(hashKey(key), prefix) !== account) return false',
    to: '',
    tests: claims,
  },
  {
    name: 'the claim is signed',
    file: `${folder}/encoding/secp256k1.ts`,
    from: "return verify('sha256', message, { key: keyObject, dsaEncoding: 'ieee-p1363' }, rs)",
    to: 'return keyObject !== null',
    tests: claims,
  },
  {
    name: 'a claim has no second form',
    file: `${folder}/encoding/secp256k1.ts`,
    from: '> maxS) return false',
    to: '< 0n) return false',
    tests: claims,
  },
]
