import type { FastifyRequest } from 'fastify'
import type { Secret } from '../../platform/secret.js'
import type { KeyScope } from '../../protocol/accounts.js'
import type { KeyHolder } from '../../usecases/dashboard/useCases.js'

/** `key`: an API key if the instance requires one. `dashboard`: always one. `operator`: `OPERATOR_TOKEN`. */
export type Access = 'public' | 'key' | 'dashboard' | 'operator'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Optional because third-party plugins also register routes; startup fails for a route without it. */
    access?: Access
    /** Required of a presented key; startup fails for a `key` route without it. Default on the dashboard: by method. */
    scope?: KeyScope
    /** Whether this query is for operators only, so that its bearer token is not an API key. */
    requiresOperator?: (request: FastifyRequest) => boolean
  }
  interface FastifyRequest {
    caller: string
    account: KeyHolder | null
    apiKey: Secret | null
    /** Called by authentication when the presented key itself is refused, also after the client has disconnected. */
    onKeyRefused: (() => void) | null
  }
}

/** Null: any valid key. */
export const findRequiredScope = (
  method: string,
  { access, scope }: { readonly access?: Access; readonly scope?: KeyScope },
): KeyScope | null => {
  if (scope !== undefined) return scope
  if (access !== 'dashboard') return null
  return method === 'GET' || method === 'HEAD' ? 'read' : 'manage'
}
