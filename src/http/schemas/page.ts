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

export const pageLimit = integerText(/^[1-9][0-9]{0,2}$/, 1, 200)

export const pageQuery = z.strictObject({
  limit: pageLimit.default(50).meta({ description: 'Page size, 1 to 200; default 50', examples: [50] }),
  cursor: uuidText.optional().meta({ description: '`nextCursor` of the previous page' }),
})
