import type { FastifyRequest } from 'fastify'
import type { Secret } from '../../platform/secret.js'
import type { Account } from '../../ports/accountStore.js'

/** `key`: an API key if the instance requires one. `dashboard`: always one. `operator`: `OPERATOR_TOKEN`. */
export type Access = 'public' | 'key' | 'dashboard' | 'operator'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Optional because third-party plugins also register routes; startup fails for a route without it. */
    access?: Access
    /** Whether this query is for operators only, so that its bearer token is not an API key. */
    requiresOperator?: (request: FastifyRequest) => boolean
  }
  interface FastifyRequest {
    caller: string
    account: Account | null
    apiKey: Secret | null
  }
}
