import type { Outcome } from '../../../schemes/scheme.js'
import type { Rpc } from '../rpc/rpc.js'
import type { Status } from '../rpc/wireShapes.js'
import { isConfirmed } from '../transactions/statusWatcher.js'

export interface StatusPolicy {
  /** Requires that a second endpoint, if there is one, reports the same. */
  readonly isCrossChecked: boolean
  /** A failure counts only when finalized. */
  readonly needsFinalFailure: boolean
}

/** Outcome that a transaction's status proves; `pending` while it proves none. */
export const judgeStatus = async (
  rpc: Rpc,
  transaction: string,
  status: Status,
  { isCrossChecked, needsFinalFailure }: StatusPolicy,
): Promise<Outcome> => {
  const pending: Outcome = { state: 'pending', transaction }
  if (!isConfirmed(status)) return pending
  if (isCrossChecked && !(await isConfirmedTwice(rpc, transaction, status))) return pending
  const isFinal = status.confirmationStatus === 'finalized'
  if (hasFailed(status)) {
    if (needsFinalFailure && !isFinal) return pending
    return { state: 'failed', reason: 'invalid_exact_svm_transaction_failed', transaction }
  }
  const hash = await rpc.getBlockhash(status.slot)
  if (hash === null) return isFinal ? { state: 'confirmed', transaction } : pending
  return { state: 'confirmed', transaction, block: { number: BigInt(status.slot), hash } }
}

const hasFailed = ({ err }: Status): boolean => err !== null && err !== undefined

/** True if at least two endpoints report the same result, or only one is configured. */
const isConfirmedTwice = async (rpc: Rpc, transaction: string, expected: Status): Promise<boolean> => {
  const witnesses = rpc.listWitnesses()
  if (rpc.endpoints.length < 2) return true
  const agreements = await Promise.all(
    witnesses.map(async (witness) => {
      const [status] = await rpc.getStatuses([transaction], { endpoint: witness }).catch(() => [null])
      if (status == null || !isConfirmed(status)) return false
      return status.slot === expected.slot && hasFailed(status) === hasFailed(expected)
    }),
  )
  return agreements.filter((agreement) => agreement).length > 1
}
