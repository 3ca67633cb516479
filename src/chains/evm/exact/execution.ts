import { encodeEventTopics, type Hex, pad } from 'viem'
import { tokenAbi } from '../abi/contracts.js'
import type { Log, Receipt, Rpc } from '../rpc/rpc.js'
import { findReceipt, type ReceiptPolicy } from '../transactions/receipts/findReceipt.js'
import { readAuthorizationState } from './authorizationState.js'
import { type ExpectedTransfer, judgeForeignReceipt } from './judge.js'

/**
 * What became of an authorization, whoever sent it: anyone may submit one, so our own transaction's failure
 * proves nothing. `unknown`: the nodes cannot tell.
 */
export type Execution =
  | { readonly state: 'unused' }
  | { readonly state: 'paid'; readonly receipt: Receipt }
  /** Used without the payment, or cancelled by the payer. */
  | { readonly state: 'void' }
  | { readonly state: 'unknown' }

/** Which authorization, the transfer it must have caused, and from when on it may have happened. */
export interface ExecutionQuery {
  readonly nonce: Hex
  readonly expected: ExpectedTransfer
  readonly since: Date
}

const [usedTopic] = encodeEventTopics({ abi: tokenAbi, eventName: 'AuthorizationUsed' })
const [cancelledTopic] = encodeEventTopics({ abi: tokenAbi, eventName: 'AuthorizationCanceled' })

// Providers answer logs for limited ranges; a search that would take longer is left for the next round.
const blocksPerSearch = 2_000n
const maxSearches = 50
// A block's timestamp may lag behind the clock that wrote `since`.
const clockSlackSeconds = 300n

/**
 * Looks for the transaction that used an authorization, in the state after a given block. The block is named
 * so that a node which lags behind cannot answer from the time before.
 */
export const findExecution = async (
  rpc: Rpc,
  { nonce, expected, since }: ExecutionQuery,
  policy: ReceiptPolicy,
  at: bigint,
): Promise<Execution> => {
  const { isUsed } = await readAuthorizationState(rpc, expected.asset, { from: expected.from, nonce }, at)
  if (isUsed === null) return { state: 'unknown' }
  if (!isUsed) return { state: 'unused' }

  // Used and no log says by whom: a node that lags behind answers so, and it proves nothing.
  const transaction = (await findUseLog(rpc, nonce, expected, since, at))?.transactionHash
  const receipt = transaction == null ? null : await findReceipt(rpc, transaction, policy)
  if (receipt === null) return { state: 'unknown' }
  return judgeForeignReceipt(receipt, nonce, expected) === 'paid'
    ? { state: 'paid', receipt }
    : { state: 'void' }
}

/** The log of the use or of the payer's cancellation, or null when the nodes have none. */
const findUseLog = async (
  rpc: Rpc,
  nonce: Hex,
  { asset, from }: ExpectedTransfer,
  since: Date,
  at: bigint,
): Promise<Log | null> => {
  const topics = [[usedTopic, cancelledTopic], pad(from), nonce]
  const oldest = BigInt(Math.floor(since.getTime() / 1_000)) - clockSlackSeconds

  let toBlock = at
  for (let search = 0; search < maxSearches; search++) {
    const fromBlock = toBlock >= blocksPerSearch ? toBlock - blocksPerSearch + 1n : 0n
    const [log] = await rpc.getLogs({ address: asset, topics, fromBlock, toBlock })
    if (log !== undefined) return log
    if (fromBlock === 0n) return null
    const reached = await rpc.getBlock(fromBlock)
    if (reached !== null && reached.timestamp < oldest) return null
    toBlock = fromBlock - 1n
  }
  return null
}
