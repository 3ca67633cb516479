import { z } from 'zod'
import { type Ask, askOrNull } from '../common/direct/node.js'
import { type Endpoint, expecting, RpcError } from '../nodes/endpoint.js'
import type { Proof } from '../nodes/endpointHealth.js'

/** How an endpoint proves which chain it serves. Throws while it is syncing. */
export const proveChain = async (endpoint: Endpoint): Promise<Proof> => {
  const { chain_id, sync_info } = await endpoint.request('status', [], statusShape)
  if (sync_info.syncing) throw new Error('The node is syncing')
  return {
    chain: chain_id,
    head: {
      number: BigInt(sync_info.latest_block_height),
      timestamp: Math.floor(Date.parse(sync_info.latest_block_time) / 1_000),
    },
  }
}

const isCause = (error: unknown, ...names: readonly string[]): boolean =>
  error instanceof RpcError && error.causeName !== null && names.includes(error.causeName)

const isMissing = (error: unknown): boolean => isCause(error, 'UNKNOWN_TRANSACTION')
const isUnfinished = (error: unknown): boolean => isCause(error, 'TIMEOUT_ERROR')

/**
 * The sender's account only selects the shard. `NONE`: the node answers with what it knows; with another level it would
 * wait, by default 10 s, for the transaction to reach it.
 */
export const readTransaction = async (
  ask: Ask,
  { transaction, sender }: { readonly transaction: string; readonly sender: string },
): Promise<FinalTransaction | 'missing' | 'pending'> => {
  const params = { tx_hash: transaction, sender_account_id: sender, wait_until: 'NONE' }
  const isVerdict = (error: RpcError) => isMissing(error) || isUnfinished(error)
  try {
    return await ask('tx', params, transactionShapeOf(transaction), { isVerdict })
  } catch (error) {
    if (isMissing(error)) return 'missing'
    if (isUnfinished(error)) return 'pending'
    throw error
  }
}

export const readBlock = (ask: Ask, blockHash: string) =>
  ask('block', { block_id: blockHash }, blockShapeOf(blockHash))

export const readFinalBlock = (ask: Ask) => ask('block', { finality: 'final' }, blockShape)

const isUnknownKey = (error: unknown): boolean => isCause(error, 'UNKNOWN_ACCESS_KEY', 'UNKNOWN_ACCOUNT')

/** Whether the key may do everything with the account, as of the last final block. */
export const isFullAccessKey = async (
  ask: Ask,
  { account, publicKey }: { readonly account: string; readonly publicKey: string },
): Promise<boolean> => {
  const params = {
    request_type: 'view_access_key',
    finality: 'final',
    account_id: account,
    public_key: publicKey,
  }
  const permission = await askOrNull(ask, {
    method: 'query',
    params,
    schema: accessKeyShape,
    isVerdict: isUnknownKey,
  })
  return permission === 'FullAccess'
}

interface BalanceQuery {
  readonly token: string
  readonly account: string
}

/** `ft_balance_of` (NEP-141) in the last final block. */
const balanceCall = ({ token, account }: BalanceQuery) => ({
  request_type: 'call_function',
  finality: 'final',
  account_id: token,
  method_name: 'ft_balance_of',
  args_base64: Buffer.from(JSON.stringify({ account_id: account })).toString('base64'),
})

/** 0 for accounts that the token does not know. */
export const readTokenBalance = (ask: Ask, query: BalanceQuery): Promise<bigint> =>
  ask('query', balanceCall(query), tokenBalanceShape)

const isNoToken = (error: unknown): boolean =>
  isCause(error, 'UNKNOWN_ACCOUNT', 'NO_CONTRACT_CODE', 'CONTRACT_EXECUTION_ERROR')

/** Whether the account has a contract that answers as a token does. */
export const hasToken = async (ask: Ask, token: string): Promise<boolean> => {
  const answer = await askOrNull(ask, {
    method: 'query',
    params: balanceCall({ token, account: token }),
    schema: tokenAnswerShape,
    isVerdict: isNoToken,
  })
  return answer ?? false
}

/** In yoctoNEAR, of the newest block. */
export const readGasPrice = (ask: Ask): Promise<bigint> => ask('gas_price', [null], gasPriceShape)

const accountId = z.string().min(1).max(64)
const hash = z.string().min(1).max(64)

/** Whether a receipt, or a transaction's conversion to one, was executed successfully. */
const wasSuccessful = z.union([
  z.strictObject({ SuccessValue: z.string() }).transform(() => true),
  z.strictObject({ SuccessReceiptId: z.string() }).transform(() => true),
  z.strictObject({ Failure: z.union([z.string(), z.looseObject({})]) }).transform(() => false),
])

/** Account on whose behalf a relayer sent actions (NEP-366); null for every other action. */
const delegator = z.union([
  z
    .object({ Delegate: z.object({ delegate_action: z.object({ sender_id: accountId }) }) })
    .transform(({ Delegate }) => Delegate.delegate_action.sender_id),
  z.unknown().transform(() => null),
])

const finalTransaction = z
  .object({
    final_execution_status: z.literal('FINAL'),
    transaction: z.object({
      hash,
      signer_id: accountId,
      receiver_id: accountId,
      actions: z.array(delegator),
    }),
    transaction_outcome: z.object({ block_hash: hash, outcome: z.object({ status: wasSuccessful }) }),
    receipts_outcome: z.array(
      z.object({
        outcome: z.object({ executor_id: accountId, logs: z.array(z.string()), status: wasSuccessful }),
      }),
    ),
  })
  .transform(({ transaction, transaction_outcome, receipts_outcome }) => ({
    hash: transaction.hash,
    signer: transaction.signer_id,
    receiver: transaction.receiver_id,
    delegators: transaction.actions.filter((account) => account !== null),
    blockHash: transaction_outcome.block_hash,
    isSuccessful: transaction_outcome.outcome.status,
    receipts: receipts_outcome.map(({ outcome: { executor_id: executor, logs, status: isSuccessful } }) => ({
      executor,
      logs,
      isSuccessful,
    })),
  }))

const otherStatuses = ['NONE', 'INCLUDED', 'EXECUTED_OPTIMISTIC', 'INCLUDED_FINAL', 'EXECUTED'] as const

/** `pending`: some block of it is not final. What is known by then is not read. */
const transactionShape = z.union([
  z.object({ final_execution_status: z.enum(otherStatuses) }).transform(() => 'pending' as const),
  finalTransaction,
])

export const transactionShapeOf = (transactionHash: string) =>
  expecting(
    transactionShape,
    (found): FinalTransaction | 'pending' | undefined => {
      if (found === 'pending') return found
      const { hash: executed, ...transaction } = found
      return executed === transactionHash ? transaction : undefined
    },
    'It is another transaction',
  )

export type FinalTransaction = Omit<z.infer<typeof finalTransaction>, 'hash'>

const header = z.object({
  hash,
  height: z.int().nonnegative(),
  // Nanoseconds since 1970.
  timestamp_nanosec: z.string().regex(/^[0-9]{16,19}$/),
})

const nanosecondsPerMillisecond = 1_000_000n

const blockShape = z.object({ header }).transform(({ header: { hash, height, timestamp_nanosec } }) => ({
  hash,
  height,
  time: new Date(Number(BigInt(timestamp_nanosec) / nanosecondsPerMillisecond)),
}))

const blockShapeOf = (blockHash: string) =>
  expecting(blockShape, (block) => (block.hash === blockHash ? block : undefined), 'It is another block')

const statusShape = z.object({
  chain_id: z.string().min(1).max(64),
  sync_info: z.object({
    latest_block_height: z.int().nonnegative(),
    latest_block_time: z.iso.datetime({ offset: true }),
    syncing: z.boolean(),
  }),
})

/** Some nodes report an unknown key as a result with `error`. */
const accessKeyShape = z.union([
  z.object({ permission: z.unknown(), nonce: z.unknown() }).transform(({ permission }) => permission),
  z.object({ error: z.string() }).transform(() => null),
])

// A u128 as JSON text.
const balanceForm = /^"([0-9]{1,39})"$/

/** What a view method returned: bytes of JSON. */
export const tokenBalanceShape = z
  .object({ result: z.array(z.int().min(0).max(255)).max(64) })
  .transform(({ result }, context) => {
    const [, amount] = balanceForm.exec(Buffer.from(result).toString('utf8')) ?? []
    if (amount !== undefined) return BigInt(amount)
    context.addIssue({ code: 'custom', message: 'is no amount' })
    return z.NEVER
  })

/** Whether a view method returned an amount. Nodes report a failed call, also of a missing method, as a result with `error`. */
const tokenAnswerShape = z.union([
  tokenBalanceShape.transform(() => true),
  z.object({ error: z.string() }).transform(() => false),
])

export const gasPriceShape = z
  .object({ gas_price: z.string().regex(/^[0-9]{1,30}$/) })
  .transform(({ gas_price }) => BigInt(gas_price))
