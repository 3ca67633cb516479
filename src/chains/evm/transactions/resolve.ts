import type { Settlement, SignedTransaction } from '../../../ports/settlementJournal.js'
import type { Outcome } from '../../../schemes/scheme.js'
import { asHex } from '../abi/hex.js'
import { type Execution, type ExecutionQuery, findExecution } from '../exact/execution.js'
import { judgeReceipt, judgeSharedReceipt } from '../exact/judge.js'
import { readAuthorizationNonce } from '../exact/payload.js'
import type { Block, Receipt, Rpc } from '../rpc/rpc.js'
import { isBatch } from './batching/batch.js'
import { findReceipt, type ReceiptPolicy } from './receipts/findReceipt.js'
import { areAllNoncesUsed, areReplacedExternally } from './receipts/usedNonces.js'

// A chain may still replace its newest blocks by ones with an earlier timestamp; after this long it does not.
const expirySlackMs = 30_000

/** A receipt of a transaction of ours. */
export interface OwnReceipt {
  readonly receipt: Receipt
  /** Whether the transaction carried other payments too. */
  readonly isShared: boolean
}

/** What a mined transaction proves; `pending` while the nodes cannot say. */
export const concludeReceipt = async (
  rpc: Rpc,
  { receipt, isShared }: OwnReceipt,
  question: ExecutionQuery,
  policy: ReceiptPolicy,
): Promise<Outcome> => {
  const transaction = receipt.transactionHash
  const { nonce, expected } = question
  const judgement = isShared ? judgeSharedReceipt(receipt, nonce, expected) : judgeReceipt(receipt, expected)
  if (judgement === 'paid') return confirmedBy(receipt)
  const head = await rpc.getBlock('latest')
  const at = head === null || head.number < receipt.blockNumber ? receipt.blockNumber : head.number
  const execution = await findExecution(rpc, question, policy, at)
  switch (execution.state) {
    case 'paid':
      return confirmedBy(execution.receipt)
    case 'unknown':
      return { state: 'pending', transaction }
    case 'unused':
    case 'void':
      return { state: 'failed', reason: failureOf({ judgement, isShared }, execution), transaction }
  }
}

/** The payment of a receipt, with the block in which it stands. */
const confirmedBy = ({ transactionHash, blockNumber, blockHash }: Receipt): Outcome => ({
  state: 'confirmed',
  transaction: transactionHash,
  block: { number: blockNumber, hash: blockHash },
})

const failureOf = (
  { judgement, isShared }: { readonly judgement: 'reverted' | 'unpaid'; readonly isShared: boolean },
  execution: Execution,
) => {
  // In a batch a payment that fails leaves no event and does not revert the transaction.
  const hasReverted = judgement === 'reverted' || (isShared && execution.state === 'unused')
  if (!hasReverted) return 'invalid_exact_evm_transfer_event_mismatch'
  return execution.state === 'void'
    ? 'invalid_exact_evm_nonce_already_used'
    : 'invalid_exact_evm_transaction_failed'
}

/** What is believed of a chain when a settlement is resolved, and when that is. */
export interface ResolvePolicy extends ReceiptPolicy {
  /** Blocks with so many on top of them are not taken back. */
  readonly finalityDepth: number
  readonly now: Date
}

/** What became of a recorded settlement; sends its bytes again while they can still be mined. */
export const resolveSettlement = async (
  rpc: Rpc,
  settlement: Settlement,
  policy: ResolvePolicy,
): Promise<Outcome> => {
  const outcome = await resolveBroadcasts(rpc, settlement, policy)
  if (outcome.state !== 'failed' || settlement.consumedBy === null) return outcome
  // Somebody was told success, so this chain has taken back a block: one that it can still take back proves nothing.
  const confirmations = Math.max(policy.confirmations, policy.finalityDepth)
  return await resolveBroadcasts(rpc, settlement, { ...policy, confirmations })
}

const resolveBroadcasts = async (
  rpc: Rpc,
  settlement: Settlement,
  policy: ResolvePolicy,
): Promise<Outcome> => {
  const newest = settlement.broadcasts.at(-1)
  if (newest === undefined) throw new Error('Nothing was recorded for this settlement')
  const transaction = asHex(newest.transaction)
  const question = questionOf(settlement)

  const mined: SignedTransaction[] = []
  let failure: Outcome | null = null
  for (const broadcast of settlement.broadcasts) {
    const receipt = await findReceipt(rpc, asHex(broadcast.transaction), policy)
    if (receipt === null) continue
    const outcome = await concludeReceipt(
      rpc,
      { receipt, isShared: isBatch(broadcast.bytes) },
      question,
      policy,
    )
    if (outcome.state !== 'failed') return outcome
    mined.push(broadcast)
    failure = outcome
  }
  // One that failed proves nothing of another that may still be mined.
  if (failure !== null && (await areAllNoncesUsed(settlement.broadcasts, mined))) return failure

  const open = settlement.broadcasts.findLast((broadcast) => !mined.includes(broadcast))
  const head = await rpc.getBlock('latest')
  if (head === null) return { state: 'pending', transaction }
  const execution = await findExecution(rpc, question, policy, head.number)
  switch (execution.state) {
    case 'paid':
      return confirmedBy(execution.receipt)
    case 'void':
      return { state: 'failed', reason: 'invalid_exact_evm_nonce_already_used', transaction }
    case 'unknown':
      return { state: 'pending', transaction }
    case 'unused':
      if (await hasExpired(rpc, settlement, head, policy)) {
        return { state: 'failed', reason: 'authorization_expired_unsettled', transaction }
      }
      if (await areReplacedExternally(rpc, settlement.broadcasts, head)) {
        return { state: 'failed', reason: 'settlement_displaced', transaction }
      }
      await rpc.send(asHex((open ?? newest).bytes))
      return { state: 'pending', transaction }
  }
}

/**
 * Unused in a block from which on the token refuses it: no money moved and none can. Our own clock must agree,
 * so that a node which is ahead of the time, or lies about it, does not close a payment that may still be mined.
 * Where somebody was told success, the block must be final.
 */
const hasExpired = async (
  rpc: Rpc,
  { expiresAt, consumedBy }: Settlement,
  head: Block,
  { finalityDepth, now }: ResolvePolicy,
): Promise<boolean> => {
  if (expiresAt === null) return false
  const surely = expiresAt.getTime() + expirySlackMs
  const isPast = ({ timestamp }: Block) => Number(timestamp) * 1_000 >= surely
  if (!isPast(head) || now.getTime() < surely) return false
  if (consumedBy === null) return true
  const deep = head.number - BigInt(finalityDepth)
  const block = deep < 0n ? null : await rpc.getBlock(deep)
  return block !== null && isPast(block)
}

const questionOf = (settlement: Settlement): ExecutionQuery => ({
  nonce: readAuthorizationNonce(settlement.authorizationId),
  expected: {
    asset: asHex(settlement.asset),
    from: asHex(settlement.payer),
    to: asHex(settlement.payTo),
    value: settlement.amount,
  },
  since: settlement.createdAt,
})
