import { z } from 'zod'
import type { Clock } from '../../ports/clock.js'
import type { SponsoringHistory } from '../../ports/settlementOverview.js'
import type { Reason } from '../../protocol/reasons.js'
import { splitList } from './familySettings.js'

/** Whose payments the facilitator pays for. */
export interface SponsoringTerms {
  /** Recipients that callers without an API key can be sponsored for, in any spelling; `*`: every recipient. */
  readonly recipients: '*' | readonly string[]
  readonly history: SponsoringHistory
}

interface SponsoredPayment {
  /** `Network.normalizeAddress` spells both. */
  readonly payer: string
  readonly payTo: string
  /** Account id, or `anonymous`; null: none. */
  readonly caller: string | null
}

/** Decides whether the facilitator pays for a payment, before it spends anything. */
export interface Sponsoring {
  /** Null: it does. Throws SERVICE_UNAVAILABLE when the database does not answer: nothing is granted then. */
  refuse(payment: SponsoredPayment): Promise<{ readonly reason: Reason; readonly message: string } | null>
}

interface SponsoringDependencies {
  readonly network: string
  /** Null: without a key for no recipient, and no failure is known. */
  readonly terms: SponsoringTerms | null
  /** What addresses of the family look like: the operator lists those of all families together. */
  readonly addressForm: RegExp
  readonly normalize: (address: string) => string | null
  /** Failures of sponsored payments that the payer can cause, and that cost the facilitator. */
  readonly failures: readonly Reason[]
  readonly clock: Pick<Clock, 'now'>
}

/** Marks the `details` of settlements that the facilitator pays for; the journal's index names it too. */
export const sponsoredMark = { sponsored: true } as const

const pauseMs = 86_400_000

// Recipients that have settled, in memory; the oldest one makes room.
const maxRemembered = 10_000

/** Throws for a listed recipient that looks like an address of the family and is none; the message is for operators. */
export const createSponsoring = ({
  network,
  terms,
  addressForm,
  normalize,
  failures,
  clock,
}: SponsoringDependencies): Sponsoring => {
  const listed = new Set<string>()
  if (terms !== null && terms.recipients !== '*') {
    for (const recipient of terms.recipients.filter((each) => addressForm.test(each))) {
      const address = normalize(recipient)
      if (address === null) {
        throw new Error(`SPONSORED_RECIPIENTS: ${recipient} is not an address of ${network}`)
      }
      listed.add(address)
    }
  }
  /** A recipient stays in it after a reorg of the payment: it is no new recipient. */
  const settled = new Set<string>()

  const remember = (payTo: string): void => {
    const [oldest] = settled
    if (oldest !== undefined && settled.size >= maxRemembered) settled.delete(oldest)
    settled.add(payTo)
  }

  const isAdmitted = ({ payTo, caller }: SponsoredPayment): boolean =>
    caller !== 'anonymous' || terms?.recipients === '*' || listed.has(payTo) || settled.has(payTo)

  const readHistory = async (payment: SponsoredPayment, payTo: string | null) => {
    if (terms === null) return { hasRecipientSettled: false, hasPayerFailed: false }
    const since = new Date(clock.now().getTime() - pauseMs)
    return await terms.history.read({ network, payer: payment.payer, payTo, reasons: failures, since })
  }

  return {
    refuse: async (payment) => {
      const isRecipientKnown = isAdmitted(payment)
      const record = await readHistory(payment, isRecipientKnown ? null : payment.payTo)
      if (record.hasRecipientSettled) remember(payment.payTo)
      if (record.hasPayerFailed) {
        return {
          reason: 'payer_not_sponsored',
          message: `More payments of this payer failed on ${network} within a day, at the cost of this facilitator, than were made; until the day is over the payer pays its own fees`,
        }
      }
      if (isRecipientKnown || record.hasRecipientSettled) return null
      return {
        reason: 'recipient_not_sponsored',
        message: `Without an API key this facilitator pays no fees on ${network} for payments to a recipient that has not settled before and that its operator does not list`,
      }
    },
  }
}

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
