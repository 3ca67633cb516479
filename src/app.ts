import fastify, { type FastifyInstance, LogController } from 'fastify'
import { createOperatorGate, createReadKeyViewer } from './http/auth/operatorGate.js'
import { createAcceptedKeys } from './http/auth/presentedKey.js'
import { readConsoleFiles } from './http/consoleFiles.js'
import {
  compileSerializer,
  compileValidator,
  createFastifyLogger,
  namePlugins,
} from './http/fastifyAdapters.js'
import { authentication, authFailureLimit } from './http/plugins/authentication.js'
import { cors } from './http/plugins/cors.js'
import {
  createSendBrokenRequestError,
  errorResponses,
  sendUnroutableError,
} from './http/plugins/errorResponses.js'
import { gracefulShutdown } from './http/plugins/gracefulShutdown.js'
import { type BodyReceiverLimits, defaultBodyReceiverLimits, jsonBodies } from './http/plugins/jsonBodies.js'
import { openapi, referenceRoutes } from './http/plugins/openapi.js'
import { type RateLimitsDependencies, rateLimits } from './http/plugins/rateLimits.js'
import { readShares } from './http/plugins/readShares.js'
import { chooseRequestId, observeRequest, requestObserver } from './http/plugins/requestObserver.js'
import { requestTraces } from './http/plugins/requestTraces.js'
import { accountRoutes, dashboardRoutes } from './http/routes/accounts.js'
import { captureRoutes } from './http/routes/captures.js'
import { channelRoutes } from './http/routes/channels.js'
import { consoleRoutes } from './http/routes/console.js'
import { creditRoutes } from './http/routes/credit.js'
import { discoveryRoutes } from './http/routes/discovery.js'
import { homeRoutes } from './http/routes/home.js'
import { intentRoutes } from './http/routes/intents.js'
import { operatorRoutes } from './http/routes/operator.js'
import { paymentRoutes } from './http/routes/payments.js'
import { recipientRoutes } from './http/routes/recipients.js'
import { reconciliationRoutes } from './http/routes/reconciliation.js'
import { sandboxMark, sandboxRoutes } from './http/routes/sandbox.js'
import { serviceRoutes, statsRoutes } from './http/routes/service.js'
import { siwxRoutes } from './http/routes/siwx.js'
import { streamRoutes } from './http/routes/streams.js'
import { webhookRoutes } from './http/routes/webhooks.js'
import { addRouteTable, refuseNul, strictQueries } from './http/routeTable.js'
import { createServerFactory } from './http/server/createServerFactory.js'
import { createFindRate } from './http/server/pace.js'
import { createTurns } from './http/server/turns.js'
import { systemClock } from './platform/clock.js'
import { silentLogger } from './platform/logger.js'
import type { Metrics } from './platform/metrics.js'
import type { Secret } from './platform/secret.js'
import type { Logger } from './ports/logger.js'
import type { Tracer } from './ports/tracer.js'
import { bodyLimits } from './protocol/requestLimits.js'
import { specificationTiers, type Tiers } from './protocol/tiers.js'
import type { UseCases } from './usecases/useCases.js'
import './http/auth/caller.js'

interface AppSettings {
  /** Proxies whose `X-Forwarded-For` is trusted, as addresses and CIDR blocks; empty: none. */
  readonly trustProxy: readonly string[]
  readonly maxPaymentBodyBytes: number
  /** Time for a request to arrive; default 15 s. */
  readonly requestTimeoutMs?: number
  /** Longest wait of a settle; default 60 s. */
  readonly settleWaitMs?: number
  readonly receiving?: BodyReceiverLimits
  /** Null or absent: operator endpoints are disabled. */
  readonly operatorToken?: Secret | null
  /** Null or absent: /metrics is public. */
  readonly metricsToken?: Secret | null
  /** Open connections; 0 or absent: no cap. Peers in `trustProxy` are not counted per address. */
  readonly maxConnections?: number
  readonly maxConnectionsPerAddress?: number
  /** Requests in progress of one client address, also behind a trusted proxy; 0 or absent: no cap. */
  readonly maxRequestsPerAddress?: number
  /** Time for the first byte of a connection to arrive; default 5 s. */
  readonly firstByteTimeoutMs?: number
  /** Time without progress in which a response must be read; default 30 s. */
  readonly unreadTimeoutMs?: number
  /** How long callers that are refused before Fastify wait for it; default 1 s. */
  readonly refusalDelayMs?: number
  /** That long reads share; default 5. */
  readonly readConnections?: number
  /** Origins whose pages may call `/register`, `/lookup` and `/dashboard/*`; default none. */
  readonly accountOrigins?: readonly string[]
  readonly apiKeyRequired?: boolean
  /** Every answer says that no payment is real; default: payments are real. */
  readonly isSandbox?: boolean
  /** Default: the table of the specification. */
  readonly tiers?: Tiers
}

interface AppDependencies {
  readonly useCases: UseCases
  readonly settings: AppSettings
  readonly logger?: Logger
  readonly metrics: Metrics
  /** Those of all processes of the service, as text; default: of this one. */
  readonly readMetrics?: () => Promise<string>
  readonly limits?: RateLimitsDependencies | null
  /** Null or absent: requests are not traced. */
  readonly tracer?: Tracer | null
  /** As in `Stores`; default: nothing rests. */
  readonly wake?: () => Promise<void> | null
}

namePlugins([
  paymentRoutes,
  serviceRoutes,
  accountRoutes,
  dashboardRoutes,
  recipientRoutes,
  creditRoutes,
  statsRoutes,
  reconciliationRoutes,
  operatorRoutes,
  streamRoutes,
  channelRoutes,
  webhookRoutes,
  intentRoutes,
  captureRoutes,
  discoveryRoutes,
  siwxRoutes,
  sandboxRoutes,
  referenceRoutes,
  homeRoutes,
  consoleRoutes,
])

const defaultRequestTimeoutMs = 15_000
const defaultSettleWaitMs = 60_000
const defaultFirstByteTimeoutMs = 5_000
const defaultReadConnections = 5
const defaultRefusalDelayMs = 1_000
// Longer than a client on 128 kbit/s takes for the largest document (0.5 MB).
const defaultUnreadTimeoutMs = 30_000

export const buildApp = ({
  useCases,
  settings,
  logger = silentLogger,
  metrics,
  readMetrics = () => metrics.registry.metrics(),
  limits = null,
  tracer = null,
  wake = () => null,
}: AppDependencies): FastifyInstance => {
  const { tiers = specificationTiers } = settings
  const acceptedKeys = createAcceptedKeys()
  const turns = createTurns()
  const observed = {
    trustProxy: settings.trustProxy,
    logger,
    metrics,
    statistics: useCases.stats,
    callers: useCases.operator,
  }
  const app = fastify({
    serverFactory: createServerFactory({
      ...timeouts(
        settings.requestTimeoutMs ?? defaultRequestTimeoutMs,
        settings.settleWaitMs ?? defaultSettleWaitMs,
      ),
      trustProxy: settings.trustProxy,
      acceptedKeys,
      turns,
      findRate: createFindRate(limits?.table ?? null, tiers),
      clock: limits?.clock ?? systemClock,
      logger,
      maxConnections: settings.maxConnections ?? 0,
      maxConnectionsPerAddress: settings.maxConnectionsPerAddress ?? 0,
      maxRequestsPerAddress: settings.maxRequestsPerAddress ?? 0,
      firstByteTimeoutMs: settings.firstByteTimeoutMs ?? defaultFirstByteTimeoutMs,
      refusalDelayMs: settings.refusalDelayMs ?? defaultRefusalDelayMs,
      unreadTimeoutMs: settings.unreadTimeoutMs ?? defaultUnreadTimeoutMs,
    }),
    // Payment routes set their own.
    bodyLimit: bodyLimits.account,
    // Never a number: with a hop count Fastify silently trusts no proxy.
    trustProxy: settings.trustProxy.length === 0 ? false : [...settings.trustProxy],
    genReqId: chooseRequestId,
    loggerInstance: createFastifyLogger(logger),
    logController: new LogController({ disableRequestLogging: true }),
    return503OnClosing: false,
    clientErrorHandler: createSendBrokenRequestError(settings.requestTimeoutMs ?? defaultRequestTimeoutMs),
    frameworkErrors: (error, request, reply) => {
      observeRequest(observed, request, reply)
      sendUnroutableError(error, request, reply)
    },
  })
  addRouteTable(app)
  app.setValidatorCompiler(compileValidator)
  app.setSerializerCompiler(compileSerializer)
  app.decorateRequest('caller', 'anonymous')
  app.decorateRequest('account', null)
  app.decorateRequest('apiKey', null)
  app.decorateRequest('onKeyRefused', null)

  app.register(requestObserver, observed)
  if (tracer !== null) app.register(requestTraces, { tracer })
  if (settings.isSandbox === true) app.register(sandboxMark)
  app.register(cors, { accountOrigins: settings.accountOrigins ?? [] })
  app.register(errorResponses, { logger })
  app.register(gracefulShutdown)
  if (limits !== null) app.register(authFailureLimit, { ...limits, logger })
  const operatorGate = createOperatorGate(settings.operatorToken ?? null)
  app.register(authentication, {
    authenticate: useCases.dashboard.authenticate,
    acceptedKeys,
    operatorGate,
    apiKeyRequired: settings.apiKeyRequired ?? false,
  })
  if (limits !== null) app.register(rateLimits, limits)
  app.register(jsonBodies, { turns, limits: settings.receiving ?? defaultBodyReceiverLimits })
  app.register(strictQueries)
  app.register(refuseNul)
  app.register(readShares, { connections: settings.readConnections ?? defaultReadConnections })
  app.register(openapi)
  // Not for reads, which health checks and scrapes repeat, and which own nothing; nor for what was refused before.
  app.addHook('preHandler', (request, _reply, next) => {
    const woken = request.method === 'GET' || request.method === 'HEAD' ? null : wake()
    if (woken === null) next()
    else void woken.then(() => next())
  })

  app.register(paymentRoutes, {
    useCases: useCases.core,
    metrics,
    requireOperator: operatorGate.requireOperator,
    tiers,
    maxBodyBytes: settings.maxPaymentBodyBytes,
  })
  app.register(serviceRoutes, {
    useCases: useCases.core,
    metrics: { read: readMetrics, contentType: metrics.registry.contentType },
    clock: limits?.clock ?? systemClock,
    metricsToken: settings.metricsToken ?? null,
    tiers,
  })
  const readKeyViewer = createReadKeyViewer({
    trustProxy: settings.trustProxy,
    isOperator: operatorGate.isOperator,
  })
  app.register(accountRoutes, { useCases: useCases.dashboard, readKeyViewer })
  app.register(dashboardRoutes, { useCases: useCases.dashboard, readKeyViewer })
  app.register(recipientRoutes, { useCases: useCases.recipients })
  app.register(creditRoutes, { useCases: useCases.credit })
  app.register(statsRoutes, { useCases: useCases.stats })
  app.register(reconciliationRoutes, {
    useCases: useCases.reconciliation,
    now: (limits?.clock ?? systemClock).now,
  })
  app.register(operatorRoutes, { useCases: useCases.operator })
  app.register(streamRoutes, {
    useCases: useCases.streams,
    maxBodyBytes: settings.maxPaymentBodyBytes,
    tiers,
  })
  app.register(channelRoutes, { useCases: useCases.channels })
  app.register(webhookRoutes, { useCases: useCases.webhooks })
  app.register(intentRoutes, {
    useCases: useCases.intents,
    tiers,
    maxBodyBytes: settings.maxPaymentBodyBytes,
  })
  app.register(captureRoutes, { useCases: useCases.captures, tiers })
  if (useCases.discovery !== null) app.register(discoveryRoutes, { useCases: useCases.discovery })
  app.register(siwxRoutes, { useCases: useCases.siwx })
  if (useCases.sandbox !== null) app.register(sandboxRoutes, { useCases: useCases.sandbox })
  app.register(referenceRoutes, { isSandbox: settings.isSandbox ?? false })
  app.register(homeRoutes, {
    useCases: useCases.core,
    apiKeyRequired: settings.apiKeyRequired ?? false,
    isSandbox: settings.isSandbox ?? false,
  })
  app.register(consoleRoutes, { useCases: useCases.core, files: readConsoleFiles() })
  return app
}

const timeouts = (requestTimeoutMs: number, settleWaitMs: number) => ({
  requestTimeout: requestTimeoutMs,
  // A socket is idle while a settle waits for its receipt.
  connectionTimeout: Math.max(90_000, settleWaitMs + 30_000),
  // Longer than the usual idle timeout of load balancers (60 s), so that they never reuse a closing socket.
  keepAliveTimeout: 75_000,
  http: {
    requestTimeout: requestTimeoutMs,
    headersTimeout: requestTimeoutMs,
    // Node checks for late requests at this interval; its default of 30 s is longer than the timeout.
    connectionsCheckingInterval: Math.min(1_000, requestTimeoutMs),
  },
})
