import type { Exchange } from './exchange.js'
import { parseObject, readText } from './json.js'

/** What an answer means to whom receives it; `GET /v1/reasons` says what to do about its code. */
export interface Meaning {
  readonly tone: 'good' | 'warn' | 'bad'
  readonly title: string
  readonly text: string
  /** Stable name of the reason or the error. */
  readonly code: string | null
}

export const explainVerify = (exchange: Exchange): Meaning => {
  const error = explainError(exchange)
  if (error !== null) return error
  const answer = readBody(exchange)
  if (answer?.isValid === true) {
    return {
      tone: 'good',
      title: 'Valid',
      text: 'It would settle at this moment. Nothing moved yet: deliver after /settle.',
      code: null,
    }
  }
  return explainRefusal('Refused', readText(answer, 'invalidReason'), readText(answer, 'invalidMessage'))
}

export const explainSettle = (exchange: Exchange): Meaning => {
  const error = explainError(exchange)
  if (error !== null) return error
  const answer = readBody(exchange)
  const isReplay = readHeader(exchange, 'x-idempotency-replayed') === 'true'
  if (answer?.success === true) {
    return {
      tone: 'good',
      title: isReplay ? 'Settled, and answered again' : 'Settled',
      text: isReplay
        ? 'The same Idempotency-Key receives the stored answer: nothing is paid twice.'
        : 'The recipient has the money: deliver.',
      code: null,
    }
  }
  const reason = readText(answer, 'errorReason')
  const isPending = readText(answer, 'status') === 'pending'
  return {
    ...explainRefusal(isPending ? 'Pending' : 'Not settled', reason, readText(answer, 'errorMessage')),
    tone: isPending ? 'warn' : 'bad',
  }
}

const statuses: Readonly<Record<string, Meaning>> = {
  confirmed: { tone: 'good', title: 'Confirmed', text: 'The chain has proven the payment.', code: null },
  pending: {
    tone: 'warn',
    title: 'Pending',
    text: 'Its outcome is not proven. Nobody has to pay again.',
    code: null,
  },
}

/** Of `GET /v1/settlements/{id}`. */
export const explainSettlement = (exchange: Exchange): Meaning => {
  const error = explainError(exchange)
  if (error !== null) return error
  const answer = readBody(exchange)
  return (
    statuses[readText(answer, 'status') ?? ''] ??
    explainRefusal('Failed', readText(answer, 'errorReason'), readText(answer, 'errorMessage'))
  )
}

/** Null for an answer in the range of success. */
export const explainError = ({ response }: Exchange): Meaning | null => {
  if (response === null) {
    return {
      tone: 'bad',
      title: 'No answer',
      text: 'The service cannot be reached, or took too long. A payment that was sent may still settle: send it again.',
      code: null,
    }
  }
  if (response.status < 400) return null
  const answer = parseObject(response.body)
  const message = readText(answer, 'message') ?? `The service answered ${response.status}`
  const wait = response.headers.find(([name]) => name.toLowerCase() === 'retry-after')?.[1]
  return {
    tone: 'bad',
    title: `Answered ${response.status}`,
    text: `${message}.${wait === undefined ? '' : ` Try again in ${wait} s.`}`,
    code: readText(answer, 'code'),
  }
}

const explainRefusal = (title: string, reason: string | null, message: string | null): Meaning => ({
  tone: 'bad',
  title,
  text: `${message ?? reason ?? 'No reason was given'}.`,
  code: reason,
})

const readBody = ({ response }: Exchange) => parseObject(response?.body ?? '')

const readHeader = ({ response }: Exchange, name: string): string | undefined =>
  response?.headers.find(([each]) => each.toLowerCase() === name)?.[1]
