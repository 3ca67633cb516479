import { decodeAbiParameters, type Hex, slice } from 'viem'
import { isSameAddress } from '../abi/address.js'
import { numberWord } from '../abi/words.js'
import { type EcdsaParts, recoverSigner } from './recover.js'

/** In the form that the token contract takes. */
export type PayerSignature =
  | { readonly kind: 'ecdsa'; readonly v: 27 | 28; readonly r: Hex; readonly s: Hex }
  /** Checked by the payer's wallet contract (EIP-1271). */
  | { readonly kind: 'contract'; readonly bytes: Hex }
  /** From a wallet that may not be deployed yet (EIP-6492): factory call and inner signature. */
  | { readonly kind: 'counterfactual'; readonly factory: Hex; readonly factoryData: Hex; readonly bytes: Hex }

type CounterfactualSignature = Extract<PayerSignature, { readonly kind: 'counterfactual' }>

/** Limits of a signature on the wire, before it is read. */
export const maxSignatureBytes = 16_384
export const signatureForm = /^0x(?:[0-9a-fA-F]{2})+$/

// ERC-6492: the signature is wrapped with the factory call and ends with this marker.
const counterfactualEnd = '6492'.repeat(16)

// Half the secp256k1 group order: FiatToken refuses malleable signatures with a higher s (EIP-2).
const highestLowS = 0x7fffffffffffffffffffffffffffffff5d576e7357a4501ddfe92f46681b20a0n

/** Reads a signature over a digest; null when neither wallet nor token accepts it. */
export const readSignature = async (
  signature: Hex,
  digest: Hex,
  payer: Hex,
): Promise<PayerSignature | null> => {
  if (isCounterfactual(signature)) return readCounterfactual(signature)

  const parts = splitEcdsa(signature)
  if (parts === null) return { kind: 'contract', bytes: signature }
  const signer = await recoverSigner(digest, parts)
  // Not the payer's own key; the payer's wallet contract may still accept it (EIP-1271).
  if (signer === null || !isSameAddress(signer, payer)) return { kind: 'contract', bytes: signature }
  if (BigInt(parts.s) > highestLowS) return null
  return { kind: 'ecdsa', ...parts }
}

/** 65 bytes with v as 0/1 or 27/28, or the 64 bytes of EIP-2098; FiatToken itself takes only 27 and 28. */
const splitEcdsa = (signature: Hex): EcdsaParts | null => {
  const r: Hex = `0x${signature.slice(2, 66)}`
  const s: Hex = `0x${signature.slice(66, 130)}`
  switch (signature.length) {
    case compactLength: {
      const yParityAndS = BigInt(s)
      return { v: yParityAndS >> 255n === 1n ? 28 : 27, r, s: `0x${numberWord(yParityAndS & highestS)}` }
    }
    case fullLength: {
      const v = recoveryValues[signature.slice(130)]
      return v === undefined ? null : { v, r, s }
    }
    default:
      return null
  }
}

// In characters, with the `0x`.
const compactLength = 2 + 2 * 64
const fullLength = 2 + 2 * 65

const highestS = (1n << 255n) - 1n

const recoveryValues: Readonly<Record<string, 27 | 28>> = { '00': 27, '1b': 27, '01': 28, '1c': 28 }

/** Whether it has the wrapper of ERC-6492. */
export const isCounterfactual = (signature: Hex): boolean => signature.endsWith(counterfactualEnd)

/** Null for a malformed wrapper. */
export const readCounterfactual = (signature: Hex): CounterfactualSignature | null => {
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
