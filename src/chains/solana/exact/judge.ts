import type { Outcome } from '../../../schemes/scheme.js'
import { canCrossCheck, collectBallots, passesCrossCheck, type Vote } from '../../nodes/crossCheck.js'
import type { Rpc } from '../rpc/rpc.js'
import type { Status } from '../rpc/wireShapes.js'

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
