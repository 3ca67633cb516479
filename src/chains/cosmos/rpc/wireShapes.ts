import { QueryAccountInfoResponse } from 'cosmjs-types/cosmos/auth/v1beta1/query'
import { QueryBalanceResponse, QuerySupplyOfResponse } from 'cosmjs-types/cosmos/bank/v1beta1/query'
import { ConfigResponse } from 'cosmjs-types/cosmos/base/node/v1beta1/query'
import { z } from 'zod'
import { sha256, toHash } from '../encoding/hash.js'
import { computeRoot } from '../encoding/inclusionProof.js'

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

/**
 * Of the transaction with this hash (upper-case hex). `dataHash` is what the header of its block must hold, computed from
 * the bytes and the node's proof.
 */
export const transactionShapeOf = (hash: string) =>
  z
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
      if (toHash(digest) !== hash) {
        context.addIssue({ code: 'custom', message: 'The bytes are those of another transaction' })
        return z.NEVER
      }
      const root = computeRoot(digest, proof.proof)
      if (root === null) {
        context.addIssue({ code: 'custom', message: 'The inclusion proof is malformed' })
        return z.NEVER
      }
      return { height, bytes: tx, code: tx_result.code, events: tx_result.events, dataHash: toHash(root) }
    })

export type FoundTransaction = z.infer<ReturnType<typeof transactionShapeOf>>

/** Accepts the block at this height that holds these transactions; anything else is no valid response. */
export const commitShapeOf = (expected: {
  readonly chainId: string
  readonly height: number
  readonly dataHash: string
}) =>
  z
    .object({
      signed_header: z.object({
        header: z.object({
          chain_id: z.literal(expected.chainId),
          height: z.literal(`${expected.height}`),
          time: z.iso.datetime(),
          data_hash: z.literal(expected.dataHash),
        }),
      }),
    })
    .transform(({ signed_header: { header } }) => ({ time: new Date(header.time) }))

export const statusShape = z.object({
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
  z
    .object({ response: z.object({ code: z.literal(0), value: bytes.nullish() }) })
    .transform(({ response: { value } }, context) => {
      const decoded = tryDecode(() => decode(value ?? Buffer.alloc(0)))
      if (decoded !== null) return decoded
      context.addIssue({ code: 'custom', message: 'is no response to the query' })
      return z.NEVER
    })

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

export const supplyShapeOf = (denom: string) =>
  queryShapeOf((response) => {
    const { amount: supply } = QuerySupplyOfResponse.decode(response)
    return supply?.denom === denom && amountForm.test(supply.amount) ? BigInt(supply.amount) : null
  })

export const accountNumberShapeOf = (address: string) =>
  queryShapeOf((response) => {
    const { info } = QueryAccountInfoResponse.decode(response)
    return info?.address === address ? info.accountNumber : null
  })

/** Prices of gas below which the node passes no transaction on, as it writes them: `0.1uusdc,0.01stake`. */
export const minimumGasPriceShape = queryShapeOf((response) =>
  ConfigResponse.decode(response).minimumGasPrice.slice(0, maxPriceLength),
)

const maxPriceLength = 1_000
