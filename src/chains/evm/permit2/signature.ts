import type { Hex } from 'viem'
import type { Rpc } from '../rpc/rpc.js'
import type { PayerSignature } from '../signatures/signature.js'
import type { RevertReason } from '../transactions/settlementCall.js'

/** In the form that Permit2 takes. */
export type PermitSignature = Exclude<PayerSignature, { readonly kind: 'counterfactual' }>

/** A wallet that is not deployed cannot have approved Permit2, so that nothing is ever deployed here. */
export const unwrapSignature = async (
  rpc: Rpc,
  signature: PayerSignature,
  payer: Hex,
): Promise<PermitSignature | RevertReason> => {
  if (signature.kind !== 'counterfactual') return signature
  return (await rpc.getCode(payer)) === '0x'
    ? { reason: 'invalid_exact_evm_payload_undeployed_smart_wallet' }
    : { kind: 'contract', bytes: signature.bytes }
}

/** Signatures by a key have 65 bytes with v as 27 or 28. */
export const encodeSignature = (signature: PermitSignature): Hex =>
  signature.kind === 'ecdsa'
    ? `0x${signature.r.slice(2)}${signature.s.slice(2)}${signature.v.toString(16)}`
    : signature.bytes

/*
 * About 130k gas for a first transfer to a new recipient by ECDSA; wallet contracts add their own check. The same caps
 * as for EIP-3009, so that the balance that a signer needs does not depend on the method. Unused gas is not paid.
 */
const ecdsaGasCap = 500_000n
const contractGasCap = 1_000_000n

export const gasCapOf = ({ kind }: PermitSignature): bigint =>
  kind === 'ecdsa' ? ecdsaGasCap : contractGasCap
