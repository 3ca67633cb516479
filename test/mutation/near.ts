import type { Guard } from './guard.js'

const folder = 'src/chains/near'
const tests = 'test/chains/near'
const pitfalls = [`${tests}/exactDirect/pitfalls.test.ts`]
const lookUp = [`${tests}/exactDirect/lookUp.test.ts`]
const claims = [`${tests}/exactDirect/signedClaim.test.ts`]
const opening = [`${tests}/open.test.ts`]

export const guards: readonly Guard[] = [
  {
    name: 'logs of failed receipts count for nothing',
    file: `${folder}/exactDirect/transfers.ts`,
    from: '.filter(({ isSuccessful }) => isSuccessful)',
    to: '.filter(() => true)',
    tests: pitfalls,
  },
  {
    name: 'the asset is the contract that printed the event',
    file: `${folder}/exactDirect/transfers.ts`,
    from: '[{ asset, from, to, amount: BigInt(amount), memo }]',
    to: "[{ asset: 'usdc.testnet', from, to, amount: BigInt(amount), memo }]",
    tests: pitfalls,
  },
  {
    name: 'only events of NEP-141 are transfers',
    file: `${folder}/exactDirect/transfers.ts`,
    from: "standard: z.literal('nep141')",
    to: 'standard: z.string()',
    tests: lookUp,
  },
  {
    name: 'only ft_transfer is a transfer',
    file: `${folder}/exactDirect/transfers.ts`,
    from: "event: z.literal('ft_transfer')",
    to: 'event: z.string()',
    tests: lookUp,
  },
  {
    name: 'amounts are whole numbers in decimal digits',
    file: `${folder}/exactDirect/transfers.ts`,
    from: 'z.string().regex(/^[0-9]{1,39}$/)',
    to: 'z.string()',
    tests: lookUp,
  },
  {
    name: 'the payer signed the transaction, or a delegate action in it',
    file: `${folder}/exactDirect/lookUp.ts`,
    from: 'const isAuthorized = isAuthorizedBy(found, from)',
    to: 'const isAuthorized = true',
    tests: pitfalls,
  },
  {
    name: 'a delegate action is for the account that receives the transaction',
    file: `${folder}/exactDirect/transfers.ts`,
    from: '(receiver === account && delegators.includes(account))',
    to: 'delegators.includes(account)',
    tests: lookUp,
  },
  {
    name: 'a transaction that moved nothing and failed in part has failed',
    file: `${folder}/exactDirect/lookUp.ts`,
    from: 'transfers.length === 0 && hasFailed(found)',
    to: 'false',
    tests: pitfalls,
  },
  {
    name: 'a status other than FINAL is pending',
    file: `${folder}/rpc/wireShapes.ts`,
    from: "final_execution_status: z.literal('FINAL')",
    to: 'final_execution_status: z.string()',
    tests: lookUp,
  },
  {
    name: 'the block is not above the newest final block',
    file: `${folder}/exactDirect/lookUp.ts`,
    from: 'block.height > final.height',
    to: 'false',
    tests: pitfalls,
  },
  {
    name: 'the answer is about the transaction that was asked for',
    file: `${folder}/rpc/wireShapes.ts`,
    from: 'hash: z.literal(transactionHash)',
    to: 'hash',
    tests: lookUp,
  },
  {
    name: 'the block is the one that was asked for',
    file: `${folder}/rpc/wireShapes.ts`,
    from: 'hash === blockHash',
    to: 'hash !== null',
    tests: lookUp,
  },
  {
    name: 'the node does not wait for a transaction',
    file: `${folder}/rpc/rpc.ts`,
    from: "wait_until: 'NONE'",
    to: "wait_until: 'FINAL'",
    tests: pitfalls,
  },
  {
    name: 'only UNKNOWN_TRANSACTION means that the transaction is unknown',
    file: `${folder}/rpc/rpc.ts`,
    from: "isCause(error, 'UNKNOWN_TRANSACTION')",
    to: 'error instanceof RpcError',
    tests: lookUp,
  },
  {
    name: 'a node that is syncing proves nothing',
    file: `${folder}/rpc/rpc.ts`,
    from: 'if (sync_info.syncing)',
    to: 'if (false)',
    tests: opening,
  },
  {
    name: 'the claim is signed',
    file: `${folder}/exactDirect/signedClaim.ts`,
    from: 'if (!isValidEd25519Signature({ publicKey: key, message, signature: signatureBytes })) return false',
    to: '',
    tests: claims,
  },
  {
    name: 'the key of a claim has full access',
    file: `${folder}/rpc/rpc.ts`,
    from: "=== 'FullAccess'",
    to: '!== null',
    tests: claims,
  },
  {
    name: 'the key of a claim is one of the account',
    file: `${folder}/exactDirect/signedClaim.ts`,
    from: 'return await isFullAccessKey(ask, { account, publicKey })',
    to: 'return true',
    tests: claims,
  },
]
