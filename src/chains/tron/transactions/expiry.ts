import type { Endpoint } from '../../nodes/endpoint.js'
import { headerShape, receiptShapeOf } from '../rpc/wireShapes.js'

// A load balancer may mix nodes, of which one is behind.
const slackMs = 30_000

/**
 * Proves that a transaction can no longer land: a block accepts only transactions that expire after its
 * parent's time, so none can follow a solid block at or after the expiration. Every endpoint must report such
 * a solid block first, and then that it does not know the transaction. False with fewer than `minWitnesses` endpoints.
 */
export const hasExpired = async (
  { transaction, expiration }: { readonly transaction: string; readonly expiration: number },
  witnesses: readonly Endpoint[],
  minWitnesses: number,
): Promise<boolean> => {
  if (witnesses.length < minWitnesses) return false
  const confirmations = await Promise.all(
    witnesses.map((endpoint) => confirmsExpiry(endpoint, transaction, expiration).catch(() => false)),
  )
  return confirmations.every((isExpired) => isExpired)
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
