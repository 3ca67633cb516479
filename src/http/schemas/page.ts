import { z } from 'zod'

/** As stored: lower case. */
export const uuidText = z.uuid().transform((text) => text.toLowerCase())

export const pageLimit = z
  .string()
  .regex(/^[1-9][0-9]{0,2}$/)
  .transform(Number)
  .pipe(z.int().min(1).max(200))

export const pageQuery = z.object({
  limit: pageLimit.default(50).meta({ description: 'Page size, 1 to 200; default 50', examples: ['50'] }),
  cursor: uuidText.optional().meta({ description: '`nextCursor` of the previous page' }),
})
