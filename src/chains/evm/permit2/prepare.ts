import type { Clock } from '../../../ports/clock.js'
import type { Payment } from '../../../protocol/payment.js'
import { type Phase, type Preparation, type Preparer, toRefusal } from '../paymentMethod.js'
import { createPrepareAgain } from '../prepareAgain.js'
import type { Rpc } from '../rpc/rpc.js'
import type { EvmNetworkSettings } from '../settings.js'
import { type DeployedSignature, unwrapSignature } from '../signatures/signature.js'
import type { TokenRegistry } from '../tokens/tokenRegistry.js'
import type { SettlementCall } from '../transactions/settlementCall.js'
import type { Candidate } from './checks.js'
import { readSponsoring, type TokenPermit } from './gasSponsoring.js'
import type { Permit } from './payload.js'
import { createReadCandidate, type SignedForm } from './readCandidate.js'

/** Passed every check that needs no simulation. */
export interface Prepared<P extends Permit = Permit> {
  readonly candidate: Candidate<P>
  readonly signature: DeployedSignature
  readonly call: SettlementCall
  /** What the payer signed. */
  readonly authorizedAmount: bigint
  /** Submitted with the payment; null for none. */
  readonly tokenPermit: TokenPermit | null
}

export interface PreparerDependencies {
  readonly network: EvmNetworkSettings
  readonly rpc: Rpc
  readonly tokens: TokenRegistry
  readonly clock: Clock
}

export interface PermitSignatures {
  readonly signature: DeployedSignature
  /** Submitted with the payment; null for none. */
  readonly tokenPermit: TokenPermit | null
}

/** In what the payments of x402's proxies differ. */
export interface PermitForm<P extends Permit> extends SignedForm<P> {
  createCall(candidate: Candidate<P>, signed: PermitSignatures): SettlementCall
}

export const createPermitPreparer = <P extends Permit>(
  { network, rpc, tokens, clock }: PreparerDependencies,
  { createCall, ...form }: PermitForm<P>,
): Preparer<Prepared<P>> => {
  const { chainId } = network
  const readCandidate = createReadCandidate({ chainId, findToken: tokens.find, clock }, form)

  const prepare = async (payment: Payment, phase: Phase): Promise<Preparation<Prepared<P>>> => {
    const reading = await readCandidate(payment, phase)
    if ('refused' in reading) return reading
    const { candidate, signature: found } = reading.prepared
    const { permit } = candidate
    const payer = permit.from
    const signature = await unwrapSignature(rpc, found, payer)
    if ('reason' in signature) return { refused: toRefusal(payer, signature) }
    const tokenPermit = await readSponsoring(candidate, chainId)
    if (tokenPermit !== null && 'reason' in tokenPermit) return { refused: toRefusal(payer, tokenPermit) }
    const call = createCall(candidate, { signature, tokenPermit })
    return { prepared: { candidate, signature, tokenPermit, call, authorizedAmount: permit.amount } }
  }

  return {
    prepare,
    prepareAgain: createPrepareAgain({
      clock,
      prepare,
      isWalletAsked: ({ signature }) => signature.kind !== 'ecdsa',
      findFailedCheck: form.findFailedCheck,
    }),
  }
}
