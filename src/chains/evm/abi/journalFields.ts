import { z } from 'zod'
import { readAddress } from './address.js'

/* Forms of values in the journal's `details`. */

export const wholeNumberField = z
  .string()
  .regex(/^[0-9]{1,78}$/)
  .transform((text) => BigInt(text))

/** To EIP-55 form. */
export const addressField = z.string().transform((text, context) => {
  const address = readAddress(text)
  if (address !== null) return address
  context.addIssue('must be an EVM address')
  return z.NEVER
})
