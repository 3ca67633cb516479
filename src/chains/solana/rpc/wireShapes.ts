import { z } from 'zod'

const base64Data = z.tuple([z.string(), z.string()]).transform(([text]) => Buffer.from(text, 'base64'))

/** Null for an account that does not exist. */
export const accountShape = z.object({ lamports: z.number(), owner: z.string(), data: base64Data }).nullable()

/** An existing account. */
export type Account = NonNullable<z.infer<typeof accountShape>>

/** Wraps a value in an RPC response context. */
export const inContext = <Shape extends z.ZodType>(value: Shape) =>
  z.object({ context: z.object({ slot: z.int() }), value })

/** Value of simulateTransaction. */
export const simulationShape = z.object({
  err: z.unknown(),
  accounts: z.array(accountShape).nullish(),
})

const statusShape = z
  .object({
    slot: z.int(),
    err: z.unknown(),
    confirmationStatus: z.enum(['processed', 'confirmed', 'finalized']).nullish(),
  })
  .nullable()

/** Value of getSignatureStatuses, in the order of the request. */
export const statusesShape = inContext(z.array(statusShape))

/** Status of a transaction that the node knows. */
export type Status = NonNullable<z.infer<typeof statusShape>>

/** getBlock without transactions. */
export const blockShape = z.object({ blockhash: z.string() }).nullable()
