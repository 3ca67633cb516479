import { type ServerResponse, STATUS_CODES } from 'node:http'
import { type AppError, errorStatus } from '../../errors.js'
import { toErrorBody } from '../errors.js'

/** Sends a response that was serialised once, with `Retry-After`, without Fastify. */
export type SendRefusal = (response: ServerResponse, options: { readonly closes: boolean }) => void

export const prepareRefusal = (error: AppError): SendRefusal => {
  const body = Buffer.from(JSON.stringify(toErrorBody(error)))
  const status = errorStatus[error.code]
  const headers = {
    'content-type': 'application/json; charset=utf-8',
    'content-length': body.length,
    'cache-control': 'no-store',
    'access-control-allow-origin': '*',
    'x-content-type-options': 'nosniff',
    'retry-after': String(Math.ceil(error.retryAfterSeconds ?? 1)),
  }
  const closing = { ...headers, connection: 'close' }
  return (response, { closes }) => {
    response.writeHead(status, STATUS_CODES[status], closes ? closing : headers)
    response.end(response.req.method === 'HEAD' ? undefined : body)
  }
}
