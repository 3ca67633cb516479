import type { Hex } from 'viem'
import type { Rpc } from '../rpc/rpc.js'
import type { RevertReason } from '../transactions/settlementCall.js'
import type { PayerSignature } from './signature.js'

/** It is one of an account or of a wallet that is deployed. */
export type DeployedSignature = Exclude<PayerSignature, { readonly kind: 'counterfactual' }>

/** For methods that never deploy a wallet: one that is not deployed cannot be asked whether it signed. */
export const unwrapSignature = async (
  rpc: Rpc,
  signature: PayerSignature,
  payer: Hex,
): Promise<DeployedSignature | RevertReason> => {
  if (signature.kind !== 'counterfactual') return signature
  return (await rpc.getCode(payer)) === '0x'
    ? { reason: 'invalid_exact_evm_payload_undeployed_smart_wallet' }
    : { kind: 'contract', bytes: signature.bytes }
}

/** Signatures by a key have 65 bytes with v as 27 or 28. */
export const encodeSignature = (signature: DeployedSignature): Hex =>
  signature.kind === 'ecdsa'
    ? `0x${signature.r.slice(2)}${signature.s.slice(2)}${signature.v.toString(16)}`
    : signature.bytes
