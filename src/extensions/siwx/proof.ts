import { z } from 'zod'
import { canonicalNetwork } from '../../protocol/network.js'
import {
  chainForm,
  domainForm,
  isSingleLine,
  maxProofLength,
  maxResources,
  maxSignatureLength,
  maxStatementLength,
  maxUriLength,
  nonceForm,
  type SignInFields,
  type SignInProblem,
  type SignInProof,
  type SignInReason,
  signatureSchemes,
} from '../../protocol/siwx.js'

type ProofReading = SignInProof | SignInProblem

const line = (maxLength: number) => z.string().min(1).max(maxLength).refine(isSingleLine)
const time = line(40).refine((text) => readTime(text) !== null)
/** Clients write absent values as null or as empty text. */
const optional = <Schema extends z.ZodType<string>>(schema: Schema) =>
  z
    .union([schema, z.literal('').transform(() => null)])
    .nullish()
    .transform((value) => value ?? null)

const proofShape = z.object({
  domain: line(255).regex(domainForm),
  address: line(128).regex(/^[A-Za-z0-9]+$/),
  statement: optional(line(maxStatementLength)),
  uri: line(maxUriLength).regex(/^\S+$/),
  version: line(8),
  chainId: z.string().regex(chainForm),
  nonce: z.string().regex(nonceForm),
  issuedAt: time,
  expirationTime: optional(time),
  notBefore: optional(time),
  requestId: optional(line(256)),
  resources: z
    .array(line(maxUriLength).regex(/^\S+$/))
    .max(maxResources)
    .nullish()
    .transform((value) => value ?? null),
  signatureScheme: optional(z.enum(signatureSchemes)),
  signature: line(maxSignatureLength),
})

/** Reads the value of a sign-in header, or the object itself. */
export const readProof = (proof: unknown): ProofReading => {
  if (typeof proof !== 'string') return readFields(proof)
  if (proof.length > maxProofLength) return { reason: 'siwx_too_large' }
  if (!/^[A-Za-z0-9+/_-]+={0,2}$/.test(proof)) return { reason: 'siwx_malformed' }
  try {
    // Buffer reads base64url as well.
    const json: unknown = JSON.parse(Buffer.from(proof, 'base64').toString('utf8'))
    return readFields(json)
  } catch {
    return { reason: 'siwx_malformed' }
  }
}

const readFields = (value: unknown): ProofReading => {
  const reading = proofShape.safeParse(value)
  if (!reading.success) return describeFailure(reading.error)
  const { signature, signatureScheme, ...fields } = reading.data
  const scheme = signatureSchemes.find((each) => each === signatureScheme) ?? null
  return { fields, signature, scheme }
}

/** Missing and wrongly typed fields make no proof; fields of a wrong form make an invalid one. */
const describeFailure = ({ issues }: z.ZodError): SignInProblem => {
  const [issue] = issues
  const field = typeof issue?.path[0] === 'string' ? issue.path[0] : null
  const isMissing = issue?.code === 'invalid_type'
  return {
    reason: isMissing ? 'siwx_malformed' : 'siwx_field_invalid',
    ...(field === null ? {} : { field }),
  }
}

// RFC 3339, as EIP-4361 requires.
const timeForm = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:\.\d{1,9})?(?:Z|[+-]\d{2}:\d{2})$/

/** Milliseconds since 1970, or null. */
export const readTime = (text: string): number | null => {
  if (!timeForm.test(text)) return null
  const milliseconds = Date.parse(text)
  return Number.isNaN(milliseconds) ? null : milliseconds
}

/** What the resource server expects of a message. Null: not restricted. */
export interface SignInExpectation {
  readonly domain: string
  readonly uri: string
  readonly chains: readonly string[] | null
  readonly nonce: string | null
  readonly resources: readonly string[]
  readonly maxAgeMs: number
  /** By how much the signer's clock may be ahead. */
  readonly toleranceMs: number
}

type Check = (fields: SignInFields, expected: SignInExpectation, now: number) => boolean

/** In order; each passes when it returns true. */
const checks: readonly (readonly [SignInReason, Check])[] = [
  ['siwx_version_unsupported', ({ version }) => version === '1'],
  ['siwx_domain_mismatch', ({ domain }, expected) => domain.toLowerCase() === expected.domain.toLowerCase()],
  ['siwx_uri_mismatch', ({ uri }, expected) => isSameUri(uri, expected.uri)],
  [
    'siwx_chain_mismatch',
    ({ chainId }, { chains }) =>
      chains === null || chains.some((chain) => canonicalNetwork(chain) === canonicalNetwork(chainId)),
  ],
  [
    'siwx_resources_mismatch',
    ({ resources }, expected) =>
      expected.resources.every((wanted) => resources?.some((each) => isSameUri(each, wanted)) === true),
  ],
  ['siwx_nonce_mismatch', ({ nonce }, expected) => expected.nonce === null || nonce === expected.nonce],
  [
    'siwx_issued_in_future',
    ({ issuedAt }, { toleranceMs }, now) =>
      (readTime(issuedAt) ?? Number.POSITIVE_INFINITY) <= now + toleranceMs,
  ],
  [
    'siwx_too_old',
    ({ issuedAt }, { maxAgeMs }, now) => now - (readTime(issuedAt) ?? Number.NEGATIVE_INFINITY) <= maxAgeMs,
  ],
  [
    'siwx_expired',
    ({ expirationTime }, _expected, now) => expirationTime === null || now < (readTime(expirationTime) ?? 0),
  ],
  [
    'siwx_not_yet_valid',
    ({ notBefore }, { toleranceMs }, now) =>
      notBefore === null || (readTime(notBefore) ?? Number.POSITIVE_INFINITY) <= now + toleranceMs,
  ],
]

/** `now` in milliseconds. Signature and nonce are judged elsewhere. */
export const findSignInProblem = (
  fields: SignInFields,
  expected: SignInExpectation,
  now: number,
): SignInProblem | null => {
  const failed = checks.find(([, passes]) => !passes(fields, expected, now))
  return failed === undefined ? null : { reason: failed[0] }
}

/** Compares as URLs, without fragments, which are never sent to a server. */
const isSameUri = (left: string, right: string): boolean => {
  const normalized = normalizeUri(left)
  return normalized !== null && normalized === normalizeUri(right)
}

const normalizeUri = (text: string): string | null => {
  if (!URL.canParse(text)) return null
  const url = new URL(text)
  url.hash = ''
  return url.href
}
