import { Cl } from '@stacks/transactions'
import type { z } from 'zod'
import type { Logger } from '../../../ports/logger.js'
import { type Ask, askOrNull, createDirectNode, type DirectNode } from '../../common/direct/node.js'
import type { Endpoint } from '../../nodes/endpoint.js'
import type { Proof } from '../../nodes/endpointHealth.js'
import { createRestEndpoint } from '../../nodes/pathEndpoint.js'
import type { StacksNetworkSettings } from '../settings.js'
import {
  balanceShape,
  blocksShape,
  contractShape,
  feeRateShape,
  infoShape,
  type MinedTransaction,
  type Tip,
  type TransactionEvent,
  transactionShapeOf,
} from './wireShapes.js'

// Blocks follow each other within seconds, but wait for Bitcoin when signers change.
const maxHeadAgeSeconds = 1_800

const notFound = 404

/** What the API returns unless asked for less. */
const eventsPerPage = 96
const maxPages = 20

export const createNode = (
  { network, chainId, rpcUrls, apiKey }: StacksNetworkSettings,
  { timeoutMs, logger }: { readonly timeoutMs: number; readonly logger: Logger },
): DirectNode => {
  const headers = apiKey === null ? {} : { 'x-api-key': apiKey }
  return createDirectNode(
    rpcUrls.map((url) => createRestEndpoint(url, timeoutMs, headers)),
    { network, chain: chainId, prove, maxHeadAgeSeconds, logger },
  )
}

const prove = async ({ request }: Endpoint): Promise<Proof> => {
  const [info, tip] = await Promise.all([request('/v2/info', null, infoShape), getTip(request)])
  return {
    chain: String(info.network_id),
    head: { number: BigInt(tip.height), timestamp: tip.time },
  }
}

export const getTip = async (ask: Ask): Promise<Tip> => {
  const { results } = await ask('/extended/v2/blocks?limit=1', null, blocksShape)
  const [newest] = results
  if (newest === undefined) throw new Error('The API returned no block')
  return { height: newest.height, burnHeight: newest.burn_block_height, time: newest.block_time }
}

export type FoundTransaction =
  | { readonly state: 'missing' | 'pending' }
  | { readonly state: 'mined'; readonly mined: MinedTransaction }

/** With the first page of its events. The id is in normal form. */
export const findTransaction = async (ask: Ask, id: string): Promise<FoundTransaction> => {
  const found = await findOrNull(ask, pathOf(id, 0), transactionShapeOf(id))
  // What the mempool dropped can be sent again.
  if (found === null) return { state: 'missing' }
  if (!('events' in found)) return { state: found.tx_status === 'pending' ? 'pending' : 'missing' }
  return { state: 'mined', mined: found }
}

/** All events; null if there are more than any payment has. */
export const listEvents = async (
  ask: Ask,
  id: string,
  { events, event_count: count, block_hash: block }: MinedTransaction,
): Promise<readonly TransactionEvent[] | null> => {
  if (count > eventsPerPage * maxPages) return null
  const all = [...events]
  while (all.length < count) {
    const page = await ask(pathOf(id, all.length), null, transactionShapeOf(id))
    if (!('events' in page) || page.block_hash !== block || page.events.length === 0) {
      throw new Error('The API returned the events of a transaction incompletely')
    }
    all.push(...page.events)
  }
  const isComplete = all.length === count && all.every(({ event_index: index }, place) => index === place)
  if (!isComplete) throw new Error('The API returned the events of a transaction out of order')
  return all
}

/** Names of the fungible tokens that a contract defines; null if there is no such contract. */
export const findTokenNames = async (ask: Ask, contract: string): Promise<readonly string[] | null> => {
  const path = `/v2/contracts/interface/${contract.replace('.', '/')}`
  const found = await findOrNull(ask, path, contractShape)
  return found?.fungible_tokens.map(({ name }) => name) ?? null
}

/** `get-balance` (SIP-010) in the newest block; 0 for principals that the token does not know. */
export const readTokenBalance = (
  ask: Ask,
  { contract, owner }: { readonly contract: string; readonly owner: string },
): Promise<bigint> => {
  const path = `/v2/contracts/call-read/${contract.replace('.', '/')}/get-balance`
  const call = { sender: owner, arguments: [`0x${Cl.serialize(Cl.principal(owner))}`] }
  return ask(path, call, balanceShape)
}

/** In microSTX per byte of a transaction. */
export const readFeeRate = (ask: Ask): Promise<bigint> => ask('/v2/fees/transfer', null, feeRateShape)

const pathOf = (id: string, offset: number): string =>
  `/extended/v1/tx/${id}?event_limit=${eventsPerPage}&event_offset=${offset}`

const findOrNull = <Schema extends z.ZodType>(ask: Ask, path: string, schema: Schema) =>
  askOrNull(ask, { method: path, params: null, schema, isVerdict: ({ code }) => code === notFound })
