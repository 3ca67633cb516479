import { z } from 'zod'
import { collectBallots, passesCrossCheck, type Vote } from '../../nodes/crossCheck.js'
import type { Endpoint } from '../../nodes/endpoint.js'
import { readClock } from '../rpc/clock.js'
import type { Rpc } from '../rpc/rpc.js'
import { inContext, statusesShape } from '../rpc/wireShapes.js'

interface RecordedTransaction {
  readonly transaction: string
  readonly blockhash: string
  readonly recordedAfter: Date
  /** Above the cross-check amount: every healthy endpoint must agree, and two at least where two are configured. */
  readonly isCrossChecked: boolean
}

// Allowance for clock differences and for the time until finality.
const slackMs = 30_000

/**
 * Proves that a transaction can no longer land. On one endpoint: a finalized block after the recording in
 * which the blockhash is no longer valid, and after that no status for the transaction. The local clock must
 * agree, and no other endpoint may contradict; above the cross-check amount all healthy ones must prove it.
 */
export const hasExpired = async (rpc: Rpc, recorded: RecordedTransaction, now: Date): Promise<boolean> => {
  if (now.getTime() < recorded.recordedAfter.getTime() + slackMs) return false
  const ballots = await collectBallots(rpc.listWitnesses(), (endpoint) =>
    checkEndpoint(endpoint, recorded).catch((): Vote => 'unknown'),
  )
  const votes = ballots.map(({ vote }) => vote)
  if (!votes.includes('confirms') || votes.includes('contradicts')) return false
  if (!recorded.isCrossChecked) return true
  return passesCrossCheck({ ballots, endpoints: rpc.endpoints, outcome: 'failure' })
}

const validityShape = inContext(z.boolean())

/** `confirms`: in none of the node's blocks and in none that can follow. `contradicts`: may still land. */
const checkEndpoint = async (
  endpoint: Endpoint,
  { transaction, blockhash, recordedAfter }: RecordedTransaction,
): Promise<Vote> => {
  const clock = await readClock(endpoint, 'finalized')
  // Earlier, the node may not know the blockhash yet.
  if (clock.timestamp * 1_000 < recordedAfter.getTime() + slackMs) return 'contradicts'
  const params = [blockhash, { commitment: 'finalized', minContextSlot: clock.slot }]
  const { value: isUsable, context } = await endpoint.request('isBlockhashValid', params, validityShape)
  if (isUsable) return 'contradicts'
  if (context.slot < clock.slot || !(await hasLedgerSince(endpoint, recordedAfter))) return 'unknown'
  // Queried last: every block in which the transaction could have landed is known by now.
  const statusParams = [[transaction], { searchTransactionHistory: true }]
  const statuses = await endpoint.request('getSignatureStatuses', statusParams, statusesShape)
  // A load balancer may have answered from a node that is behind.
  if (statuses.context.slot < clock.slot) return 'unknown'
  return statuses.value[0] === null ? 'confirms' : 'contradicts'
}

/** Only a node that still has the blocks of that time can deny the transaction. */
const hasLedgerSince = async (endpoint: Endpoint, since: Date): Promise<boolean> => {
  const first = await endpoint.request('getFirstAvailableBlock', [], z.int())
  const time = await endpoint.request('getBlockTime', [first], z.int().nullable())
  return time !== null && time * 1_000 <= since.getTime()
}
