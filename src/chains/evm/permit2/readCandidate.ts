import type { Hex } from 'viem'
import type { Clock } from '../../../ports/clock.js'
import type { Payment } from '../../../protocol/payment.js'
import type { Reason } from '../../../protocol/reasons.js'
import { readAddress } from '../abi/address.js'
import { type Phase, type Preparation, toRefusal } from '../paymentMethod.js'
import { readOccasion } from '../prepareAgain.js'
import { type PayerSignature, readSignature } from '../signatures/signature.js'
import type { FindToken } from '../tokens/tokenRegistry.js'
import type { Candidate } from './checks.js'
import type { Permit, ProofReading } from './payload.js'
import { permit2Separator } from './typedData.js'

/** What the payer of one of x402's proxies signs. */
export interface SignedForm<P extends Permit> {
  read(proof: unknown): ProofReading<P>
  /** The EIP-712 digest that the payer signs. */
  hash(permit: P, separator: Hex): Hex
  findFailedCheck(candidate: Candidate<P>): Reason | null
}

interface SignedCandidate<P extends Permit> {
  readonly candidate: Candidate<P>
  readonly signature: PayerSignature
}

export type ReadCandidate<P extends Permit> = (
  payment: Payment,
  phase: Phase,
) => Promise<Preparation<SignedCandidate<P>>>

/** Everything that needs no chain access but the token's metadata: structure, rules, the signature of a key. */
export const createReadCandidate = <P extends Permit>(
  {
    chainId,
    findToken,
    clock,
  }: { readonly chainId: number; readonly findToken: FindToken; readonly clock: Pick<Clock, 'now'> },
  { read, hash, findFailedCheck }: SignedForm<P>,
): ReadCandidate<P> => {
  const separator = permit2Separator(chainId)
  return async (payment, phase) => {
    const reading = read(payment.proof)
    if ('problem' in reading) {
      return { refused: toRefusal(null, { reason: 'invalid_payload_structure', message: reading.problem }) }
    }
    const { permit, signature: signed } = reading.proof
    const payer = permit.from
    const asset = readAddress(payment.requirements.asset)
    if (asset === null) return { refused: toRefusal(payer, { reason: 'unsupported_asset' }) }
    const finding = await findToken(asset, payment)
    if ('refusedAs' in finding) return { refused: toRefusal(payer, { reason: finding.refusedAs }) }

    const candidate = {
      permit,
      signature: signed,
      payment,
      token: finding.token,
      ...readOccasion(clock, phase),
    }
    const failed = findFailedCheck(candidate)
    if (failed !== null) return { refused: toRefusal(payer, { reason: failed }) }

    const signature = await readSignature(signed, hash(permit, separator), payer)
    if (signature === null) return { refused: toRefusal(payer, { reason: 'invalid_permit2_signature' }) }
    return { prepared: { candidate, signature } }
  }
}
