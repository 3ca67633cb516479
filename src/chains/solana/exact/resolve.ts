import { z } from 'zod'
import type { Outcome } from '../../../schemes/scheme.js'
import type { RecordedSettlement, Resolution } from '../../common/settling/exactScheme.js'
import { canCrossCheck, collectBallots, passesCrossCheck, type Vote } from '../../nodes/crossCheck.js'
import type { Endpoint } from '../../nodes/endpoint.js'
import { inContext, type Rpc, readClock, type Status, statusesShape } from '../rpc/rpc.js'
import { decodeTransaction } from './decode.js'

/** The outcome that a recorded transaction has now; it is worth sending while it can still land. */
export const resolveSettlement = async (
  rpc: Rpc,
  { newest: { transaction, bytes }, createdAt }: RecordedSettlement,
  { isCrossChecked, now }: StatusPolicy & { readonly now: Date },
): Promise<Resolution> => {
  const [status] = await rpc.getStatuses([transaction], { searchesHistory: true })
  if (status != null) {
    const outcome = await judgeStatus(rpc, transaction, status, { isCrossChecked })
    return { outcome, isWorthSending: false }
  }
  const recorded = decodeTransaction(bytes)
  if (recorded === null) throw new Error('The recorded transaction cannot be decoded')
  const { blockhash } = recorded
  if (await hasExpired(rpc, { transaction, blockhash, recordedAfter: createdAt, isCrossChecked }, now)) {
    const reason = 'settle_exact_svm_block_height_exceeded'
    return { outcome: { state: 'failed', reason, transaction }, isWorthSending: false }
  }
  return { outcome: { state: 'pending', transaction }, isWorthSending: true }
}

export interface StatusPolicy {
  /** Above the cross-check amount: success needs a second endpoint, failure every healthy one. */
  readonly isCrossChecked: boolean
}

/** Voted for by more than two thirds of the stake. */
const isConfirmed = ({ confirmationStatus }: Status): boolean =>
  confirmationStatus === 'confirmed' || confirmationStatus === 'finalized'

const isFinalized = ({ confirmationStatus }: Status): boolean => confirmationStatus === 'finalized'

const hasFailed = ({ err }: Status): boolean => err !== null && err !== undefined

/**
 * Whether a status decides the outcome. A confirmed block can still be orphaned: a success is then detected and
 * reopened, but a failure would be closed while the same bytes can land and pay in another block.
 */
export const isDecisive = (status: Status): boolean =>
  hasFailed(status) ? isFinalized(status) : isConfirmed(status)

/** Outcome that a transaction's status proves; `pending` while it proves none. */
export const judgeStatus = async (
  rpc: Rpc,
  transaction: string,
  status: Status,
  { isCrossChecked }: StatusPolicy,
): Promise<Outcome> => {
  const pending: Outcome = { state: 'pending', transaction }
  if (!isDecisive(status)) return pending
  if (isCrossChecked && !(await isAgreedOn(rpc, transaction, status))) return pending
  if (hasFailed(status))
    return { state: 'failed', reason: 'invalid_exact_svm_transaction_failed', transaction }
  const hash = await rpc.getBlockhash(status.slot)
  if (hash === null) return isFinalized(status) ? { state: 'confirmed', transaction } : pending
  return { state: 'confirmed', transaction, block: { number: BigInt(status.slot), hash } }
}

const isAgreedOn = async (rpc: Rpc, transaction: string, expected: Status): Promise<boolean> => {
  const { endpoints } = rpc
  if (!canCrossCheck(endpoints)) return true
  const ballots = await collectBallots(rpc.listWitnesses(), async (endpoint): Promise<Vote> => {
    // Not every endpoint has the ledger's history; every one has its newest 300 slots.
    const [status] = await rpc
      .getStatuses([transaction], { endpoint, searchesHistory: true })
      .catch(() => rpc.getStatuses([transaction], { endpoint }))
      .catch(() => [null])
    if (status == null || !isDecisive(status)) return 'unknown'
    const isSame = status.slot === expected.slot && hasFailed(status) === hasFailed(expected)
    return isSame ? 'confirms' : 'contradicts'
  })
  return passesCrossCheck({ ballots, endpoints, outcome: hasFailed(expected) ? 'failure' : 'success' })
}

interface RecordedTransaction {
  readonly transaction: string
  readonly blockhash: string
  readonly recordedAfter: Date
  /** Above the cross-check amount: every healthy endpoint must agree, and two at least where two are configured. */
  readonly isCrossChecked: boolean
}

// Allowance for clock differences and for the time until finality.
const slackMs = 30_000

/**
 * Proves that a transaction can no longer land. On one endpoint: a finalized block after the recording in
 * which the blockhash is no longer valid, and after that no status for the transaction. The local clock must
 * agree, and no other endpoint may contradict; above the cross-check amount all healthy ones must prove it.
 */
const hasExpired = async (rpc: Rpc, recorded: RecordedTransaction, now: Date): Promise<boolean> => {
  if (now.getTime() < recorded.recordedAfter.getTime() + slackMs) return false
  const ballots = await collectBallots(rpc.listWitnesses(), (endpoint) =>
    checkEndpoint(endpoint, recorded).catch((): Vote => 'unknown'),
  )
  const votes = ballots.map(({ vote }) => vote)
  if (!votes.includes('confirms') || votes.includes('contradicts')) return false
  if (!recorded.isCrossChecked) return true
  return passesCrossCheck({ ballots, endpoints: rpc.endpoints, outcome: 'failure' })
}

const validityShape = inContext(z.boolean())

/** `confirms`: in none of the node's blocks and in none that can follow. `contradicts`: may still land. */
const checkEndpoint = async (
  endpoint: Endpoint,
  { transaction, blockhash, recordedAfter }: RecordedTransaction,
): Promise<Vote> => {
  const clock = await readClock(endpoint, 'finalized')
  // Earlier, the node may not know the blockhash yet.
  if (clock.timestamp * 1_000 < recordedAfter.getTime() + slackMs) return 'contradicts'
  const params = [blockhash, { commitment: 'finalized', minContextSlot: clock.slot }]
  const { value: isUsable, context } = await endpoint.request('isBlockhashValid', params, validityShape)
  if (isUsable) return 'contradicts'
  if (context.slot < clock.slot || !(await hasLedgerSince(endpoint, recordedAfter))) return 'unknown'
  // Queried last: every block in which the transaction could have landed is known by now.
  const statusParams = [[transaction], { searchTransactionHistory: true }]
  const statuses = await endpoint.request('getSignatureStatuses', statusParams, statusesShape)
  // A load balancer may have answered from a node that is behind.
  if (statuses.context.slot < clock.slot) return 'unknown'
  return statuses.value[0] === null ? 'confirms' : 'contradicts'
}

/** Only a node that still has the blocks of that time can deny the transaction. */
const hasLedgerSince = async (endpoint: Endpoint, since: Date): Promise<boolean> => {
  const first = await endpoint.request('getFirstAvailableBlock', [], z.int())
  const time = await endpoint.request('getBlockTime', [first], z.int().nullable())
  return time !== null && time * 1_000 <= since.getTime()
}
