import { z } from 'zod'

/*
 * Octez nodes and TzKT have no request in common. Each endpoint therefore offers four requests of ours, `head`,
 * `operation`, `token` and `balance`, and reads the chain in its own way: failover and cross-checks treat both kinds alike.
 */

/** Blocks on top of an operation's block, after which it is final under Tenderbake. */
export const blocksOnTop = 2

export const headShape = z.object({ chainId: z.string(), level: z.int().nonnegative(), time: z.date() })

export const operationQuery = z.object({
  hash: z.string(),
  /** The search may end at blocks before this time. */
  notBefore: z.date(),
})

export const tokenQuery = z.object({ contract: z.string(), tokenId: z.string() })

export const balanceQuery = tokenQuery.extend({ owner: z.string() })

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

/** What the family reads from one kind of node. */
export interface Source {
  getHead(): Promise<z.infer<typeof headShape>>
  findOperation(query: z.infer<typeof operationQuery>): Promise<FoundOperation>
  /** Whether the contract can have the FA2 token. */
  hasToken(query: z.infer<typeof tokenQuery>): Promise<boolean>
  /** Reads an FA2 token in the newest block; 0 for an owner that the token does not know. */
  readBalance(query: z.infer<typeof balanceQuery>): Promise<bigint>
}

/** One GET of an endpoint, or a POST with a body; throws without a valid response. */
export type Read = <Schema extends z.ZodType>(
  path: string,
  shape: Schema,
  body?: unknown,
) => Promise<z.infer<Schema>>

export const timeShape = z.iso.datetime().transform((text) => new Date(text))

export const blockHashShape = z.string().regex(/^B[1-9A-HJ-NP-Za-km-z]{50}$/)

export const operationHashShape = z.string().regex(/^o[1-9A-HJ-NP-Za-km-z]{50}$/)

export const statusShape = z.enum(['applied', 'failed', 'backtracked', 'skipped'])

export const naturalShape = z.string().regex(/^\d{1,78}$/)

/** The decoded parameter of `transfer` (TZIP-12), as a list of its entries. `natural`: how its numbers are read. */
export const transferShapeOf = (natural: z.ZodType<string>) =>
  z
    .array(
      z.object({
        from_: z.string(),
        txs: z.array(z.object({ to_: z.string(), token_id: natural, amount: natural })),
      }),
    )
    .transform((batches) =>
      batches.flatMap(({ from_, txs }) =>
        txs.map(({ to_, token_id, amount }) => ({
          from: from_,
          to: to_,
          tokenId: token_id,
          amount: BigInt(amount),
        })),
      ),
    )
