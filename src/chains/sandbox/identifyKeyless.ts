import { createHash } from 'node:crypto'
import { type Fields, isFields } from '../../protocol/fields.js'
import type { Payment } from '../../protocol/payment.js'

const windowMs = 600_000

/**
 * Authorization id of a payment that no key signed. A nonce or a transaction identifies it. Without one the whole payment
 * does, for ten minutes: a retry is the same authorization, and what one caller sent is not spent for all others.
 */
export const identifyKeyless = (payment: Payment, payer: string, now: Date): string => {
  const { network } = payment.requirements
  const nonce = findNonce(payment.proof)
  const identity = nonce ?? `${Math.floor(now.getTime() / windowMs)} ${toCanonicalJson(describe(payment))}`
  return `${network}/sandbox/${payer}/${createHash('sha256').update(identity).digest('hex')}`
}

// A permit's nonces count from 0 for each owner, and a fixed payer is an owner that all callers share.
const leastLength = 8

const findNonce = (proof: Payment['proof']): string | null => {
  const { authorization, permit2Authorization } = proof
  const forms = [proof, authorization, permit2Authorization].filter(isFields)
  const nonces = [
    ...forms.map(({ nonce }) => nonce),
    proof.paymentNonce,
    ...transactionFields.map((field) => proof[field]),
  ]
  const found = nonces.find((each) => typeof each === 'string' && each.length >= leastLength)
  if (typeof found !== 'string') return null
  // Hex has no letter case; base64 has.
  return found.startsWith('0x') ? found.toLowerCase() : found
}

const transactionFields = ['transaction', 'signedTransaction', 'signedBoc', 'settlementBoc'] as const

const describe = ({ proof, requirements, resource }: Payment) => ({
  proof,
  requirements: { ...requirements, amount: `${requirements.amount}`, minAmount: `${requirements.minAmount}` },
  resource,
})

/** Independent of the order of keys. */
const toCanonicalJson = (value: unknown): string => {
  try {
    return JSON.stringify(value, (_key, each: unknown) => (isFields(each) ? sortKeys(each) : each))
  } catch {
    // Nested too deeply: no payload of a client is.
    return ''
  }
}

const sortKeys = (fields: Fields): Fields =>
  Object.fromEntries(Object.entries(fields).sort(([left], [right]) => (left < right ? -1 : 1)))
