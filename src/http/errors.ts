import type { Socket } from 'node:net'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { AppError, type ErrorCode, errorStatus } from '../errors.js'
import { stalls } from '../platform/clock.js'
import type { Reason } from '../protocol/reasons.js'
import type { SignInReason } from '../protocol/siwx.js'
import { forbidCaching } from './reply.js'

interface ErrorBody {
  readonly code: ErrorCode
  readonly message: string
  readonly errorReason?: Reason
  readonly reason?: SignInReason
  readonly operationalCode?: string
  readonly retryAfter?: number
}

export const toErrorBody = (error: AppError): ErrorBody => ({
  code: error.code,
  message: error.message,
  ...(error.reason === null ? {} : { errorReason: error.reason }),
  ...(error.signInReason === null ? {} : { reason: error.signInReason }),
  ...(error.operationalCode === null ? {} : { operationalCode: error.operationalCode }),
  ...(error.retryAfterSeconds === null ? {} : { retryAfter: Math.ceil(error.retryAfterSeconds) }),
})

/** Maps any thrown value to the error sent to the caller. Messages of libraries are never passed on. */
export const toAppError = (error: unknown, request: FastifyRequest): AppError => {
  if (error instanceof AppError) return error
  switch (readErrorCode(error)) {
    case 'FST_ERR_CTP_INVALID_MEDIA_TYPE':
      return new AppError('UNSUPPORTED_MEDIA_TYPE', 'The body must be sent as application/json')
    case 'FST_ERR_BAD_URL':
      return new AppError('INVALID_REQUEST', 'The URL is malformed')
    case 'FST_ERR_MAX_PARAM_LENGTH':
      return new AppError('INVALID_REQUEST', 'A path parameter is too long')
    case 'ECONNRESET':
      // If the request is incomplete, the client's connection was reset; otherwise one of ours.
      if (request.raw.complete === false) {
        if (wasCutOffByStall(request.raw.socket, stallMemoryMs)) return stalledError()
        return new AppError('INVALID_REQUEST', 'The connection closed before the request was complete')
      }
  }
  return new AppError('INTERNAL_ERROR', 'Internal error', { cause: error })
}

// Longer than the deadline of a request.
const stallMemoryMs = 20_000

const readErrorCode = (error: unknown): string | null =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : null

const sentErrorCodes = new WeakMap<FastifyRequest, ErrorCode>()

export const findSentErrorCode = (request: FastifyRequest): ErrorCode | null =>
  sentErrorCodes.get(request) ?? null

const refusalReasons = new WeakMap<FastifyRequest, string>()

/** Remembers why the payment of a request was refused, for counts of refusals. */
export const markRefusedPayment = (request: FastifyRequest, reason: string | undefined): void => {
  if (reason !== undefined) refusalReasons.set(request, reason)
}

/** Reason of the refused payment, or code of the error; null: neither. */
export const findRefusal = (request: FastifyRequest): string | null =>
  refusalReasons.get(request) ?? findSentErrorCode(request)

export const sendError = (reply: FastifyReply, error: AppError): FastifyReply => {
  const body = toErrorBody(error)
  sentErrorCodes.set(reply.request, error.code)
  forbidCaching(reply)
  if (body.retryAfter !== undefined) reply.header('retry-after', body.retryAfter)
  // RFC 9110, section 15.5.2: a 401 must carry WWW-Authenticate.
  if (error.code === 'UNAUTHORIZED') reply.header('www-authenticate', 'Bearer')
  if (error.code === 'SIGN_IN_FAILED') reply.header('www-authenticate', 'SIWX')
  return (
    reply
      .code(errorStatus[error.code])
      .type('application/json; charset=utf-8')
      // Not the route's serializer: its schema for this status may differ, as on /ready.
      .serializer(JSON.stringify)
      .send(body)
  )
}

const connectedAtMs = new WeakMap<Socket, number>()

export const rememberConnection = (socket: Socket): void => {
  connectedAtMs.set(socket, performance.now())
}

/** Whether this process stood still within the last `withinMs` and while the connection was open. */
export const wasCutOffByStall = (socket: Socket, withinMs: number): boolean => {
  const openMs = performance.now() - (connectedAtMs.get(socket) ?? 0)
  return stalls.hasStalled(Math.min(openMs, withinMs))
}

/** The request was cut off because this process stood still: nothing is wrong with it. */
export const stalledError = (): AppError =>
  new AppError('SERVICE_UNAVAILABLE', 'The service was interrupted; retry the same request', {
    retryAfterSeconds: 1,
  })
