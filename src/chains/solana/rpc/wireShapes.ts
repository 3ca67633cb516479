import { z } from 'zod'

const base64Data = z.tuple([z.string(), z.string()]).transform(([text]) => Buffer.from(text, 'base64'))

export const accountShape = z.object({ lamports: z.number(), owner: z.string(), data: base64Data }).nullable()

export type Account = NonNullable<z.infer<typeof accountShape>>

export const inContext = <Shape extends z.ZodType>(value: Shape) =>
  z.object({ context: z.object({ slot: z.int() }), value })

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

export const statusesShape = inContext(z.array(statusShape))

export type Status = NonNullable<z.infer<typeof statusShape>>

export const blockShape = z.object({ blockhash: z.string() }).nullable()
