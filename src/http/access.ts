import type { FastifyRequest } from 'fastify'
import type { Secret } from '../platform/secret.js'
import type { Account } from '../ports/accountStore.js'

/**
 * Who may call a route. `public`: anyone. `key`: a caller with an API key, where the instance demands one.
 * `dashboard`: the owner of an API key, always. `operator`: who runs the instance.
 */
export type Access = 'public' | 'key' | 'dashboard' | 'operator'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Optional only because plugins of others declare routes too; the start refuses a route without it. */
    access?: Access
    /**
     * On a route that answers some questions to operators alone: whether this is one of them. Its bearer token is
     * the operator's then, and no API key. Always false on a route that answers everyone and shows operators more:
     * there a bearer token is theirs only when it is the right one.
     */
    asksOperators?: (request: FastifyRequest) => boolean
  }
  interface FastifyRequest {
    /** Whose request it is: an account's id, or `anonymous`. */
    caller: string
    /** Whose API key the request carries; null without a key. */
    account: Account | null
    /** The key itself. */
    apiKey: Secret | null
  }
}
