import type { Outcome } from '../../../schemes/scheme.js'
import type { Rpc } from '../rpc/rpc.js'
import type { Status } from '../rpc/wireShapes.js'
import { isConfirmed } from '../transactions/statusWatcher.js'

/** What must hold before a status is believed. */
export interface StatusPolicy {
  /** Demands that a second node tells the same, where there is one. */
  readonly isCrossChecked: boolean
  /** Demands that a failure cannot be taken back any more. */
  readonly needsFinalFailure: boolean
}

/** What the status of a transaction of ours proves; `pending` while it proves nothing. */
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

/** Of all nodes that can be asked, two tell the same of a transaction; one alone is enough where there is one. */
const isConfirmedTwice = async (rpc: Rpc, transaction: string, told: Status): Promise<boolean> => {
  const witnesses = rpc.listWitnesses()
  if (rpc.endpoints.length < 2) return true
  const opinions = await Promise.all(
    witnesses.map(async (witness) => {
      const [status] = await rpc.getStatuses([transaction], { endpoint: witness }).catch(() => [null])
      if (status == null || !isConfirmed(status)) return false
      return status.slot === told.slot && hasFailed(status) === hasFailed(told)
    }),
  )
  return opinions.filter((agrees) => agrees).length > 1
}
