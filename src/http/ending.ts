import type { FastifyReply } from 'fastify'

/** How an answer ended. */
export interface Ending {
  /** The answer's status; 499 where the client was gone before the answer was. */
  readonly status: number
  readonly durationMs: number
}

const clientClosedRequest = 499

/** Calls back once, when the answer was sent or the client hung up; Fastify's onResponse misses the latter. */
export const whenEnded = (reply: FastifyReply, callBack: (ending: Ending) => void): void => {
  const startedAt = performance.now()
  reply.raw.once('close', () => {
    const status = reply.raw.writableEnded ? reply.raw.statusCode : clientClosedRequest
    callBack({ status, durationMs: performance.now() - startedAt })
  })
}

/**
 * A signal that aborts when the client hangs up before it was answered. Fastify's own `request.signal` will not
 * do: it watches the request, which closes as soon as its body is read.
 */
export const createHangUpSignal = (reply: FastifyReply): AbortSignal => {
  const controller = new AbortController()
  reply.raw.once('close', () => {
    if (!reply.raw.writableEnded) controller.abort()
  })
  return controller.signal
}
