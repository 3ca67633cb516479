import { z } from 'zod'
import { splitList } from './familySettings.js'

/** Addresses of the families that sponsor payers; checksums are verified when the family opens. */
export const sponsoredForms = {
  ton: /^(?:-1|0):[0-9a-fA-F]{64}$|^[A-Za-z0-9_+/-]{48}$/,
  tron: /^T[1-9A-HJ-NP-Za-km-z]{33}$/,
} as const

/** Addresses, comma separated, or `*`. */
export const sponsoredRecipients = z.string().transform((text, context): '*' | readonly string[] => {
  const parts = splitList(text)
  if (parts.length === 1 && parts[0] === '*') return '*'
  const forms = Object.values(sponsoredForms)
  if (parts.every((part) => forms.some((form) => form.test(part)))) return parts
  context.addIssue({
    code: 'custom',
    message: 'must list addresses on TON or TRON, comma separated, or be *',
  })
  return z.NEVER
})
