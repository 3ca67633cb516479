import type { Hex } from 'viem'
import type { Clock } from '../../../ports/clock.js'
import type { Payment } from '../../../protocol/payment.js'
import type { Reason } from '../../../protocol/reasons.js'
import { readAddress } from '../abi/address.js'
import { type Phase, type Preparation, type Preparer, toRefusal } from '../paymentMethod.js'
import { createPrepareAgain, readOccasion } from '../prepareAgain.js'
import type { Rpc } from '../rpc/rpc.js'
import type { EvmNetworkSettings } from '../settings.js'
import { readSignature } from '../signatures/signature.js'
import { type DeployedSignature, unwrapSignature } from '../signatures/unwrapSignature.js'
import type { TokenRegistry } from '../tokens/tokenRegistry.js'
import type { SettlementCall } from '../transactions/settlementCall.js'
import type { Candidate } from './checks.js'
import { readSponsoring, type TokenPermit } from './gasSponsoring.js'
import type { Permit, ProofReading } from './payload.js'
import { permit2Separator } from './typedData.js'

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
export interface PermitForm<P extends Permit> {
  read(proof: unknown): ProofReading<P>
  /** The EIP-712 digest that the payer signs. */
  hash(permit: P, separator: Hex): Hex
  findFailedCheck(candidate: Candidate<P>): Reason | null
  createCall(candidate: Candidate<P>, signed: PermitSignatures): SettlementCall
}

export const createPermitPreparer = <P extends Permit>(
  { network, rpc, tokens, clock }: PreparerDependencies,
  { read, hash, findFailedCheck, createCall }: PermitForm<P>,
): Preparer<Prepared<P>> => {
  const separator = permit2Separator(network.chainId)

  const prepare = async (payment: Payment, phase: Phase): Promise<Preparation<Prepared<P>>> => {
    const reading = read(payment.proof)
    if ('problem' in reading) {
      return { refused: toRefusal(null, { reason: 'invalid_payload_structure', message: reading.problem }) }
    }
    const { permit, signature: signed } = reading.proof
    const payer = permit.from
    const asset = readAddress(payment.requirements.asset)
    if (asset === null) return { refused: toRefusal(payer, { reason: 'unsupported_asset' }) }
    const finding = await tokens.find(asset)
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

    const found = await readSignature(signed, hash(permit, separator), payer)
    if (found === null) return { refused: toRefusal(payer, { reason: 'invalid_permit2_signature' }) }
    const signature = await unwrapSignature(rpc, found, payer)
    if ('reason' in signature) return { refused: toRefusal(payer, signature) }
    const tokenPermit = await readSponsoring(candidate, network.chainId)
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
      findFailedCheck,
    }),
  }
}
