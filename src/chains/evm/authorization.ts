import { getAddress, type Hex } from 'viem'
import { z } from 'zod'
import { readUint256 } from '../../protocol/amount.js'

/** An EIP-3009 authorization as the payer signed it; times in Unix seconds, addresses in EIP-55 form. */
export interface Authorization {
  readonly from: Hex
  readonly to: Hex
  readonly value: bigint
  readonly validAfter: bigint
  readonly validBefore: bigint
  /** 32 bytes, lower case. */
  readonly nonce: Hex
}

/** What a payer sends for `exact` by EIP-3009. */
export interface ExactProof {
  readonly authorization: Authorization
  readonly signature: Hex
}

/** A proof, or which of its fields is wrong. */
export type ProofReading = { readonly proof: ExactProof } | { readonly problem: string }

const maxSignatureBytes = 16_384

const address = z
  .string()
  .regex(/^0x[0-9a-fA-F]{40}$/, 'must be an EVM address')
  .transform((text): Hex => getAddress(text.toLowerCase()))

const bytes = (check: RegExp, message: string) =>
  z
    .string()
    .regex(check, message)
    .transform((text): Hex => `0x${text.slice(2).toLowerCase()}`)

const uint256 = z.unknown().transform((value, context) => {
  const amount = readUint256(value)
  if (amount !== null) return amount
  context.addIssue({ code: 'custom', message: 'must be a uint256 in decimal digits' })
  return z.NEVER
})

const proofShape = z.object({
  signature: bytes(/^0x(?:[0-9a-fA-F]{2})+$/, 'must be hex bytes').refine(
    (hex) => hex.length <= 2 + 2 * maxSignatureBytes,
    'is too long',
  ),
  authorization: z.object({
    from: address,
    to: address,
    value: uint256,
    validAfter: uint256,
    validBefore: uint256,
    nonce: bytes(/^0x[0-9a-fA-F]{64}$/, 'must be 32 bytes of hex'),
  }),
})

/** Reads an untrusted proof; extra fields are ignored, nothing throws. */
export const readExactProof = (proof: unknown): ProofReading => {
  const parsed = proofShape.safeParse(proof)
  if (parsed.success) return { proof: parsed.data }
  const issue = parsed.error.issues[0]
  const path = ['payload', ...(issue?.path ?? [])].join('.')
  return { problem: `${path}: ${issue?.message ?? 'is malformed'}` }
}

/** Reads an address in any letter case, or null. */
export const readAddress = (text: string): Hex | null => {
  const parsed = address.safeParse(text)
  return parsed.success ? parsed.data : null
}

/** What an authorization is identified by: the token's own rule is one use per (from, nonce). */
export interface AuthorizationKey {
  readonly network: string
  readonly asset: Hex
  readonly from: Hex
  readonly nonce: Hex
}

/** The authorization's identity as text: never signature bytes, never letter case. */
export const formatAuthorizationId = ({ network, asset, from, nonce }: AuthorizationKey): string =>
  `${network}/${asset}/${from}/${nonce}`.toLowerCase()

/** The nonce inside an identity that `formatAuthorizationId` made. */
export const readAuthorizationNonce = (authorizationId: string): Hex => {
  const nonce = authorizationId.split('/').at(-1) ?? ''
  if (!/^0x[0-9a-f]{64}$/.test(nonce)) throw new Error('Not an EIP-3009 authorization identity')
  return `0x${nonce.slice(2)}`
}
