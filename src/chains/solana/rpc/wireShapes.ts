import { z } from 'zod'

const base64Data = z.tuple([z.string(), z.string()]).transform(([text]) => Buffer.from(text, 'base64'))

/** An account, or null where there is none. */
export const accountShape = z.object({ lamports: z.number(), owner: z.string(), data: base64Data }).nullable()

/** An account as a node tells it. */
export type Account = NonNullable<z.infer<typeof accountShape>>

/** An answer that says of which slot it is. */
export const inContext = <Shape extends z.ZodType>(value: Shape) =>
  z.object({ context: z.object({ slot: z.int() }), value })

/** What a simulation came to. */
export const simulationShape = z.object({
  err: z.unknown(),
  accounts: z.array(accountShape).nullish(),
})

/** What a node knows of a transaction; null of one that it does not know. */
export const statusShape = z
  .object({
    slot: z.int(),
    err: z.unknown(),
    confirmationStatus: z.enum(['processed', 'confirmed', 'finalized']).nullish(),
  })
  .nullable()

/** The statuses of several transactions, in their order. */
export const statusesShape = inContext(z.array(statusShape))

/** What a node knows of a transaction that it knows. */
export type Status = NonNullable<z.infer<typeof statusShape>>

/** A block without what is in it. */
export const blockShape = z.object({ blockhash: z.string() }).nullable()
