import { AppError } from '../../../errors.js'
import type {
  DirectChain,
  DirectTransfer,
  LookUp,
  LookUpQuery,
} from '../../../schemes/exactDirect/directChain.js'
import { canCrossCheck, collectBallots, passesCrossCheck, type Vote } from '../../nodes/crossCheck.js'
import type { Endpoint } from '../../nodes/endpoint.js'
import type { Ask, DirectNode } from './node.js'

/** Reads through `ask`: the network's endpoints as one, or a single endpoint. */
export type ReadTransaction = (query: LookUpQuery, ask: Ask) => Promise<LookUp>

/**
 * Adds to a look-up what all networks share: from the cross-check amount on, and where nothing that was signed shows
 * the transfers, endpoints must agree, else the transaction is `pending`; and while the endpoints lag behind the
 * chain, what they do not know yet is an outage, not an answer.
 */
export const createCheckedLookUp = (
  node: DirectNode,
  read: ReadTransaction,
  crossCheckAmount: bigint,
): DirectChain['lookUp'] => {
  const { endpoints } = node

  const isAgreed = async (query: LookUpQuery, found: LookUp): Promise<boolean> => {
    const ballots = await collectBallots(node.listWitnesses(), async (endpoint) =>
      voteOn(await read(query, askOnly(endpoint)), found),
    )
    return passesCrossCheck({
      ballots,
      endpoints,
      outcome: found.state === 'failed' ? 'failure' : 'success',
    })
  }

  /** The newest known block is old also where no round has asked for a newer one: then the endpoints are asked. */
  const readFresh = async (query: LookUpQuery): Promise<LookUp> => {
    const found = await read(query, node.ask)
    if (!isUndecided(found) || node.isFresh()) return found
    await node.refresh()
    const again = node.isFresh() ? await read(query, node.ask) : found
    if (!isUndecided(again) || node.isFresh()) return again
    throw new AppError('SERVICE_UNAVAILABLE', `The nodes of ${node.network} lag behind the chain`, {
      operationalCode: 'SVC-2004',
      retryAfterSeconds: 10,
    })
  }

  return async (query) => {
    const found = await readFresh(query)
    if (isUndecided(found)) return found
    const isUnverified = found.state === 'successful' && found.isUnverified === true
    const isNeeded = isUnverified || countAtStake(query, found) >= crossCheckAmount
    if (!isNeeded || !canCrossCheck(endpoints)) return found
    if (!(await isAgreed(query, found))) return { state: 'pending' }
    return isUnverified ? { ...found, isUnverified: false } : found
  }
}

const isUndecided = ({ state }: LookUp): boolean => state === 'missing' || state === 'pending'

const askOnly =
  (endpoint: Endpoint): Ask =>
  (method, params, schema) =>
    endpoint.request(method, params, schema)

/** The larger of what is required and what would be credited: a surplus is recorded as paid too. */
const countAtStake = ({ asset, from, to, amount }: LookUpQuery, found: LookUp): bigint => {
  const transfers = found.state === 'successful' ? found.transfers : []
  const credited = transfers
    .filter((transfer) => transfer.asset === asset && transfer.from === from && transfer.to === to)
    .reduce((sum, transfer) => sum + transfer.amount, 0n)
  return credited > amount ? credited : amount
}

const voteOn = (reported: LookUp, found: LookUp): Vote => {
  if (isUndecided(reported)) return 'unknown'
  return isSameEvidence(reported, found) ? 'confirms' : 'contradicts'
}

const isSameEvidence = (left: LookUp, right: LookUp): boolean => {
  if (left.state !== 'successful' || right.state !== 'successful') return left.state === right.state
  return (
    left.includedAt.getTime() === right.includedAt.getTime() &&
    describeAll(left.transfers) === describeAll(right.transfers)
  )
}

/** Independent of order. */
const describeAll = (transfers: readonly DirectTransfer[]): string =>
  transfers
    .map(({ asset, from, to, amount, memo }) => JSON.stringify([asset, from, to, `${amount}`, memo]))
    .toSorted()
    .join()
