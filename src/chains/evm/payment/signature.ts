import { decodeAbiParameters, type Hex, size, slice } from 'viem'
import { isSameAddress } from '../encoding/address.js'
import { type EcdsaParts, recoverSigner } from './recover.js'

/** A payer's signature in the form in which the token takes it. */
export type TransferSignature =
  | { readonly kind: 'ecdsa'; readonly v: 27 | 28; readonly r: Hex; readonly s: Hex }
  /** For a wallet contract to judge (EIP-1271). */
  | { readonly kind: 'contract'; readonly bytes: Hex }
  /** From a wallet that may not exist yet (EIP-6492): who deploys it, and what the wallet then judges. */
  | { readonly kind: 'counterfactual'; readonly factory: Hex; readonly factoryData: Hex; readonly bytes: Hex }

// ERC-6492: the signature is wrapped with the factory call and ends in this marker.
const counterfactualMarker: Hex = `0x${'6492'.repeat(16)}`

// secp256k1 group order halved; above it a signature has a twin, and FiatToken refuses it (EIP-2).
const highestLowS = 0x7fffffffffffffffffffffffffffffff5d576e7357a4501ddfe92f46681b20a0n

/** Reads a signature over a digest, or null when no wallet and no token can take it. */
export const readSignature = async (
  signature: Hex,
  digest: Hex,
  payer: Hex,
): Promise<TransferSignature | null> => {
  if (size(signature) > 32 && slice(signature, -32) === counterfactualMarker)
    return readCounterfactual(signature)

  const parts = splitEcdsa(signature)
  if (parts === null) return { kind: 'contract', bytes: signature }
  const signer = await recoverSigner(digest, parts)
  // Someone else's 65 bytes: perhaps an owner's signature that the payer's wallet contract accepts.
  if (signer === null || !isSameAddress(signer, payer)) return { kind: 'contract', bytes: signature }
  if (BigInt(parts.s) > highestLowS) return null
  return { kind: 'ecdsa', ...parts }
}

/** 65 bytes with v as 0/1 or 27/28, or the 64 bytes of EIP-2098; FiatToken itself takes only 27 and 28. */
const splitEcdsa = (signature: Hex): EcdsaParts | null => {
  const r = size(signature) >= 64 ? slice(signature, 0, 32) : null
  if (r === null) return null
  if (size(signature) === 64) {
    const yParityAndS = BigInt(slice(signature, 32, 64))
    const s = yParityAndS & ((1n << 255n) - 1n)
    return { v: yParityAndS >> 255n === 1n ? 28 : 27, r, s: `0x${s.toString(16).padStart(64, '0')}` }
  }
  if (size(signature) !== 65) return null
  const s = slice(signature, 32, 64)
  switch (Number(slice(signature, 64, 65))) {
    case 0:
    case 27:
      return { v: 27, r, s }
    case 1:
    case 28:
      return { v: 28, r, s }
    default:
      return null
  }
}

const readCounterfactual = (signature: Hex): TransferSignature | null => {
  try {
    const [factory, factoryData, bytes] = decodeAbiParameters(
      [{ type: 'address' }, { type: 'bytes' }, { type: 'bytes' }],
      slice(signature, 0, -32),
    )
    return { kind: 'counterfactual', factory, factoryData, bytes }
  } catch {
    return null
  }
}
