import { randomUUID } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import type { FastifyReply, FastifyRequest } from 'fastify'
import fastifyPlugin from 'fastify-plugin'
import { createAddressBlocks } from '../../platform/addressBlocks.js'
import { readClientNetwork } from '../../platform/clientNetwork.js'
import type { Metrics } from '../../platform/metrics.js'
import type { Logger } from '../../ports/logger.js'
import type { OperatorUseCases } from '../../usecases/operator/useCases.js'
import type { StatsUseCases } from '../../usecases/useCases.js'
import { findRefusal, findSentErrorCode } from '../errors.js'
import { onResponseEnd, type ResponseEnd } from '../reply.js'
import { isProbe } from '../server/readRequest.js'
import { isUnlogged } from '../server/refusals.js'

interface RequestObserverOptions {
  readonly trustProxy: readonly string[]
  readonly logger: Logger
  readonly metrics: Metrics
  readonly statistics: Pick<StatsUseCases, 'countRequest'>
  readonly callers: Pick<OperatorUseCases, 'countCaller'>
}

/** Names every request in its response, and logs, measures and counts it when the response ends. */
export const requestObserver = fastifyPlugin<RequestObserverOptions>(
  (app, options, done) => {
    const warnOfProxy = createProxyWarning(options)
    app.addHook('onRequest', (request, reply, next) => {
      reply.header('x-request-id', request.id).header('x-content-type-options', 'nosniff')
      observeRequest(options, request, reply)
      warnOfProxy(request)
      next()
    })
    done()
  },
  { name: 'requestObserver' },
)

/** Fastify runs no hooks for a URL that its router cannot parse: such requests are observed by this function alone. */
export const observeRequest = (
  { logger, metrics, statistics, callers }: RequestObserverOptions,
  request: FastifyRequest,
  reply: FastifyReply,
): void => {
  // Read now: a closed socket has no peer address.
  const remoteAddress = request.ip
  metrics.countRequestStarted()
  onResponseEnd(reply, (end) => {
    if (!isUnlogged(reply.raw)) logRequest(logger, request, end, remoteAddress)
    metrics.countRequestEnded({
      method: request.method,
      endpoint: request.routeOptions.url ?? 'other',
      status: end.status,
      durationSeconds: end.durationMs / 1_000,
    })
    if (isProbe(request)) return
    statistics.countRequest(end)
    if (request.routeOptions.config?.access === 'operator') return
    callers.countCaller({
      // Absent where the URL could not be parsed.
      accountId: request.account?.id ?? null,
      network: readClientNetwork(remoteAddress),
      isSettle: request.routeOptions.url === '/settle',
      durationMs: end.durationMs,
      reason: findRefusal(request),
    })
  })
}

/** One log line per request, without query, headers and body. */
const logRequest = (
  logger: Logger,
  request: FastifyRequest,
  { status, durationMs }: ResponseEnd,
  remoteAddress: string,
): void => {
  const code = findSentErrorCode(request)
  const fields = {
    requestId: request.id,
    method: request.method,
    path: withoutQuery(request.url),
    status,
    ...(code === null ? {} : { code }),
    durationMs: Math.round(durationMs * 10) / 10,
    remoteAddress,
  }
  if (isProbe(request)) logger.debug(fields, 'request.completed')
  else logger.info(fields, 'request.completed')
}

const maxPathLength = 200

const withoutQuery = (url: string): string => {
  const end = url.search(/[?#]/)
  return (end === -1 ? url : url.slice(0, end)).slice(0, maxPathLength)
}

/** Warns once: behind a proxy that TRUST_PROXY does not list, all clients share one address and its limits. */
const createProxyWarning = ({ trustProxy, logger }: RequestObserverOptions) => {
  const blocks = createAddressBlocks()
  let isWarned = false
  return ({ raw, headers }: FastifyRequest): void => {
    if (isWarned || headers['x-forwarded-for'] === undefined) return
    const peer = raw.socket.remoteAddress
    if (peer === undefined || blocks.include(trustProxy, peer)) return
    isWarned = true
    logger.warn(
      {
        peer,
        hint: 'X-Forwarded-For was ignored. If this peer is your proxy, list it in TRUST_PROXY: until then all of its clients share one address and its limits.',
      },
      'proxy.untrusted',
    )
  }
}

const validRequestId = /^[A-Za-z0-9_-]{1,64}$/

/** The caller's `X-Request-ID` if it is safe to repeat, otherwise a UUID. */
export const chooseRequestId = ({ headers }: Pick<IncomingMessage, 'headers'>): string => {
  const id = headers['x-request-id']
  return typeof id === 'string' && validRequestId.test(id) ? id : randomUUID()
}
