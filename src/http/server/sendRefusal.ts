import { type ServerResponse, STATUS_CODES } from 'node:http'
import { AppError, errorStatus } from '../../errors.js'
import { toErrorBody } from '../errors.js'

/** Sends a response that was serialised once, with `Retry-After`, without Fastify. */
export type SendRefusal = (response: ServerResponse, options: { readonly closes: boolean }) => void

const prepareRefusal = (error: AppError): SendRefusal => {
  const body = Buffer.from(JSON.stringify(toErrorBody(error)))
  const status = errorStatus[error.code]
  const headers = {
    'content-type': 'application/json; charset=utf-8',
    'content-length': body.length,
    'cache-control': 'no-store',
    'access-control-allow-origin': '*',
    'x-content-type-options': 'nosniff',
    ...(error.retryAfterSeconds === null
      ? {}
      : { 'retry-after': String(Math.ceil(error.retryAfterSeconds)) }),
  }
  const closing = { ...headers, connection: 'close' }
  return (response, { closes }) => {
    response.writeHead(status, STATUS_CODES[status], closes ? closing : headers)
    response.end(response.req.method === 'HEAD' ? undefined : body)
  }
}

const prepareTooMany = (message: string): SendRefusal =>
  prepareRefusal(new AppError('RATE_LIMITED', message, { operationalCode: 'SVC-2005', retryAfterSeconds: 1 }))

export const maxRequestsPerConnection = 8

export const sendTooManyOnConnection = prepareTooMany(
  `More than ${maxRequestsPerConnection} requests in progress on one connection`,
)

/** RFC 9112, section 3.2. */
export const sendWithoutHost = prepareRefusal(
  new AppError('INVALID_REQUEST', 'A request of HTTP/1.1 has a Host header'),
)

export const sendTooManyOfAddress = prepareTooMany('Too many requests of this key or address are in progress')

export const sendTooManyRefusals = prepareTooMany('Too many refused requests')

export interface DelayedRefusals {
  /** Sends the refusal after the delay, and closes the connection. */
  add(response: ServerResponse, send: SendRefusal): void
}

interface Delayed {
  readonly response: ServerResponse
  readonly send: SendRefusal
  readonly dueAtMs: number
}

// Beyond this number the oldest are sent early: what waits takes memory.
const maxWaiting = 1_000

/**
 * A connection costs more to accept than a refusal to send, so that closing it alone slows no client down: one that waits
 * for its answer sends the next request only after the delay.
 */
export const createDelayedRefusals = (delayMs: number): DelayedRefusals => {
  const waiting = new Set<Delayed>()
  let isScheduled = false

  const schedule = (inMs: number): void => {
    isScheduled = true
    setTimeout(sendDue, inMs).unref()
  }

  const sendOldest = (oldest: Delayed): void => {
    waiting.delete(oldest)
    oldest.send(oldest.response, { closes: true })
  }

  const sendDue = (): void => {
    isScheduled = false
    const nowMs = performance.now()
    for (const delayed of waiting) {
      if (delayed.dueAtMs > nowMs) {
        schedule(delayed.dueAtMs - nowMs)
        return
      }
      sendOldest(delayed)
    }
  }

  return {
    add: (response, send) => {
      if (delayMs === 0) {
        send(response, { closes: true })
        return
      }
      const [oldest] = waiting
      if (waiting.size >= maxWaiting && oldest !== undefined) sendOldest(oldest)
      const delayed = { response, send, dueAtMs: performance.now() + delayMs }
      waiting.add(delayed)
      response.req.socket.once('close', () => waiting.delete(delayed))
      if (!isScheduled) schedule(delayMs)
    },
  }
}
