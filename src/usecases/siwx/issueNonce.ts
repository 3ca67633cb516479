import { AppError } from '../../errors.js'
import { declareSignIn } from '../../extensions/siwx/declare.js'
import type { Clock } from '../../ports/clock.js'
import { isSingleLine } from '../../protocol/signInLimits.js'
import type { Nonces } from './nonces.js'
import { listChains, readOrigin } from './readRequest.js'
import type { SiwxUseCases } from './useCases.js'

export interface IssueNonceDependencies {
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
