import { z } from 'zod'

/** As stored: lower case. */
export const uuidText = z.uuid().transform((text) => text.toLowerCase())

/** Text of a query parameter, documented as the integer that it stands for. */
export const integerText = (pattern: RegExp, minimum: number, maximum: number) =>
  z
    .string()
    .regex(pattern)
    .transform(Number)
    .pipe(z.int().min(minimum).max(maximum))
    .meta({ type: 'integer', minimum, maximum })

/** A page size. Larger ones are those of the largest page, so that callers need not know it. */
export const limitText = (maximum: number) =>
  z
    .string()
    .regex(/^[1-9][0-9]*$/, 'must be a whole number from 1 on')
    .transform((text) => Math.min(Number(text), maximum))
    .meta({ type: 'integer', minimum: 1 })

const largestPage = 200

export const pageLimit = limitText(largestPage)

export const describeLimit = (what: string, fallback: number, maximum: number = largestPage) => ({
  description: `${what}, from 1 on; at most ${maximum} are returned; default ${fallback}`,
  examples: [fallback],
})

export const pageQuery = z.strictObject({
  limit: pageLimit.default(50).meta(describeLimit('Page size', 50)),
  cursor: uuidText.optional().meta({ description: '`nextCursor` of the previous page' }),
})
