import { z } from 'zod'

/*
 * Octez nodes and TzKT have no request in common. Each endpoint therefore offers four requests of ours, `head`,
 * `operation`, `token` and `balance`, and reads the chain in its own way: failover and cross-checks treat both kinds alike.
 */

/** Blocks on top of an operation's block, after which it is final under Tenderbake. */
export const blocksOnTop = 2

export const headShape = z.object({ chainId: z.string(), level: z.int().nonnegative(), time: z.date() })

export type Head = z.infer<typeof headShape>

export const operationQuery = z.object({
  hash: z.string(),
  /** The search may end at blocks before this time. */
  notBefore: z.date(),
})

export type OperationQuery = z.infer<typeof operationQuery>

export const tokenQuery = z.object({ contract: z.string(), tokenId: z.string() })

export type TokenQuery = z.infer<typeof tokenQuery>

export const balanceQuery = tokenQuery.extend({ owner: z.string() })

export type BalanceQuery = z.infer<typeof balanceQuery>

export const balanceShape = z.bigint().nonnegative()

const entryShape = z.object({
  from: z.string(),
  to: z.string(),
  tokenId: z.string(),
  amount: z.bigint().nonnegative(),
})

/** One transfer in the parameter of a call of an FA2 contract's `transfer`. */
export type TransferEntry = z.infer<typeof entryShape>

const callShape = z.object({
  /** The account that signed. */
  source: z.string(),
  destination: z.string(),
  entries: z.array(entryShape),
})

/** A content of the operation that calls `transfer`; calls between contracts are none. */
export type TransferCall = z.infer<typeof callShape>

/** `pending`: in a block that is not final, or not found in the part of the chain that was searched so far. */
export const foundShape = z.discriminatedUnion('state', [
  z.object({ state: z.enum(['missing', 'pending']) }),
  z.object({
    state: z.literal('final'),
    includedAt: z.date(),
    /** Whether every content was applied; one that was not undoes all others. */
    isApplied: z.boolean(),
    calls: z.array(callShape),
  }),
])

export type FoundOperation = z.infer<typeof foundShape>
