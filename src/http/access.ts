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
  }
  interface FastifyRequest {
    /** Whose request it is: an API key's id, or `anonymous`. */
    caller: string
    /** Whose key the request carries; null: nobody's. */
    account: Account | null
  }
}
