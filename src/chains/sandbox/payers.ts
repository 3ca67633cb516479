import { createHash } from 'node:crypto'
import type { Clock } from '../../ports/clock.js'
import type { SandboxScenarios } from '../../ports/sandbox.js'
import { type Fields, isFields } from '../../protocol/fields.js'
import type { Payment } from '../../protocol/payment.js'
import type { OfflineScheme } from '../../schemes/offlineScheme.js'
import type { FixedPayer, FixedScript } from './fixedPayers.js'

// The longest form of an address has 67 characters.
const maxLength = 100

/**
 * Every payer that a payment names, in the form of answers: first where clients of the scheme name it, then in the
 * fields for payloads that are written by hand.
 */
export const listNamedPayers = (
  payment: Payment,
  { findPayer, network: { forms } }: Pick<OfflineScheme, 'findPayer' | 'network'>,
): readonly string[] => {
  const { proof, statedPayer } = payment
  const { authorization, payer } = proof
  const stated = [payer, isFields(authorization) ? authorization.payer : undefined, statedPayer].map(
    (text) => (typeof text === 'string' && text.length <= maxLength ? forms.readAddress(text) : null),
  )
  return [...new Set([findPayer(payment), ...stated].filter((each) => each !== null))]
}

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

/** The script of a payer without a key, and the clock on which it runs. */
export interface Scripted {
  readonly payer: string
  readonly script: FixedScript
  /** Null: the service's clock. */
  readonly scenarioId: string | null
  readonly nowMs: number
}

/**
 * Null if no script decides. A fixed payer may be named anywhere; of scenarios only the first payer counts, whose
 * authorization id the payment has: another's could be spent otherwise.
 */
type FindScript = (payers: readonly string[]) => Promise<Scripted | null>

export const createFindScript =
  ({
    network,
    fixed,
    scenarios,
    clock,
  }: {
    readonly network: string
    readonly fixed: readonly FixedPayer[]
    readonly scenarios: SandboxScenarios | undefined
    readonly clock: Pick<Clock, 'now'>
  }): FindScript =>
  async (payers) => {
    const known = fixed.find(({ address }) => payers.includes(address))
    if (known !== undefined) {
      const { address: payer, script } = known
      return { payer, script, scenarioId: null, nowMs: clock.now().getTime() }
    }
    const [payer] = payers
    const scenario = payer === undefined ? null : ((await scenarios?.findByPayer(network, payer)) ?? null)
    if (scenario === null || payer === undefined) return null
    const script = { ...scenario.script, settleRefusal: null, delayMs: 0 }
    return { payer, script, scenarioId: scenario.id, nowMs: scenario.clockMs }
  }
