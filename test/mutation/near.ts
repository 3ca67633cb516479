import { type Guard, guardsIn } from './guard.js'

const folder = 'src/chains/near'
const tests = 'test/chains/near'
const pitfalls = [`${tests}/pitfalls.test.ts`]
const lookUp = [`${tests}/lookUp.test.ts`]
const claims = [`${tests}/signedClaim.test.ts`]
const opening = [`${tests}/open.test.ts`]

export const guards: readonly Guard[] = [
  ...guardsIn(`${folder}/lookUp.ts`, pitfalls, {
    'logs of failed receipts count for nothing': [
      '.filter(({ isSuccessful }) => isSuccessful)',
      '.filter(() => true)',
    ],
    'the asset is the contract that printed the event': [
      '[{ asset, from, to, amount: BigInt(amount), memo }]',
      "[{ asset: 'usdc.testnet', from, to, amount: BigInt(amount), memo }]",
    ],
  }),
  ...guardsIn(`${folder}/lookUp.ts`, lookUp, {
    'only events of NEP-141 are transfers': ["standard: z.literal('nep141')", 'standard: z.string()'],
    'only ft_transfer is a transfer': ["event: z.literal('ft_transfer')", 'event: z.string()'],
    'amounts are whole numbers in decimal digits': ['z.string().regex(/^[0-9]{1,39}$/)', 'z.string()'],
    'a delegate action is for the account that receives the transaction': [
      '(receiver === account && delegators.includes(account))',
      'delegators.includes(account)',
    ],
  }),
  ...guardsIn(`${folder}/lookUp.ts`, pitfalls, {
    'the payer signed the transaction, or a delegate action in it': [
      'const isAuthorized = isAuthorizedBy(found, from)',
      'const isAuthorized = true',
    ],
    'a transaction that moved nothing and failed in part has failed': [
      'transfers.length === 0 && hasFailed(found)',
      'false',
    ],
    'the block is not above the newest final block': ['block.height > final.height', 'false'],
  }),
  ...guardsIn(`${folder}/rpc.ts`, lookUp, {
    'a status other than FINAL is pending': [
      "final_execution_status: z.literal('FINAL')",
      'final_execution_status: z.string()',
    ],
    'the answer is about the transaction that was asked for': [
      'executed === transactionHash ?',
      'executed !== null ?',
    ],
    'the block is the one that was asked for': ['hash === blockHash', 'hash !== null'],
  }),
  ...guardsIn(`${folder}/rpc.ts`, pitfalls, {
    'the node does not wait for a transaction': ["wait_until: 'NONE'", "wait_until: 'FINAL'"],
  }),
  ...guardsIn(`${folder}/rpc.ts`, lookUp, {
    'only UNKNOWN_TRANSACTION means that the transaction is unknown': [
      "isCause(error, 'UNKNOWN_TRANSACTION')",
      'error instanceof RpcError',
    ],
  }),
  ...guardsIn(`${folder}/rpc.ts`, opening, {
    'a node that is syncing proves nothing': ['if (sync_info.syncing)', 'if (false)'],
  }),
  ...guardsIn(`${folder}/signedClaim.ts`, claims, {
    'the claim is signed': [
      'if (!isValidEd25519Signature({ publicKey: key, message, signature: signatureBytes })) return false',
      '',
    ],
    'the key of a claim is one of the account': [
      'return await isFullAccessKey(ask, { account, publicKey })',
      'return true',
    ],
  }),
  ...guardsIn(`${folder}/rpc.ts`, claims, {
    'the key of a claim has full access': ["=== 'FullAccess'", '!== null'],
  }),
]
