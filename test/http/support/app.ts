import type { FastifyInstance } from 'fastify'
import { buildApp } from '../../../src/app.js'
import { AppError } from '../../../src/errors.js'
import type { RateLimitsParts } from '../../../src/http/plugins/rateLimits.js'
import { createMetrics, type Metrics } from '../../../src/platform/metrics.js'
import type { Secret } from '../../../src/platform/secret.js'
import type { Logger } from '../../../src/ports/logger.js'
import type { CoreUseCases } from '../../../src/usecases/useCases.js'

/** Core use cases that answer every call in the simplest way; what a test cares about is given. */
export const coreUseCases = (given: Partial<CoreUseCases> = {}): CoreUseCases => ({
  verifyPayment: async () => ({ isValid: true, payer: '0x18f77dd01186556F1F745E7847A4686421dEE072' }),
  settlePayment: async ({ body }) => ({
    result: {
      success: true,
      transaction: `0x${'ab'.repeat(32)}`,
      network: body.paymentRequirements.network,
      payer: '0x18f77dd01186556F1F745E7847A4686421dEE072',
      status: 'confirmed',
    },
    isReplayed: false,
  }),
  getSettlement: async () => {
    throw new AppError('NOT_FOUND', 'There is no settlement with this id')
  },
  getSettlementByTransaction: async () => {
    throw new AppError('NOT_FOUND', 'There is no settlement with this transaction')
  },
  listSettlements: async () => ({ settlements: [] }),
  listSupported: () => ({ kinds: [], extensions: [], signers: {} }),
  checkReadiness: async () => ({ status: 'ready', checks: { store: 'ok', rpc: 'ok' } }),
  describeService: () => ({
    name: 'quittance',
    version: '0.1.0',
    description: 'A facilitator',
    features: {},
  }),
  ...given,
})

/** What a test may choose about its app. */
export interface TestAppParts {
  readonly core?: Partial<CoreUseCases>
  readonly trustProxy?: readonly string[]
  readonly bodyLimitBytes?: number
  readonly requestTimeoutMs?: number
  readonly operatorToken?: Secret
  readonly logger?: Logger
  readonly metrics?: Metrics
  readonly limits?: RateLimitsParts
}

/** Metrics that know two networks. */
export const testMetrics = (): Metrics =>
  createMetrics({
    measuresProcess: false,
    kinds: [
      { scheme: 'exact', network: 'eip155:84532' },
      { scheme: 'exact', network: 'eip155:8453' },
    ],
  })

/** An app with fake use cases. */
export const testApp = (parts: TestAppParts = {}): FastifyInstance => {
  const { core, trustProxy = [], bodyLimitBytes = 1_048_576, requestTimeoutMs, logger, metrics } = parts
  const { operatorToken = null, limits = null } = parts
  return buildApp({
    useCases: { core: coreUseCases(core) },
    settings: {
      trustProxy,
      bodyLimitBytes,
      operatorToken,
      ...(requestTimeoutMs === undefined ? {} : { requestTimeoutMs }),
    },
    metrics: metrics ?? testMetrics(),
    limits,
    ...(logger === undefined ? {} : { logger }),
  })
}
