import { z } from 'zod'

export const wholeNumber = (minimum: number, maximum: number) =>
  z
    .string()
    .regex(/^[0-9]{1,15}$/, 'must be a whole number')
    .transform(Number)
    .refine((value) => value >= minimum && value <= maximum, `must be between ${minimum} and ${maximum}`)

/** At most six digits after the point, so that millionths are whole. */
export const decimalNumber = (maximum: number) =>
  z
    .string()
    .regex(/^[0-9]{1,9}(\.[0-9]{1,6})?$/, 'must be a number such as 0.1, with at most six decimals')
    .transform(Number)
    .refine((value) => value <= maximum, `must be at most ${maximum}`)
