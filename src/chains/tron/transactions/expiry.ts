import { collectBallots, passesCrossCheck, type Vote } from '../../nodes/crossCheck.js'
import type { Endpoint } from '../../nodes/endpoint.js'
import type { Rpc } from '../rpc/rpc.js'
import { headerShape, receiptShapeOf } from '../rpc/wireShapes.js'

interface RecordedTransfer {
  readonly transaction: string
  /** Unix ms. */
  readonly expiration: number
  readonly isCrossChecked: boolean
}

// A load balancer may mix nodes, of which one is behind.
const slackMs = 30_000

/**
 * Proves that a transaction can no longer land: a block accepts only transactions that expire after its
 * parent's time, so none can follow a solid block at or after the expiration. Every healthy endpoint must report such
 * a solid block first, and then that it does not know the transaction.
 */
export const hasExpired = async (
  rpc: Rpc,
  { transaction, expiration, isCrossChecked }: RecordedTransfer,
): Promise<boolean> => {
  const ballots = await collectBallots(rpc.listWitnesses(), async (endpoint): Promise<Vote> => {
    const isConfirmed = await confirmsExpiry(endpoint, transaction, expiration).catch(() => false)
    return isConfirmed ? 'confirms' : 'unknown'
  })
  if (ballots.length === 0 || ballots.some(({ vote }) => vote !== 'confirms')) return false
  return !isCrossChecked || passesCrossCheck({ ballots, endpoints: rpc.endpoints, outcome: 'failure' })
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
