import { type Ask, askOrNull } from '../../common/direct/node.js'
import { type Endpoint, RpcError } from '../../nodes/endpoint.js'
import type { Proof } from '../../nodes/endpointHealth.js'
import {
  accessKeyShape,
  blockShape,
  blockShapeOf,
  type FinalTransaction,
  gasPriceShape,
  statusShape,
  tokenAnswerShape,
  tokenBalanceShape,
  transactionShapeOf,
} from './wireShapes.js'

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
