import type { Endpoint } from '../../nodes/endpoint.js'
import { headerShape, receiptShapeOf } from '../rpc/wireShapes.js'

// Behind one address there may be several nodes, of which one is late: what all of them have is older than this.
const slackMs = 30_000

/**
 * Whether it is proven that a transaction stands in no block and never will. A block takes only what expires after
 * its parent's time; so behind a solid block of that time or later nothing more can come. Every node has to say so,
 * of its own chain: first how far it is solid, and then that the transaction is not in it.
 */
export const hasExpired = async (
  witnesses: readonly Endpoint[],
  transaction: string,
  expiration: number,
): Promise<boolean> => {
  if (witnesses.length === 0) return false
  const verdicts = await Promise.all(
    witnesses.map((endpoint) => confirmsExpiry(endpoint, transaction, expiration).catch(() => false)),
  )
  return verdicts.every((isDead) => isDead)
}

const confirmsExpiry = async (
  endpoint: Endpoint,
  transaction: string,
  expiration: number,
): Promise<boolean> => {
  const solid = await endpoint.request('/walletsolidity/getblock', { detail: false }, headerShape)
  if (solid === null || solid.timestamp < expiration + slackMs) return false
  const ask = (view: string) =>
    endpoint.request(`/${view}/gettransactioninfobyid`, { value: transaction }, receiptShapeOf(transaction))
  const [found, foundSolid] = await Promise.all([ask('wallet'), ask('walletsolidity')])
  return found === null && foundSolid === null
}
