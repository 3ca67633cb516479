import type { Settlement, SignedTransaction } from '../../../ports/settlementJournal.js'
import type { Outcome } from '../../../schemes/scheme.js'
import { asHex } from '../abi/words.js'
import type { Block, Receipt, Rpc } from '../rpc/rpc.js'
import { isBatch } from './batching/batch.js'
import { findReceipt, type ReceiptPolicy } from './receipts/findReceipt.js'
import { areAllNoncesUsed, areReplacedExternally } from './receipts/usedNonces.js'
import type { ExecutionQuery, Judgement, SettlementJudge } from './settlementCall.js'

// After a reorg the newest block may have an earlier timestamp; this margin covers it.
const expirySlackMs = 30_000

/** `isShared`: the transaction carries other payments too. */
export interface OwnReceipt {
  readonly receipt: Receipt
  readonly isShared: boolean
}

export interface Conclusion {
  readonly outcome: Outcome
  /** Reverted inside a batch and still unused; may succeed alone. */
  readonly isRevertedInBatch: boolean
}

/** `pending` while the nodes do not prove more. */
export const concludeReceipt = async (
  rpc: Rpc,
  { receipt, isShared }: OwnReceipt,
  judge: SettlementJudge,
  search: Omit<ExecutionQuery, 'at'>,
): Promise<Conclusion> => {
  const judgement = judge.judgeReceipt(receipt, isShared)
  if (judgement === 'paid') return certain(confirmedBy(receipt))
  const head = await rpc.getBlock('latest')
  const at = head === null || head.number < receipt.blockNumber ? receipt.blockNumber : head.number
  const execution = await judge.findExecution({ ...search, at })
  const transaction = receipt.transactionHash
  switch (execution.state) {
    case 'paid':
      return certain(confirmedBy(execution.receipt))
    case 'unknown':
      return certain({ state: 'pending', transaction })
    case 'unused':
    case 'void': {
      const isUnused = execution.state === 'unused'
      const reason = failureOf(judge, { judgement, isShared, isUnused })
      return {
        outcome: { state: 'failed', reason, transaction },
        isRevertedInBatch: isShared && isUnused,
      }
    }
  }
}

const certain = (outcome: Outcome): Conclusion => ({ outcome, isRevertedInBatch: false })

const confirmedBy = ({ transactionHash, blockNumber, blockHash, gasUsed }: Receipt): Outcome => ({
  state: 'confirmed',
  transaction: transactionHash,
  block: { number: blockNumber, hash: blockHash },
  ...(gasUsed == null ? {} : { gasUsed }),
})

const failureOf = (
  { reasons }: SettlementJudge,
  failure: { readonly judgement: Judgement; readonly isShared: boolean; readonly isUnused: boolean },
) => {
  const { judgement, isShared, isUnused } = failure
  // A call that reverts inside Multicall3 leaves no event and does not revert the transaction.
  const hasReverted = judgement === 'reverted' || (isShared && isUnused)
  if (!hasReverted) return reasons.unpaid
  return isUnused ? reasons.reverted : reasons.void
}

export interface ResolvePolicy extends ReceiptPolicy {
  /** Blocks with this many on top are final. */
  readonly finalityDepth: number
  readonly now: Date
}

/** Resolves a recorded settlement; rebroadcasts while its transactions can still be mined. */
export const resolveSettlement = async (
  rpc: Rpc,
  settlement: Settlement,
  judge: SettlementJudge,
  policy: ResolvePolicy,
): Promise<Outcome> => {
  const outcome = await resolveBroadcasts(rpc, settlement, judge, policy)
  if (outcome.state !== 'failed' || settlement.consumedBy === null) return outcome
  // Success was returned before, so the chain reorganized: only a final block proves a failure.
  const confirmations = Math.max(policy.confirmations, policy.finalityDepth)
  return await resolveBroadcasts(rpc, settlement, judge, { ...policy, confirmations })
}

const resolveBroadcasts = async (
  rpc: Rpc,
  settlement: Settlement,
  judge: SettlementJudge,
  policy: ResolvePolicy,
): Promise<Outcome> => {
  const { broadcasts } = settlement
  const newest = broadcasts.at(-1)
  if (newest === undefined) throw new Error('The settlement has no recorded transaction')
  const transaction = asHex(newest.transaction)
  const search = { policy, since: settlement.createdAt }

  const mined: SignedTransaction[] = []
  let failure: Outcome | null = null
  for (const broadcast of broadcasts) {
    const receipt = await findReceipt(rpc, asHex(broadcast.transaction), policy)
    if (receipt === null) continue
    const own = { receipt, isShared: isBatch(broadcast.bytes) }
    const { outcome } = await concludeReceipt(rpc, own, judge, search)
    if (outcome.state !== 'failed') return outcome
    mined.push(broadcast)
    failure = outcome
  }
  // A failed transaction proves nothing while another one can still be mined.
  if (failure !== null && (await areAllNoncesUsed(broadcasts, mined))) return failure

  const head = await rpc.getBlock('latest')
  if (head === null) return { state: 'pending', transaction }
  const execution = await judge.findExecution({ ...search, at: head.number })
  switch (execution.state) {
    case 'paid':
      return confirmedBy(execution.receipt)
    case 'void':
      return { state: 'failed', reason: judge.reasons.void, transaction }
    case 'unknown':
      return { state: 'pending', transaction }
    case 'unused': {
      if (await hasExpired(rpc, settlement, head, policy)) {
        return { state: 'failed', reason: judge.reasons.expired, transaction }
      }
      if (await areReplacedExternally(rpc, broadcasts, head)) {
        return { state: 'failed', reason: 'settlement_displaced', transaction }
      }
      const open = broadcasts.findLast((broadcast) => !mined.includes(broadcast))
      await rpc.send(asHex((open ?? newest).bytes))
      return { state: 'pending', transaction }
    }
  }
}

/**
 * Unused in a block past the deadline: no money moved and none can. The local clock must agree, so that a
 * node with a wrong time does not fail a payment that can still be mined. After a returned success the block
 * must be final.
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
