import type { FastifyReply } from 'fastify'

/** How an answer ended. */
export interface Ending {
  /** The answer's status; 499 where the client was gone before the answer was. */
  readonly status: number
  readonly durationMs: number
}

type OnEnded = (ending: Ending) => void

/** The status of a request whose client was gone before the answer was; nobody is ever sent it. */
export const clientClosedRequest = 499

/** Where an answer keeps who wants to know of its end. */
const onEnded = Symbol('onEnded')

declare module 'node:http' {
  interface ServerResponse {
    [onEnded]?: OnEnded[]
  }
}

/**
 * Calls back once, when the answer was sent or the client hung up; Fastify's onResponse misses the latter. The time
 * counts from the first call for an answer, which is why all of them share one listener.
 */
export const whenEnded = ({ raw }: FastifyReply, callBack: OnEnded): void => {
  const known = raw[onEnded]
  if (known !== undefined) {
    known.push(callBack)
    return
  }
  const callBacks = [callBack]
  raw[onEnded] = callBacks
  const startedAt = performance.now()
  raw.once('close', () => {
    const status = raw.writableEnded ? raw.statusCode : clientClosedRequest
    const ending = { status, durationMs: performance.now() - startedAt }
    for (const each of callBacks) each(ending)
  })
}

/**
 * Whether the client hung up before it was answered. Fastify's own `request.signal` will not do: it watches the
 * request, which closes as soon as its body is read.
 */
export const hasHungUp = ({ raw }: FastifyReply): boolean => raw.closed && !raw.writableEnded
