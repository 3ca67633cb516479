import { z } from 'zod'

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
