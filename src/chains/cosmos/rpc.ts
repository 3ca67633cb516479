import { QueryAccountInfoRequest, QueryAccountInfoResponse } from 'cosmjs-types/cosmos/auth/v1beta1/query'
import {
  QueryBalanceRequest,
  QueryBalanceResponse,
  QuerySupplyOfRequest,
  QuerySupplyOfResponse,
} from 'cosmjs-types/cosmos/bank/v1beta1/query'
import { ConfigResponse } from 'cosmjs-types/cosmos/base/node/v1beta1/query'
import { z } from 'zod'
import { type Ask, askOrNull } from '../common/direct/node.js'
import { type Endpoint, expecting, type RpcError } from '../nodes/endpoint.js'
import type { Proof } from '../nodes/endpointHealth.js'
import { sha256, toHash } from './addresses.js'
import { computeRoot } from './inclusionProof.js'

/** How an endpoint proves which chain it serves. Throws if it is catching up, or does not index transactions. */
export const proveChain = async (endpoint: Endpoint): Promise<Proof> => {
  const { node_info, sync_info } = await endpoint.request('status', {}, statusShape)
  if (sync_info.catching_up) throw new Error('The node is catching up')
  if (node_info.other?.tx_index === 'off') throw new Error('The node does not index transactions')
  return {
    chain: node_info.network,
    head: {
      number: BigInt(sync_info.latest_block_height),
      timestamp: Math.floor(Date.parse(sync_info.latest_block_time) / 1_000),
    },
  }
}

/**
 * Of CometBFT's errors only this one is an answer. Without an index of transactions a node fails otherwise, and knows
 * nothing.
 */
const isMissing = ({ message, data }: RpcError, transaction: string): boolean =>
  `${message} ${typeof data === 'string' ? data : ''}`.toUpperCase().includes(`TX (${transaction}) NOT FOUND`)

/** With its inclusion proof. Null: no block of the node holds it. */
export const findTransaction = (ask: Ask, transaction: string): Promise<FoundTransaction | null> =>
  askOrNull(ask, {
    method: 'tx',
    params: { hash: Buffer.from(transaction, 'hex').toString('base64'), prove: true },
    schema: transactionShapeOf(transaction),
    isVerdict: (error) => isMissing(error, transaction),
  })

/** The header of the block that holds the transaction. `commit` has no transactions, unlike `block`. */
export const readHeader = (
  ask: Ask,
  expected: { readonly chainId: string; readonly height: number; readonly dataHash: string },
) => ask('commit', { height: `${expected.height}` }, commitShapeOf(expected))

/** By the bank module, in the newest block; 0 for an account that the chain does not know. */
export const readBankBalance = (
  ask: Ask,
  { denom, address }: { readonly denom: string; readonly address: string },
): Promise<bigint> => {
  const request = QueryBalanceRequest.encode(QueryBalanceRequest.fromPartial({ address, denom })).finish()
  const data = Buffer.from(request).toString('hex')
  return ask('abci_query', { path: '/cosmos.bank.v1beta1.Query/Balance', data }, balanceShapeOf(denom))
}

/** Supply of the denomination in the newest block; 0 for one that the chain does not know. */
export const readSupply = (ask: Ask, denom: string): Promise<bigint> => {
  const request = QuerySupplyOfRequest.encode(QuerySupplyOfRequest.fromPartial({ denom })).finish()
  const data = Buffer.from(request).toString('hex')
  return ask('abci_query', { path: '/cosmos.bank.v1beta1.Query/SupplyOf', data }, supplyShapeOf(denom))
}

/** Part of what the account signs; never changes. */
export const readAccountNumber = (ask: Ask, address: string): Promise<bigint> => {
  const request = QueryAccountInfoRequest.encode(QueryAccountInfoRequest.fromPartial({ address })).finish()
  const data = Buffer.from(request).toString('hex')
  return ask(
    'abci_query',
    { path: '/cosmos.auth.v1beta1.Query/AccountInfo', data },
    accountNumberShapeOf(address),
  )
}

/** As the node writes them. */
export const readMinimumGasPrices = (ask: Ask): Promise<string> =>
  ask('abci_query', { path: '/cosmos.base.node.v1beta1.Service/Config', data: '' }, minimumGasPriceShape)

// A price with at most 18 decimals, and its denomination.
const priceForm = /^([0-9]{1,20})(?:\.([0-9]{1,18}))?([a-zA-Z][a-zA-Z0-9/:._-]{2,127})$/

const scale = 18

/** Fees in one denomination, rounded up. */
interface Price {
  readonly denom: string
  feeFor(gas: bigint): bigint
}

/** Reads a list such as `0.1uusdc,0.01stake`; what has another form is left out. */
export const readGasPrices = (text: string): readonly Price[] =>
  text.split(',').flatMap((entry) => {
    const [, whole, fraction = '', denom] = priceForm.exec(entry.trim()) ?? []
    if (whole === undefined || denom === undefined) return []
    const scaled = BigInt(`${whole}${fraction.padEnd(scale, '0')}`)
    const unit = 10n ** BigInt(scale)
    return [{ denom, feeFor: (gas) => (scaled * gas + unit - 1n) / unit }]
  })

const decimal = z
  .string()
  .regex(/^[0-9]{1,15}$/)
  .transform(Number)
const bytes = z.base64().transform((text) => Buffer.from(text, 'base64'))

// A tree of 2^40 transactions.
const maxAunts = 40

const event = z.object({
  type: z.string(),
  attributes: z
    .array(z.object({ key: z.string(), value: z.string().nullish() }))
    .nullish()
    .transform((attributes) => attributes ?? []),
})

export type ChainEvent = z.infer<typeof event>

/** `dataHash` is what the header of its block must hold, computed from the bytes and the node's proof. */
const transactionShape = z
  .object({
    height: decimal,
    tx: bytes,
    tx_result: z.object({
      code: z.int().nonnegative(),
      events: z
        .array(event)
        .nullish()
        .transform((events) => events ?? []),
    }),
    proof: z.object({
      proof: z.object({
        total: decimal,
        index: decimal,
        aunts: z
          .array(bytes)
          .max(maxAunts)
          .nullish()
          .transform((aunts) => aunts ?? []),
      }),
    }),
  })
  .transform(({ height, tx, tx_result, proof }, context) => {
    const digest = sha256(tx)
    const root = computeRoot(digest, proof.proof)
    if (root === null) {
      context.addIssue({ code: 'custom', message: 'The inclusion proof is malformed' })
      return z.NEVER
    }
    const { code, events } = tx_result
    return { hash: toHash(digest), height, bytes: tx, code, events, dataHash: toHash(root) }
  })

/** Reads the transaction with this hash (upper-case hex). */
const transactionShapeOf = (expected: string) =>
  expecting(
    transactionShape,
    ({ hash, ...transaction }) => (hash === expected ? transaction : undefined),
    'The bytes are those of another transaction',
  )

export type FoundTransaction = z.infer<ReturnType<typeof transactionShapeOf>>

const commitShape = z.object({
  signed_header: z.object({
    header: z.object({
      chain_id: z.string(),
      height: z.string(),
      time: z.iso.datetime(),
      data_hash: z.string(),
    }),
  }),
})

/** Accepts the block at this height that holds these transactions; anything else is no valid response. */
const commitShapeOf = (expected: {
  readonly chainId: string
  readonly height: number
  readonly dataHash: string
}) =>
  expecting(
    commitShape,
    ({ signed_header: { header } }) =>
      header.chain_id === expected.chainId &&
      header.height === `${expected.height}` &&
      header.data_hash === expected.dataHash
        ? { time: new Date(header.time) }
        : undefined,
    'of another block',
  )

const statusShape = z.object({
  node_info: z.object({
    network: z.string().min(1).max(64),
    // Some gateways leave it out.
    other: z.object({ tx_index: z.string().optional() }).optional(),
  }),
  sync_info: z.object({
    latest_block_height: decimal,
    latest_block_time: z.iso.datetime(),
    catching_up: z.boolean(),
  }),
})

const amountForm = /^[0-9]{1,78}$/

/** Decodes the response of a module to a query. An error of the module is no answer. */
const queryShapeOf = <T>(decode: (response: Uint8Array) => T | null) =>
  expecting(
    queryShape,
    ({ response: { value } }) => tryDecode(() => decode(value ?? Buffer.alloc(0))) ?? undefined,
    'is no response to the query',
  )

const queryShape = z.object({ response: z.object({ code: z.literal(0), value: bytes.nullish() }) })

const tryDecode = <T>(decode: () => T | null): T | null => {
  try {
    return decode()
  } catch {
    return null
  }
}

export const balanceShapeOf = (denom: string) =>
  queryShapeOf((response) => {
    const { balance } = QueryBalanceResponse.decode(response)
    return balance?.denom === denom && amountForm.test(balance.amount) ? BigInt(balance.amount) : null
  })

const supplyShapeOf = (denom: string) =>
  queryShapeOf((response) => {
    const { amount: supply } = QuerySupplyOfResponse.decode(response)
    return supply?.denom === denom && amountForm.test(supply.amount) ? BigInt(supply.amount) : null
  })

const accountNumberShapeOf = (address: string) =>
  queryShapeOf((response) => {
    const { info } = QueryAccountInfoResponse.decode(response)
    return info?.address === address ? info.accountNumber : null
  })

/** Prices of gas below which the node passes no transaction on, as it writes them: `0.1uusdc,0.01stake`. */
const minimumGasPriceShape = queryShapeOf((response) =>
  ConfigResponse.decode(response).minimumGasPrice.slice(0, maxPriceLength),
)

const maxPriceLength = 1_000
