import { randomBytes, timingSafeEqual } from 'node:crypto'
import { AppError } from '../../errors.js'
import { declareSignIn } from '../../extensions/siwx/declaration.js'
import type { Sealer } from '../../ports/accountStore.js'
import type { Clock } from '../../ports/clock.js'
import { isSingleLine } from '../../protocol/siwx.js'
import type { SiwxUseCases } from '../useCases.js'

/** Nonces are authenticated by their content: issuing one stores nothing. */
export interface Nonces {
  /** `domain` null: the nonce is valid for any. */
  issue(domain: string | null, expiresAt: Date): string
  /** As the nonce says; null if it has another form. */
  findExpiry(nonce: string): Date | null
  /** Whether an instance that shares our secret issued it for the domain, and it has not expired. */
  isIssued(nonce: string, domain: string, now: Date): boolean
}

// Seconds since 1970, random bytes, and a MAC of both and the domain; 32 bytes in hex.
const expiryBytes = 4
const randomLength = 12
const macBytes = 16
const nonceForm = /^[0-9a-f]{64}$/

export const createNonces = (sealer: Pick<Sealer, 'fingerprint' | 'fingerprints'>): Nonces => ({
  issue: (domain, expiresAt) => {
    const expiry = Buffer.alloc(expiryBytes)
    expiry.writeUInt32BE(Math.floor(expiresAt.getTime() / 1_000))
    const body = Buffer.concat([expiry, randomBytes(randomLength)])
    const mac = sealer.fingerprint(describe(body, domain)).subarray(0, macBytes)
    return Buffer.concat([body, mac]).toString('hex')
  },

  findExpiry: (nonce) =>
    nonceForm.test(nonce) ? new Date(Buffer.from(nonce, 'hex').readUInt32BE(0) * 1_000) : null,

  isIssued: (nonce, domain, now) => {
    if (!nonceForm.test(nonce)) return false
    const bytes = Buffer.from(nonce, 'hex')
    const body = bytes.subarray(0, expiryBytes + randomLength)
    const mac = bytes.subarray(expiryBytes + randomLength)
    if (body.readUInt32BE(0) * 1_000 <= now.getTime()) return false
    return [domain, null]
      .flatMap((each) => sealer.fingerprints(describe(body, each)))
      .some((known) => timingSafeEqual(known.subarray(0, macBytes), mac))
  },
})

const describe = (body: Buffer, domain: string | null): string =>
  `${body.toString('hex')}\n${domain?.toLowerCase() ?? ''}`

interface Origin {
  readonly domain: string
  readonly uri: string
}

/** The domain is the host of the URI unless the server names another. */
export const readOrigin = (uri: string, domain: string | undefined): Origin => {
  const url = URL.canParse(uri) ? new URL(uri) : null
  if (url === null || !['http:', 'https:'].includes(url.protocol) || !/^[\x21-\x7e]+$/.test(uri)) {
    throw new AppError('INVALID_REQUEST', 'uri: must be an absolute http or https URL')
  }
  return { domain: domain ?? url.host, uri }
}

/** Null: any chain. */
export const listChains = (request: {
  readonly chainId?: string | undefined
  readonly chains?: readonly string[] | undefined
}): readonly string[] | null => {
  const chains = [...(request.chainId === undefined ? [] : [request.chainId]), ...(request.chains ?? [])]
  return chains.length === 0 ? null : [...new Set(chains)]
}

interface IssueNonceDependencies {
  readonly nonces: Nonces
  readonly clock: Clock
}

const defaultLifetimeSeconds = 300

export const createIssueNonce =
  ({ nonces, clock }: IssueNonceDependencies): SiwxUseCases['issueNonce'] =>
  (request) => {
    const { uri, statement = null, requestId = null } = request
    for (const [field, text] of Object.entries({ statement, requestId })) {
      if (text !== null && !isSingleLine(text)) {
        throw new AppError('INVALID_REQUEST', `${field}: must be one line without control characters`)
      }
    }
    const origin = uri === undefined ? null : readOrigin(uri, request.domain)
    const domain = origin?.domain ?? request.domain ?? null
    const chains = listChains(request)
    // Whole seconds, which is what the nonce can hold.
    const nowSeconds = Math.floor(clock.now().getTime() / 1_000)
    const lifetimeSeconds = request.expiresInSeconds ?? defaultLifetimeSeconds
    const expiresAt = new Date((nowSeconds + lifetimeSeconds) * 1_000)
    const issued = {
      nonce: nonces.issue(domain, expiresAt),
      issuedAt: new Date(nowSeconds * 1_000).toISOString(),
      expirationTime: expiresAt.toISOString(),
    }
    if (uri === undefined || domain === null) return domain === null ? issued : { ...issued, domain }
    if (chains === null) {
      throw new AppError('INVALID_REQUEST', 'chains: at least one is required beside uri')
    }
    const resources = request.resources ?? [uri]
    return {
      ...issued,
      domain,
      uri,
      extensions: declareSignIn({ ...issued, domain, uri, chains, statement, requestId, resources }),
    }
  }
