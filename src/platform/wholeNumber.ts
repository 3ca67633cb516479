import { z } from 'zod'

export const wholeNumber = (minimum: number, maximum: number) =>
  z
    .string()
    .regex(/^[0-9]{1,15}$/, 'must be a whole number')
    .transform(Number)
    .refine((value) => value >= minimum && value <= maximum, `must be between ${minimum} and ${maximum}`)
