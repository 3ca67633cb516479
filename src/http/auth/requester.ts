import type { FastifyRequest } from 'fastify'
import { readClientNetworks } from '../../platform/clientNetwork.js'
import type { Requester } from '../../ports/requester.js'

/** The account of a caller with a key, else its address. */
export const readRequester = ({ account, ip }: Pick<FastifyRequest, 'account' | 'ip'>): Requester => {
  if (account != null) return { name: account.id, site: null }
  const { network, site } = readClientNetworks(ip)
  return { name: network, site }
}
