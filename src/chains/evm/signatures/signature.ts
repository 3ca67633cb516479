import { decodeAbiParameters, type Hex, recoverAddress, slice } from 'viem'
import type { Comparison } from '../../../protocol/rules/rules.js'
import { loadNativeRecoverKey } from '../../common/secp256k1.js'
import { isSameAddress, readAddress } from '../abi/address.js'
import { keccak, numberWord } from '../abi/words.js'
import type { Rpc } from '../rpc/rpc.js'
import type { SigningDomain } from '../tokens/tokenRegistry.js'
import type { RevertReason } from '../transactions/settlementCall.js'

/** A signature in the form that the token contract takes. */
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
  // The payer's wallet contract may still accept what another key signed (EIP-1271).
  if (signer === null || !isSameAddress(signer, payer)) return { kind: 'contract', bytes: signature }
  if (BigInt(parts.s) > highestLowS) return null
  return { kind: 'ecdsa', ...parts }
}

/** Which key a signature shows, for explanations: with another digest than the payer's, a random one. */
export const describeSigner = async (
  signature: Hex,
  { digest, payer, domain }: { readonly digest: Hex; readonly payer: Hex; readonly domain?: SigningDomain },
): Promise<Comparison> => {
  const parts = isCounterfactual(signature) ? null : splitEcdsa(signature)
  const signer = parts === null ? null : await recoverSigner(digest, parts)
  const bytes = (signature.length - 2) / 2
  return {
    path: 'paymentPayload.payload.signature',
    found: signer === null ? `${bytes} bytes that are no signature of a key` : `a signature of ${signer}`,
    expected:
      domain === undefined
        ? `a signature of ${payer} over ${digest}`
        : `a signature of ${payer} over ${digest}, in the domain ${describeDomain(domain)}`,
  }
}

const describeDomain = ({ name, version, chainId, asset }: SigningDomain): string =>
  JSON.stringify({ name, version, chainId, verifyingContract: asset })

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

// In characters; wallets of several owners concatenate their signatures.
const maxSignatureLength = 2 + 2 * 8_192

/** Lengths of a key's signature, without and with EIP-2098, in characters. */
export const keySignatureLengths: readonly number[] = [fullLength, compactLength]

/** Reads the signature of a message or typed data, in lower case; null for anything else. */
export const readSignatureText = (text: string): Hex | null =>
  text.length <= maxSignatureLength && signatureForm.test(text) ? `0x${text.slice(2).toLowerCase()}` : null

/** Of an account, or of a wallet that is deployed. */
export type DeployedSignature = Exclude<PayerSignature, { readonly kind: 'counterfactual' }>

/** Serves methods that never deploy a wallet: one that is not deployed cannot be asked whether it signed. */
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

interface EcdsaParts {
  readonly v: 27 | 28
  readonly r: Hex
  readonly s: Hex
}

/** The address that signed a digest, or null for an invalid signature. */
export type RecoverSigner = (digest: Hex, parts: EcdsaParts) => Promise<Hex | null>

/** Recovery by libsecp256k1's addon; null where none fits this machine. */
export const loadNativeRecover = (): RecoverSigner | null => {
  const recoverKey = loadNativeRecoverKey()
  if (recoverKey === null) return null
  return async (digest, { v, r, s }) => {
    try {
      const rs = Buffer.from(r.slice(2) + s.slice(2), 'hex')
      const publicKey = recoverKey(Buffer.from(digest.slice(2), 'hex'), rs, v - 27)
      // The last 20 bytes of the hash of the key without its prefix 04 (uncompressed).
      return readAddress(`0x${keccak(publicKey.subarray(1)).slice(-40)}`)
    } catch {
      // r or s is out of range or not on the curve.
      return null
    }
  }
}

/** Recovery in JavaScript, for machines without the addon. */
export const recoverInJavaScript: RecoverSigner = async (digest, { v, r, s }) => {
  try {
    return await recoverAddress({ hash: digest, signature: { r, s, yParity: v - 27 } })
  } catch {
    return null
  }
}

const native = loadNativeRecover()

export const isRecoveryNative = native !== null

/** The fastest recovery on this machine. */
const recoverSigner: RecoverSigner = native ?? recoverInJavaScript
