import { z } from 'zod'

/** A setting that is a whole number within bounds, written in decimal digits. */
export const wholeNumber = (minimum: number, maximum: number) =>
  z
    .string()
    .regex(/^[0-9]{1,15}$/, 'must be a whole number')
    .transform(Number)
    .refine((value) => value >= minimum && value <= maximum, `must be between ${minimum} and ${maximum}`)
