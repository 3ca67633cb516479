import { type Hex, parseTransaction, recoverTransactionAddress, type TransactionSerialized } from 'viem'
import { z } from 'zod'
import { setNewest } from '../../../concurrency/boundedMap.js'
import type { Settlement, SignedTransaction } from '../../../ports/settlementJournal.js'
import type { Outcome } from '../../../schemes/scheme.js'
import { collectBallots, passesCrossCheck, type Vote } from '../../nodes/crossCheck.js'
import { asHex } from '../abi/words.js'
import type { Rpc } from '../rpc/rpc.js'
import type { Block } from '../rpc/wireShapes.js'
import { findReceipt, type ReceiptPolicy, withOtherReceipts } from './receipts/findReceipt.js'
import { confirmedBy, resolveReceipt } from './settle.js'
import type { SettlementJudge } from './settlementCall.js'

// After a reorg the newest block may have an earlier timestamp; this margin covers it.
const expirySlackMs = 30_000

export interface ResolvePolicy extends ReceiptPolicy {
  /** Blocks with this many on top are final. */
  readonly finalityDepth: number
  readonly now: Date
  /** As in `ResolveOptions`. */
  readonly isReadOnly: boolean
  /** Whether recorded bytes carry several payments. */
  isBatch(bytes: string): boolean
  /** No transaction is sent that could be mined only later than this before the deadline. */
  readonly expiryMarginSeconds: number
  /** Sends the call of a transaction in a new one; absent if this may not. Null if nothing was sent. */
  readonly sendAgain?: ((unpaid: SignedTransaction) => Promise<Hex | null>) | undefined
}

/** What the chain shows of a settlement, and bytes to rebroadcast meanwhile. */
interface Finding {
  readonly outcome: Outcome
  readonly resend: Hex | null
  /** The transactions of a failure after which the payment can still be executed, oldest first. */
  readonly unpaid?: readonly SignedTransaction[]
}

// Code of a payer's wallet can revert in every transaction that its simulation promised to pay.
const maxSendAgain = 4

/** Resolves a recorded settlement; unless it only reads, it rebroadcasts while its transactions can still be mined. */
export const resolveSettlement = async (
  rpc: Rpc,
  settlement: Settlement,
  judge: SettlementJudge,
  policy: ResolvePolicy,
): Promise<Outcome> => {
  const first = await examine(rpc, settlement, judge, policy)
  const {
    outcome,
    resend,
    unpaid = [],
  } = isUnproven(first) ? await examine(withOtherReceipts(rpc), settlement, judge, policy) : first
  if (outcome.state === 'failed') {
    const newest = unpaid.at(-1)
    const isOver = newest === undefined || judge.isRepeatable === true || !isOwed(settlement, policy)
    if (isOver || (await countNonces(unpaid)) > maxSendAgain) {
      return await proveFailure(rpc, settlement, judge, policy)
    }
    const sent = await policy.sendAgain?.(newest)
    return { state: 'pending', transaction: sent ?? newest.transaction }
  }
  if (resend !== null && !policy.isReadOnly) await rpc.send(resend)
  return outcome
}

/** Something has executed the call, and the node shows no receipt of it. */
const isUnproven = ({ outcome, resend }: Finding): boolean => outcome.state === 'pending' && resend === null

/**
 * The success was answered, so that no retry can succeed, and the payment can still be executed: after a reorg it
 * reverted for a reason that may be gone, such as a balance or the gas limit of an estimate before it, or another
 * program used the nonce.
 */
const isOwed = (settlement: Settlement, { now, expiryMarginSeconds }: ResolvePolicy): boolean =>
  settlement.consumedBy !== null &&
  owedUntil(settlement).getTime() > now.getTime() + expiryMarginSeconds * 1_000

// Payers choose the deadline, which may be years away or never (null).
const maxOwedMs = 24 * 3_600_000

/** Until when a payment whose success was answered is sent again. */
export const owedUntil = ({ createdAt, expiresAt }: Pick<Settlement, 'createdAt' | 'expiresAt'>): Date => {
  const latestMs = createdAt.getTime() + maxOwedMs
  return new Date(Math.min(latestMs, expiresAt?.getTime() ?? latestMs))
}

/**
 * A failure counts only by evidence that no reorganisation can undo, and only where no healthy endpoint contradicts it:
 * until then recorded bytes may be mined again. From the cross-check amount on every one must have the same evidence.
 */
const proveFailure = async (
  rpc: Rpc,
  settlement: Settlement,
  judge: SettlementJudge,
  policy: ResolvePolicy,
): Promise<Outcome> => {
  const { confirmations, isCrossChecked, finalityDepth } = policy
  const final = {
    ...policy,
    confirmations: Math.max(confirmations, finalityDepth + 1),
    isCrossChecked: false,
  }
  const pending = { state: 'pending', transaction: newestOf(settlement).transaction } as const
  const { outcome } = await examine(rpc, settlement, judge, final)
  if (outcome.state !== 'failed') return pending
  const witnesses = rpc.listWitnesses()
  const ballots =
    witnesses.length < 2
      ? []
      : await collectBallots(witnesses, (witness) =>
          examine(rpc.viewOf(witness), settlement, judge, final).then(voteOnFailure, (): Vote => 'unknown'),
        )
  const isProven = isCrossChecked
    ? passesCrossCheck({ ballots, endpoints: rpc.endpoints, outcome: 'failure' })
    : ballots.every(({ vote }) => vote !== 'contradicts')
  return isProven ? outcome : pending
}

/** A payment that is made or can still be mined contradicts; a lack of evidence, such as old logs, does not. */
const voteOnFailure = ({ outcome, resend }: Finding): Vote => {
  if (outcome.state === 'failed') return 'confirms'
  return outcome.state === 'confirmed' || resend !== null ? 'contradicts' : 'unknown'
}

const newestOf = ({ broadcasts }: Settlement): SignedTransaction => {
  const newest = broadcasts.at(-1)
  if (newest === undefined) throw new Error('The settlement has no recorded transaction')
  return newest
}

const examine = async (
  view: Rpc,
  settlement: Settlement,
  judge: SettlementJudge,
  policy: ResolvePolicy,
): Promise<Finding> => {
  const { broadcasts } = settlement
  const newest = newestOf(settlement)
  const transaction = asHex(newest.transaction)
  const search = { policy, since: settlement.createdAt, view }

  const mined: SignedTransaction[] = []
  const reverted: SignedTransaction[] = []
  let failure: Outcome | null = null
  for (const broadcast of broadcasts) {
    const receipt = await findReceipt(view, asHex(broadcast.transaction), policy)
    if (receipt === null) continue
    const own = { receipt, isShared: policy.isBatch(broadcast.bytes) }
    const { outcome, isRevertedUnused } = await resolveReceipt(view, own, judge, search)
    if (outcome.state !== 'failed') return certainly(outcome)
    mined.push(broadcast)
    if (isRevertedUnused) reverted.push(broadcast)
    failure = outcome
  }
  // A failed transaction proves nothing while another one can still be mined.
  if (failure !== null && (await areAllNoncesUsed(broadcasts, mined))) {
    return { ...certainly(failure), unpaid: reverted.length === mined.length ? reverted : [] }
  }

  const head = await view.getBlock('latest')
  if (head === null) return certainly({ state: 'pending', transaction })
  const execution = await judge.findExecution({ ...search, at: head.number })
  switch (execution.state) {
    case 'paid':
      return certainly(confirmedBy(execution))
    case 'void':
      return certainly({ state: 'failed', reason: judge.reasons.void, transaction })
    case 'unknown':
      return certainly({ state: 'pending', transaction })
    case 'unused': {
      if (await hasExpired(view, settlement, head, policy)) {
        return certainly({ state: 'failed', reason: judge.reasons.expired, transaction })
      }
      if (await areReplacedExternally(view, broadcasts, { head, depth: policy.confirmations - 1 })) {
        return {
          ...certainly({ state: 'failed', reason: 'settlement_displaced', transaction }),
          unpaid: broadcasts,
        }
      }
      const open = broadcasts.findLast((broadcast) => !mined.includes(broadcast))
      return { outcome: { state: 'pending', transaction }, resend: asHex((open ?? newest).bytes) }
    }
  }
}

const certainly = (outcome: Outcome): Finding => ({ outcome, resend: null })

/**
 * It is unused at the head, and past the deadline in a block as deep as the policy requires: no money moved and none can.
 * The local clock must agree, so that a node with a wrong time does not fail a payment that can still be mined.
 */
const hasExpired = async (
  view: Rpc,
  { expiresAt }: Settlement,
  head: Block,
  { confirmations, now }: ResolvePolicy,
): Promise<boolean> => {
  if (expiresAt === null) return false
  const surely = expiresAt.getTime() + expirySlackMs
  const isPast = ({ timestamp }: Block) => Number(timestamp) * 1_000 >= surely
  if (!isPast(head) || now.getTime() < surely) return false
  const depth = BigInt(confirmations - 1)
  const block = depth === 0n || head.number < depth ? head : await view.getBlock(head.number - depth)
  return block !== null && head.number >= depth && isPast(block)
}

const ourTransaction = z.custom<TransactionSerialized>(
  (bytes) => typeof bytes === 'string' && /^0x[0-9a-f]+$/.test(bytes),
)

/** The newest block, and how many blocks below it a nonce must have been used. */
interface UsedSince {
  readonly head: Block
  readonly depth: number
}

// Bytes whose nonce was used more recently are sent again meanwhile: a reorganisation may free it.
const minDepth = 32

/**
 * Whether other transactions used all nonces of the recorded ones, at final depth: then none of ours can be
 * mined. Only another program with the same key can do that.
 */
const areReplacedExternally = async (
  rpc: Rpc,
  broadcasts: readonly SignedTransaction[],
  { head, depth }: UsedSince,
): Promise<boolean> => {
  const at = head.number - BigInt(Math.max(depth, minDepth))
  if (at < 0n) return false
  for (const broadcast of broadcasts) {
    const { nonce, signer } = await readSlot(broadcast)
    // Nodes drop the state of old blocks; without it nothing is proven.
    const used = await rpc.getTransactionCount(signer, at).catch(() => 0)
    if (used <= nonce) return false
  }
  return true
}

/** Whether every transaction was mined, or shares its nonce with a mined one. */
const areAllNoncesUsed = async (
  broadcasts: readonly SignedTransaction[],
  mined: readonly SignedTransaction[],
): Promise<boolean> => {
  if (broadcasts.length === mined.length) return true
  const used = await Promise.all(mined.map(readSlot))
  for (const broadcast of broadcasts) {
    const own = await readSlot(broadcast)
    if (!used.some(({ signer, nonce }) => signer === own.signer && nonce === own.nonce)) return false
  }
  return true
}

/** Replacements of a transaction are not counted beside it: at most one of them is mined. */
const countNonces = async (broadcasts: readonly SignedTransaction[]): Promise<number> => {
  const slots = await Promise.all(broadcasts.map(readSlot))
  return new Set(slots.map(({ signer, nonce }) => `${signer} ${nonce}`)).size
}

// RLP encodes a nonce of zero as absent.
export const readNonce = (bytes: string): number => parseTransaction(asHex(bytes)).nonce ?? 0

interface Slot {
  readonly signer: Hex
  readonly nonce: number
}

const maxKnownSlots = 1_000
const knownSlots = new Map<string, Promise<Slot>>()

/** The same transaction is examined until it is decided, and recovering its signer takes most of that time. */
const readSlot = ({ transaction, bytes }: SignedTransaction): Promise<Slot> => {
  const slot = knownSlots.get(transaction) ?? recoverSlot(bytes)
  setNewest(knownSlots, transaction, slot, maxKnownSlots)
  return slot
}

const recoverSlot = async (bytes: string): Promise<Slot> => ({
  nonce: readNonce(bytes),
  signer: await recoverTransactionAddress({ serializedTransaction: ourTransaction.parse(bytes) }),
})
