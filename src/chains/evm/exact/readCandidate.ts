import type { Clock } from '../../../ports/clock.js'
import type { Payment } from '../../../protocol/payment.js'
import { readAddress } from '../abi/address.js'
import { type Phase, type Preparation, toRefusal } from '../paymentMethod.js'
import { readOccasion } from '../prepareAgain.js'
import { type PayerSignature, readSignature } from '../signatures/signature.js'
import { type FindToken, signedDomain } from '../tokens/tokenRegistry.js'
import { type Candidate, findFailedCheck } from './checks.js'
import { readExactProof } from './payload.js'
import { hashAuthorization } from './typedData.js'

interface SignedCandidate {
  readonly candidate: Candidate
  readonly signature: PayerSignature
}

export type ReadCandidate = (payment: Payment, phase: Phase) => Promise<Preparation<SignedCandidate>>

/** Everything that needs no chain access but the token's metadata: structure, rules, the signature of a key. */
export const createReadCandidate =
  ({
    chainId,
    findToken,
    clock,
  }: {
    readonly chainId: number
    readonly findToken: FindToken
    readonly clock: Pick<Clock, 'now'>
  }): ReadCandidate =>
  async (payment, phase) => {
    const reading = readExactProof(payment.proof)
    if ('problem' in reading) {
      return { refused: toRefusal(null, { reason: 'invalid_payload_structure', message: reading.problem }) }
    }
    const { proof } = reading
    const payer = proof.authorization.from
    const asset = readAddress(payment.requirements.asset)
    if (asset === null) return { refused: toRefusal(payer, { reason: 'unsupported_asset' }) }
    const finding = await findToken(asset, payment)
    if ('refusedAs' in finding) return { refused: toRefusal(payer, { reason: finding.refusedAs }) }

    // Field by field, here and below: object spread costs several µs, on every verification.
    const occasion = readOccasion(clock, phase)
    const candidate: Candidate = {
      authorization: proof.authorization,
      signature: proof.signature,
      payment,
      token: finding.token,
      nowSeconds: occasion.nowSeconds,
      marginSeconds: occasion.marginSeconds,
    }
    const failed = findFailedCheck(candidate)
    if (failed !== null) return { refused: toRefusal(payer, { reason: failed }) }

    const { name, version } = signedDomain(candidate)
    const domain = { name, version, chainId: chainId, asset }
    const digest = hashAuthorization(proof.authorization, domain)
    const signature = await readSignature(proof.signature, digest, payer)
    if (signature === null) {
      return { refused: toRefusal(payer, { reason: 'invalid_exact_evm_payload_signature' }) }
    }
    return { prepared: { candidate, signature } }
  }
