import { type Fields, isFields } from '../../protocol/fields.js'
import { foldAddress } from '../../protocol/foldAddress.js'
import { canonicalNetwork } from '../../protocol/network.js'

/** Whom a resource asks to be paid. */
export interface Recipient {
  /** CAIP-2 identifier. */
  readonly network: string
  /** In one spelling. */
  readonly payTo: string
}

/** An answer to an unpaid request. */
export interface UnpaidAnswer {
  readonly status: number
  /** Header PAYMENT-REQUIRED. */
  readonly paymentRequired: string | null
  /** Null: not read. */
  readonly body: string | null
}

export type ReadRecipients =
  | { readonly recipients: readonly Recipient[]; readonly problem: null }
  /** What was seen instead, as a sentence. */
  | { readonly recipients: null; readonly problem: string }

const maxAccepts = 64
const maxLength = 128

/** Version 2: the header, or the body; version 1: the body. */
export const readRecipients = ({ status, paymentRequired, body }: UnpaidAnswer): ReadRecipients => {
  if (status !== 402) return failed(`The resource answered with status ${status}, not 402.`)
  const header = paymentRequired === null ? null : Buffer.from(paymentRequired, 'base64').toString('utf8')
  const accepts = readAccepts(header) ?? readAccepts(body)
  if (accepts === null) {
    const unread = body === null ? ' Its body is compressed, larger than 64 kB, or did not end in 5 s.' : ''
    return failed(
      `The 402 answer of the resource has no \`accepts\`, neither in PAYMENT-REQUIRED nor in its body.${unread}`,
    )
  }
  const recipients = accepts.slice(0, maxAccepts).flatMap(readRecipient)
  return recipients.length === 0
    ? failed('No `accepts` of the 402 answer of the resource has `network` and `payTo`.')
    : { recipients, problem: null }
}

const failed = (problem: string): ReadRecipients => ({ recipients: null, problem })

const readAccepts = (text: string | null): readonly unknown[] | null => {
  const required = text === null ? null : parseFields(text)
  return Array.isArray(required?.accepts) ? required.accepts : null
}

const parseFields = (text: string): Fields | null => {
  try {
    const value: unknown = JSON.parse(text)
    return isFields(value) ? value : null
  } catch {
    return null
  }
}

const readRecipient = (terms: unknown): readonly Recipient[] => {
  if (!isFields(terms)) return []
  const { network, payTo } = terms
  if (!isShortText(network) || !isShortText(payTo)) return []
  return [{ network: canonicalNetwork(network), payTo: foldAddress(payTo) }]
}

const isShortText = (value: unknown): value is string =>
  typeof value === 'string' && value !== '' && value.length <= maxLength
