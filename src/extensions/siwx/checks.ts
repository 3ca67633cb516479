import { canonicalNetwork } from '../../protocol/network.js'
import type { SignInFields, SignInProblem, SignInReason } from '../../protocol/siwx.js'
import { readTime } from './readProof.js'

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
