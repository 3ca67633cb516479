import type { z } from 'zod'

/** A JSON answer, as the reference describes it and the serializer writes it. */
export const answer = <Schema extends z.ZodType>(description: string, schema: Schema) => ({
  description,
  content: { 'application/json': { schema } },
})
