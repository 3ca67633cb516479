import { z } from 'zod'
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
  type SignInProblem,
  type SignInProof,
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
