import { AppError } from '../../../errors.js'
import type {
  DirectChain,
  DirectTransfer,
  LookUp,
  LookUpQuery,
} from '../../../schemes/exactDirect/directChain.js'
import { canCrossCheck, passesCrossCheck, type Vote } from '../../nodes/crossCheck.js'
import type { Endpoint } from '../../nodes/endpoint.js'
import type { Ask, DirectNode } from './node.js'

/** Reads through `ask`: the network's endpoints as one, or a single endpoint. */
export type ReadTransaction = (query: LookUpQuery, ask: Ask) => Promise<LookUp>

/**
 * Adds to a look-up what all networks share: from the cross-check amount on, endpoints must agree, else the transaction is
 * `pending`; and while the endpoints lag behind the chain, what they do not know yet is an outage, not an answer.
 */
export const createCheckedLookUp = (
  node: DirectNode,
  read: ReadTransaction,
  crossCheckAmount: bigint,
): DirectChain['lookUp'] => {
  const configured = node.endpoints.length

  const isAgreed = async (query: LookUpQuery, found: LookUp): Promise<boolean> => {
    const votes = await Promise.all(
      node.listWitnesses().map((endpoint) => voteOf(read(query, askOnly(endpoint)), found)),
    )
    return passesCrossCheck({
      votes,
      configured,
      outcome: found.state === 'failed' ? 'failure' : 'success',
    })
  }

  return async (query) => {
    const found = await read(query, node.ask)
    if (found.state === 'missing' || found.state === 'pending') {
      if (node.isFresh()) return found
      throw new AppError('SERVICE_UNAVAILABLE', `The nodes of ${node.network} lag behind the chain`, {
        operationalCode: 'SVC-2004',
        retryAfterSeconds: 10,
      })
    }
    if (query.amount < crossCheckAmount || !canCrossCheck(configured)) return found
    return (await isAgreed(query, found)) ? found : { state: 'pending' }
  }
}

const askOnly =
  (endpoint: Endpoint): Ask =>
  (method, params, schema) =>
    endpoint.request(method, params, schema)

const voteOf = async (reading: Promise<LookUp>, found: LookUp): Promise<Vote> => {
  try {
    const reported = await reading
    if (reported.state === 'missing' || reported.state === 'pending') return 'unknown'
    return isSameEvidence(reported, found) ? 'confirms' : 'contradicts'
  } catch {
    return 'unreachable'
  }
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
