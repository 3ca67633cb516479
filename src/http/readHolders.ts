import type { FastifyRequest } from 'fastify'
import { readClientNetworks } from '../platform/clientNetwork.js'

/** Who holds what a request occupies: its IPv4 address or IPv6 /64, the /48 around it, and its customer. */
export const readHolders = ({ ip, account }: Pick<FastifyRequest, 'ip' | 'account'>): readonly string[] => {
  const { network, site } = readClientNetworks(ip)
  return [
    `address ${network}`,
    ...(site === null ? [] : [`site ${site}`]),
    ...(account === null ? [] : [`customer ${account.customer}`]),
  ]
}
