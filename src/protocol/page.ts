import { z } from 'zod'

export const nextCursor = z
  .string()
  .optional()
  .meta({ description: 'For the next page; absent where there is none' })
