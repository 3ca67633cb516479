import type { FastifyRequest } from 'fastify'
import { AppError } from '../../errors.js'
import { readClientNetworks } from '../../platform/clientNetwork.js'
import type { Secret } from '../../platform/secret.js'
import type { Actor } from '../../ports/accountStore.js'
import type { QuotaClaim } from '../../ports/quotas.js'
import type { Requester } from '../../ports/rateLimiter.js'
import type { KeyScope } from '../../protocol/accounts.js'
import { getTier, type Tiers } from '../../protocol/tiers.js'
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

interface KeyOwner {
  readonly account: KeyHolder
  readonly apiKey: Secret
}

export const getKeyOwner = ({ account, apiKey }: FastifyRequest): KeyOwner => {
  if (account === null || apiKey === null) throw new AppError('UNAUTHORIZED', 'An API key is required')
  return { account, apiKey }
}

/** For the audit log. */
export const readActor = (request: FastifyRequest): Actor => {
  const { key } = getKeyOwner(request).account
  return { actor: `key ${key.name} (${key.id})`, address: request.ip }
}

/**
 * Names the customer of a key. Customers that are not proven share with those of their address: a caller that registers can
 * name any number of mailboxes. Callers without a key share with those of their address.
 */
export const readRequester = ({ account, ip }: Pick<FastifyRequest, 'account' | 'ip'>): Requester => {
  // Routes that are tested alone have no account.
  if (account?.isProven === true) return { name: account.customer, site: null }
  const { network, site } = readClientNetworks(ip)
  if (account == null) return { name: network, site }
  return { name: `unproven ${network}`, site: site === null ? null : `unproven ${site}` }
}

/** Names who holds what a request occupies: its IPv4 address or IPv6 /64, the /48 around it, and its customer. */
export const readHolders = ({ ip, account }: Pick<FastifyRequest, 'ip' | 'account'>): readonly string[] => {
  const { network, site } = readClientNetworks(ip)
  return [
    `address ${network}`,
    ...(site === null ? [] : [`site ${site}`]),
    ...(account === null ? [] : [`customer ${account.customer}`]),
  ]
}

/** Null for callers without an account: their settlements are not counted. */
export const readQuotaClaim = (
  { account }: Pick<FastifyRequest, 'account'>,
  tiers: Tiers,
): QuotaClaim | null =>
  account === null
    ? null
    : { accountId: account.id, customer: account.customer, tier: getTier(tiers, account.tier) }
