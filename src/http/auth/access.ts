import type { FastifyRequest } from 'fastify'
import type { Secret } from '../../platform/secret.js'
import type { Account } from '../../ports/accountStore.js'

/**
 * `key`: an API key if the instance requires one. `dashboard`: always one. `operator`: the `OPERATOR_TOKEN`.
 */
export type Access = 'public' | 'key' | 'dashboard' | 'operator'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Optional because third-party plugins also register routes; startup fails for a route without it. */
    access?: Access
    /**
     * On routes that serve operators too: whether this query is for operators only, so that its bearer token is not an
     * API key. Always false on routes that serve everyone and show operators more.
     */
    requiresOperator?: (request: FastifyRequest) => boolean
  }
  interface FastifyRequest {
    /** Account id, or `anonymous`. */
    caller: string
    /** Null without an API key. */
    account: Account | null
    apiKey: Secret | null
  }
}
