import type { Payment } from '../../../protocol/payment.js'
import type { OfflinePhase } from '../../../schemes/offlineScheme.js'
import { toDate, toRefusal } from '../paymentMethod.js'
import { readSponsoring } from '../permit2/gasSponsoring.js'
import { formatPermitId, type Permit } from '../permit2/payload.js'
import { createReadCandidate, type SignedForm } from '../permit2/prepare.js'
import {
  type EvmOfflineNetwork,
  noteSignature,
  type OfflineReading,
  phaseOf,
  refuseSignature,
} from './offlineNetwork.js'

interface PermitFacts<P extends Permit> extends SignedForm<P> {
  /** What settlement would move. */
  amountOf(permit: P, payment: Payment): bigint
  readonly holds: boolean
}

/** Reads payments by Permit2. */
export const createOfflinePermit2 =
  <P extends Permit>({ id, chainId, tokens }: EvmOfflineNetwork, facts: PermitFacts<P>) =>
  async (payment: Payment, { now, isForSettle, trace }: OfflinePhase): Promise<OfflineReading> => {
    const read = createReadCandidate({ chainId, findToken: tokens.find, clock: { now: () => now } }, facts)
    const reading = await read(payment, phaseOf(isForSettle), trace)
    if ('refused' in reading) return reading.refused
    const { candidate, signature } = reading.prepared
    const { permit } = candidate
    const refused = refuseSignature(signature, permit.from, 'invalid_permit2_signature')
    if (trace !== undefined) noteSignature(refused, trace)
    if (refused !== null) return refused
    const sponsored = await readSponsoring(candidate, chainId)
    const isMalformed = sponsored !== null && 'reason' in sponsored
    trace?.note('token_permit', isMalformed ? sponsored : null)
    if (isMalformed) return toRefusal(permit.from, sponsored)
    return {
      isValid: true,
      payer: permit.from,
      authorizationId: formatPermitId(id, permit),
      authorizedAmount: permit.amount,
      amount: facts.amountOf(permit, payment),
      // Permit2 accepts it up to and including the deadline.
      expiresAt: toDate(permit.deadline + 1n),
      holds: facts.holds,
      isHoldable: true,
    }
  }
