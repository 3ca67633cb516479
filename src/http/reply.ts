import type { FastifyReply } from 'fastify'

export interface ResponseEnd {
  /** 499 if the client disconnected before the response was sent. */
  readonly status: number
  readonly durationMs: number
}

type EndListener = (end: ResponseEnd) => void

/** Recorded in logs and metrics only, never sent (nginx: "client closed request"). */
const clientClosedRequest = 499

const endListeners = Symbol('endListeners')

declare module 'node:http' {
  interface ServerResponse {
    [endListeners]?: EndListener[]
  }
}

/** Unlike `onResponse`, also called if the client disconnects. */
export const onResponseEnd = ({ raw }: FastifyReply, listener: EndListener): void => {
  const known = raw[endListeners]
  if (known !== undefined) {
    known.push(listener)
    return
  }
  const listeners = [listener]
  raw[endListeners] = listeners
  const startedAt = performance.now()
  raw.once('close', () => {
    const status = raw.writableEnded ? raw.statusCode : clientClosedRequest
    const end = { status, durationMs: performance.now() - startedAt }
    for (const notify of listeners) notify(end)
  })
}

/** Aborted when the response ends, also if the client disconnects before it is sent. */
export const createAbandonment = (reply: FastifyReply): AbortController => {
  const abandoned = new AbortController()
  onResponseEnd(reply, () => abandoned.abort())
  return abandoned
}

/** Fastify's `request.signal` is not usable: it also fires when the body has been read. */
export const isClientGone = ({ raw }: FastifyReply): boolean => raw.closed && !raw.writableEnded

/** For responses that are specific to a caller or to a moment. */
export const forbidCaching = (reply: FastifyReply): void => {
  reply.header('cache-control', 'no-store')
}
