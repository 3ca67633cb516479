import type { FastifyReply, FastifyRequest } from 'fastify'
import { AppError, type ErrorCode, errorStatus } from '../errors.js'
import { forbidCaching } from './forbidCaching.js'

/** The body of every answer that is an error. */
export interface ErrorBody {
  readonly code: ErrorCode
  readonly message: string
  readonly operationalCode?: string
  /** Seconds; the header `Retry-After` says the same. */
  readonly retryAfter?: number
}

/** What the caller is told of an error. */
export const describeForCaller = (error: AppError): ErrorBody => ({
  code: error.code,
  message: error.message,
  ...(error.operationalCode === null ? {} : { operationalCode: error.operationalCode }),
  ...(error.retryAfterSeconds === null ? {} : { retryAfter: Math.ceil(error.retryAfterSeconds) }),
})

/** Anything that was thrown, as the error that the caller is told of. No library's sentence survives this. */
export const toAppError = (error: unknown, request: FastifyRequest): AppError => {
  if (error instanceof AppError) return error
  switch (readErrorCode(error)) {
    case 'FST_ERR_CTP_INVALID_MEDIA_TYPE':
      return new AppError('UNSUPPORTED_MEDIA_TYPE', 'The body must be sent as application/json')
    case 'FST_ERR_BAD_URL':
      return new AppError('INVALID_REQUEST', 'The URL is malformed')
    case 'FST_ERR_MAX_PARAM_LENGTH':
      return new AppError('INVALID_REQUEST', 'A part of the URL is too long')
    case 'ECONNRESET':
      // The caller's connection, if its request is incomplete; else one of ours.
      if (request.raw.complete === false) {
        return new AppError('INVALID_REQUEST', 'The connection closed before the request was complete')
      }
  }
  return new AppError('INTERNAL_ERROR', 'Something went wrong on our side', { cause: error })
}

const readErrorCode = (error: unknown): string | null =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : null

const answeredCodes = new WeakMap<FastifyRequest, ErrorCode>()

/** The code of the error that a request was answered with, for its log line. */
export const findAnsweredCode = (request: FastifyRequest): ErrorCode | null =>
  answeredCodes.get(request) ?? null

/** The one place where an error becomes an answer. */
export const sendError = (reply: FastifyReply, error: AppError): FastifyReply => {
  const body = describeForCaller(error)
  answeredCodes.set(reply.request, error.code)
  forbidCaching(reply)
  if (body.retryAfter !== undefined) reply.header('retry-after', body.retryAfter)
  // RFC 9110, section 15.5.2: a 401 says how to do better.
  if (error.code === 'UNAUTHORIZED') reply.header('www-authenticate', 'Bearer')
  return (
    reply
      .code(errorStatus[error.code])
      .type('application/json; charset=utf-8')
      // Not the route's own serializer: its schema for this status may describe another body, as /ready does.
      .serializer(JSON.stringify)
      .send(body)
  )
}
