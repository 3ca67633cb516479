import fastify, { type FastifyInstance, LogController } from 'fastify'
import { type ReceivingBounds, usualReceivingBounds } from './http/bodyReceiver.js'
import { createFastifyLogger } from './http/fastifyLogger.js'
import { createReadKeyViewer } from './http/keyViewer.js'
import { createOperatorGate } from './http/operatorGate.js'
import { authentication } from './http/plugins/authentication.js'
import { cors } from './http/plugins/cors.js'
import { draining } from './http/plugins/draining.js'
import { answerBrokenRequest, answerUnroutable, errorAnswers } from './http/plugins/errorAnswers.js'
import { jsonBodies } from './http/plugins/jsonBodies.js'
import { measureRequest, measureRequests } from './http/plugins/metrics.js'
import { openapi, referenceRoutes } from './http/plugins/openapi.js'
import { operatorAccess } from './http/plugins/operatorAccess.js'
import { type RateLimitsDependencies, rateLimits } from './http/plugins/rateLimits.js'
import { refusedKeys } from './http/plugins/refusedKeys.js'
import { chooseRequestId, requestId } from './http/plugins/requestId.js'
import { logRequest, logRequests } from './http/plugins/requestLog.js'
import { tallyRequest, tallyRequests } from './http/plugins/tallyRequests.js'
import { accountRoutes } from './http/routes/accounts.js'
import { paymentRoutes, serviceRoutes } from './http/routes/core.js'
import { dashboardRoutes } from './http/routes/dashboard.js'
import { statsRoutes } from './http/routes/stats.js'
import { webhookRoutes } from './http/routes/webhooks.js'
import { keepRouteTable } from './http/routeTable.js'
import { compileSerializer } from './http/serialization.js'
import { compileValidator } from './http/validation.js'
import { silentLogger } from './platform/logger.js'
import type { Metrics } from './platform/metrics.js'
import type { Secret } from './platform/secret.js'
import type { Logger } from './ports/logger.js'
import { bodyLimits } from './protocol/bodyLimits.js'
import type { UseCases } from './usecases/useCases.js'
import './http/access.js'

/** What an operator can set about the HTTP side. */
export interface AppSettings {
  /** The proxies whose `X-Forwarded-For` is believed, as addresses and CIDR blocks; empty: nobody's. */
  readonly trustProxy: readonly string[]
  /** The largest body of /verify and /settle. */
  readonly maxPaymentBodyBytes: number
  /** How long a request may take to arrive; 15 s unless told. */
  readonly requestTimeoutMs?: number
  /** What bounds unfinished bodies; `usualReceivingBounds` unless told. */
  readonly receiving?: ReceivingBounds
  /** What an operator shows to be one; without it nobody is. */
  readonly operatorToken?: Secret | null
  /** Origins whose pages may call `/register`, `/lookup` and `/dashboard/*`; none unless told. */
  readonly accountOrigins?: readonly string[]
  /** Whether payments are only taken from callers with an API key; false unless told. */
  readonly apiKeyRequired?: boolean
}

/** What the HTTP side is made of. */
export interface AppDependencies {
  readonly useCases: UseCases
  readonly settings: AppSettings
  readonly logger?: Logger
  readonly metrics: Metrics
  /** Null, or absent: requests are not limited. */
  readonly limits?: RateLimitsDependencies | null
}

/** Builds the HTTP side: listens to nothing yet. */
export const buildApp = ({
  useCases,
  settings,
  logger = silentLogger,
  metrics,
  limits = null,
}: AppDependencies): FastifyInstance => {
  const app = fastify({
    ...timeouts(settings.requestTimeoutMs ?? 15_000),
    // Of every route that does not set its own: those of payments do.
    bodyLimit: bodyLimits.account,
    // A list, never a number: fastify takes a number of hops and then trusts nobody, without a word.
    trustProxy: settings.trustProxy.length === 0 ? false : [...settings.trustProxy],
    genReqId: chooseRequestId,
    loggerInstance: createFastifyLogger(logger),
    logController: new LogController({ disableRequestLogging: true }),
    return503OnClosing: false,
    clientErrorHandler: answerBrokenRequest,
    frameworkErrors: (error, request, reply) => {
      logRequest(logger, request, reply)
      measureRequest(metrics, request, reply)
      tallyRequest(useCases.stats, request, reply)
      answerUnroutable(error, request, reply)
    },
  })
  keepRouteTable(app)
  app.setValidatorCompiler(compileValidator)
  app.setSerializerCompiler(compileSerializer)
  app.decorateRequest('caller', 'anonymous')
  app.decorateRequest('account', null)
  app.decorateRequest('apiKey', null)

  app.register(requestId)
  app.register(logRequests, { logger })
  app.register(measureRequests, { metrics })
  app.register(tallyRequests, { tally: useCases.stats })
  app.register(cors, { accountOrigins: settings.accountOrigins ?? [] })
  app.register(errorAnswers, { logger })
  app.register(draining)
  if (limits !== null) app.register(refusedKeys, { ...limits, logger })
  const { isOperator, requireOperator } = createOperatorGate(settings.operatorToken ?? null)
  app.register(operatorAccess, { requireOperator })
  app.register(authentication, {
    authenticate: useCases.dashboard.authenticate,
    isOperator,
    apiKeyRequired: settings.apiKeyRequired ?? false,
  })
  if (limits !== null) app.register(rateLimits, limits)
  app.register(jsonBodies, settings.receiving ?? usualReceivingBounds)
  app.register(openapi)

  app.register(paymentRoutes, {
    useCases: useCases.core,
    metrics,
    requireOperator,
    maxBodyBytes: settings.maxPaymentBodyBytes,
  })
  app.register(serviceRoutes, { useCases: useCases.core, metrics })
  const readKeyViewer = createReadKeyViewer({ trustProxy: settings.trustProxy, isOperator })
  app.register(accountRoutes, { useCases: useCases.dashboard, readKeyViewer })
  app.register(dashboardRoutes, { useCases: useCases.dashboard, readKeyViewer })
  app.register(statsRoutes, { useCases: useCases.stats })
  app.register(webhookRoutes, { useCases: useCases.webhooks })
  app.register(referenceRoutes)
  return app
}

const timeouts = (requestTimeoutMs: number) => ({
  requestTimeout: requestTimeoutMs,
  // A socket is silent while a settle waits for its receipt: 25 s, or 60 s where an operator wants it so.
  connectionTimeout: 90_000,
  // Longer than load balancers keep idle connections (60 s), so that they never send into a closing one.
  keepAliveTimeout: 75_000,
  http: {
    requestTimeout: requestTimeoutMs,
    headersTimeout: requestTimeoutMs,
    // How often node looks for requests that are late; its own 30 s would make the timeout a wish.
    connectionsCheckingInterval: Math.min(1_000, requestTimeoutMs),
  },
})
