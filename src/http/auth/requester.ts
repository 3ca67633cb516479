import type { FastifyRequest } from 'fastify'
import { readClientNetworks } from '../../platform/clientNetwork.js'
import type { Requester } from '../../ports/rateLimiter.js'

/**
 * The customer of a key. Customers that are not proven share with those of their address: a caller that registers can name any
 * number of mailboxes. Callers without a key share with those of their address.
 */
export const readRequester = ({ account, ip }: Pick<FastifyRequest, 'account' | 'ip'>): Requester => {
  // Routes that are tested alone have no account.
  if (account?.isProven === true) return { name: account.customer, site: null }
  const { network, site } = readClientNetworks(ip)
  if (account == null) return { name: network, site }
  return { name: `unproven ${network}`, site: site === null ? null : `unproven ${site}` }
}
