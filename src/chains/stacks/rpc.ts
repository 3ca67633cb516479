import { Cl } from '@stacks/transactions'
import { z } from 'zod'
import { type Ask, askOrNull } from '../common/direct/node.js'
import { type Endpoint, expecting } from '../nodes/endpoint.js'
import type { Proof } from '../nodes/endpointHealth.js'

const notFound = 404

/** What the API returns unless asked for less. */
const eventsPerPage = 96
const maxPages = 20

export const proveChain = async ({ request }: Endpoint): Promise<Proof> => {
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

type FoundTransaction =
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

const whole = z.int().nonnegative()

const infoShape = z.object({ network_id: whole })

/** Newest block first. */
const blocksShape = z.object({
  results: z
    .array(
      z.object({ canonical: z.literal(true), height: whole, block_time: whole, burn_block_height: whole }),
    )
    .length(1),
})

export interface Tip {
  readonly height: number
  readonly burnHeight: number
  /** Unix seconds. */
  readonly time: number
}

const eventShape = z.discriminatedUnion('event_type', [
  z.object({
    event_type: z.literal('fungible_token_asset'),
    event_index: whole,
    asset: z.object({
      asset_event_type: z.string(),
      /** `<contract>::<token>`. */
      asset_id: z.string().max(400),
      sender: z.string().max(200).default(''),
      recipient: z.string().max(200).default(''),
      // A u128.
      amount: z
        .string()
        .regex(/^[0-9]{1,39}$/)
        .transform(BigInt),
    }),
  }),
  z.object({
    event_type: z.literal('smart_contract_log'),
    event_index: whole,
    contract_log: z.object({
      contract_id: z.string().max(200),
      topic: z.string(),
      value: z.object({ hex: z.string() }),
    }),
  }),
  z.object({
    event_type: z.enum(['stx_lock', 'stx_asset', 'non_fungible_token_asset']),
    event_index: whole,
  }),
])

export type TransactionEvent = z.infer<typeof eventShape>

const minedShape = z.object({
  tx_status: z.enum(['success', 'abort_by_response', 'abort_by_post_condition']),
  sender_address: z.string().max(200),
  canonical: z.boolean(),
  microblock_canonical: z.boolean(),
  is_unanchored: z.boolean(),
  block_hash: z.string().regex(/^0x[0-9a-f]{64}$/),
  block_height: whole,
  /** Unix seconds. */
  block_time: z.int().positive(),
  burn_block_height: whole,
  event_count: whole,
  events: z.array(eventShape),
})

const unminedShape = z.object({
  tx_status: z.union([z.literal('pending'), z.templateLiteral(['dropped_', z.string()])]),
})

export type MinedTransaction = z.infer<typeof minedShape>

const transactionShape = z.object({ tx_id: z.string() }).and(z.union([minedShape, unminedShape]))

/** The answer must be about this transaction. */
const transactionShapeOf = (id: string) =>
  expecting(
    transactionShape,
    (transaction) => (transaction.tx_id === id ? transaction : undefined),
    'of another transaction',
  )

const contractShape = z.object({ fungible_tokens: z.array(z.object({ name: z.string().max(200) })) })

// `(ok uint)`, serialized: two bytes of types and a u128.
const okUintForm = /^0x0701([0-9a-f]{32})$/

export const balanceShape = z
  .object({ okay: z.literal(true), result: z.string().regex(okUintForm) })
  .transform(({ result }) => BigInt(result.replace(okUintForm, '0x$1')))

export const feeRateShape = whole.transform(BigInt)
