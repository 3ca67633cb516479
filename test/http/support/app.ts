import type { FastifyInstance } from 'fastify'
import { buildApp } from '../../../src/app.js'
import { AppError } from '../../../src/errors.js'
import type { BodyReceiverLimits } from '../../../src/http/plugins/jsonBodies.js'
import type { RateLimitsDependencies } from '../../../src/http/plugins/rateLimits.js'
import { accountResponses } from '../../../src/http/schemas/accounts.js'
import { callersExample, networkPause, overviewExample } from '../../../src/http/schemas/operatorExamples.js'
import { createMetrics, type Metrics } from '../../../src/platform/metrics.js'
import type { Secret } from '../../../src/platform/secret.js'
import type { Logger } from '../../../src/ports/logger.js'
import { bodyLimits } from '../../../src/protocol/requestLimits.js'
import type { CaptureUseCases } from '../../../src/usecases/captures/useCases.js'
import type { CoreUseCases } from '../../../src/usecases/core/useCases.js'
import type { DashboardUseCases, KeyHolder } from '../../../src/usecases/dashboard/useCases.js'
import type { DiscoveryUseCases } from '../../../src/usecases/discovery/useCases.js'
import type { IntentUseCases } from '../../../src/usecases/intents/useCases.js'
import type { OperatorUseCases } from '../../../src/usecases/operator/useCases.js'
import type { StreamUseCases } from '../../../src/usecases/streams/useCases.js'
import type {
  ChannelUseCases,
  CreditUseCases,
  RecipientUseCases,
  ReconciliationUseCases,
  SandboxUseCases,
  SiwxUseCases,
  StatsUseCases,
  WebhookUseCases,
} from '../../../src/usecases/useCases.js'
import { apiKeyOf } from '../../support/apiKeyOf.js'

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
  explainPayment: async () => ({ verdict: 'valid', rules: [], facts: [] }),
  listReasons: () => ({ reasons: [], errorCodes: [] }),
  getSettlement: async () => {
    throw new AppError('NOT_FOUND', 'There is no settlement with this id')
  },
  getSettlementByTransaction: async () => {
    throw new AppError('NOT_FOUND', 'There is no settlement with this transaction')
  },
  listSettlements: async () => ({ settlements: [] }),
  completeAccepts: async ({ accepts }) => ({
    payVersion: 2,
    x402Version: 2,
    t402Version: 2,
    resource: { url: '' },
    accepts: accepts.map(({ network, payTo }) => ({
      scheme: 'exact',
      network,
      amount: '1',
      asset: 'gold',
      payTo,
      maxTimeoutSeconds: 60,
      extra: {},
    })),
  }),
  priceAccepts: async () => ({
    payVersion: 1,
    x402Version: 1,
    t402Version: 1,
    error: 'Payment required',
    accepts: [],
  }),
  findRouter: async ({ network, payTo }) => ({
    network,
    payTo,
    routerAddress: '0x8f3Cf7ad23Cd3CaDbD9735AFf958023239c6A063',
    isDeployed: true,
  }),
  listSupported: () => ({ kinds: [], extensions: [], signers: {} }),
  listNetworks: () => [],
  checkReadiness: async () => ({ status: 'ready', checks: { store: 'ok', rpc: 'ok' } }),
  describeService: () => ({
    name: 'quittance',
    version: '0.1.0',
    description: 'A facilitator',
    features: {},
    limitations: [],
  }),
  ...given,
})

export const keyOwner: KeyHolder = {
  id: '2f6f3c1e-6f0b-4a53-9b0e-0d6f7c9a1b11',
  email: 'ada@example.com',
  project: 'Report shop',
  tier: 'free',
  status: 'active',
  createdAt: new Date('2026-01-01T00:00:00Z'),
  allowedIPs: null,
  allowedRef: null,
  customer: '2f6f3c1e-6f0b-4a53-9b0e-0d6f7c9a1b11',
  isProven: true,
  key: apiKeyOf(),
}

export const knownKey = `qtn_sk_${'0123456789abcdef'.repeat(4)}`

/** Dashboard use cases with one valid key; tests override what they need. */
export const dashboardUseCases = (given: Partial<DashboardUseCases> = {}): DashboardUseCases => ({
  authenticate: async ({ apiKey }) => {
    if (apiKey === knownKey) return keyOwner
    throw new AppError('UNAUTHORIZED', 'This API key is not valid')
  },
  checkRegistration: () => undefined,
  register: async () => accountResponses.registered.created.value,
  createApiKey: async ({ key }, { name }) => ({
    id: key.id,
    name,
    scopes: [...key.scopes],
    status: 'active',
    isPrimary: false,
    createdAt: key.createdAt.toISOString(),
    expiresAt: null,
    lastUsedAt: null,
    apiKey: `${knownKey}11`,
  }),
  listApiKeys: async () => ({ keys: [] }),
  revokeApiKey: async (_holder, id) => ({ id, revoked: true }),
  readAudit: async () => ({ entries: [] }),
  lookUp: async (email) => ({ email, keys: [] }),
  readInfo: async ({ email, project }) => ({
    ...accountResponses.info.info.value,
    allowedIPs: null,
    email,
    project,
  }),
  readQuota: async () => accountResponses.info.info.value.quota,
  listKeys: async ({ email }) => ({ email, keys: [] }),
  listSettlements: async () => ({ settlements: [] }),
  readUsage: async () => accountResponses.usage.week.value,
  rotateKey: async ({ project }) => ({ apiKey: `${knownKey}00`, project, message: 'Rotated' }),
  restrict: async (_account, { allowedIPs, allowedRef }) => ({
    allowedIPs: [...(allowedIPs ?? [])],
    allowedRef: [...(allowedRef ?? [])],
  }),
  countKeys: async () => 1,
  ...given,
})

export const siwxUseCases = (given: Partial<SiwxUseCases> = {}): SiwxUseCases => ({
  issueNonce: () => ({
    nonce: '0'.repeat(64),
    issuedAt: '2026-01-01T00:00:00.000Z',
    expirationTime: '2026-01-01T00:05:00.000Z',
  }),
  verifySignIn: async () => {
    throw new AppError('SIGN_IN_FAILED', 'The nonce was used before', { signInReason: 'siwx_nonce_used' })
  },
  ...given,
})

/** No wallet has paid; tests override what they need. */
export const creditUseCases = (given: Partial<CreditUseCases> = {}): CreditUseCases => {
  const score = ({ wallet }: { readonly wallet: string }) => ({
    wallet,
    namespace: 'eip155',
    score: 0,
    breakdown: { volumeScore: 0, frequencyScore: 0, reliabilityScore: 0, ageScore: 0 },
    stats: {
      paymentCount: 0,
      successRate: 0,
      totalVolume: '0',
      accountAgeDays: 0,
      payeeCount: 0,
      failureCount: 0,
      cyclePaymentCount: 0,
      returnedVolume: '0',
    },
    explanation: [],
    improvements: [],
  })
  return {
    readScore: async (query) => score(query),
    refreshScore: async (query) => ({ ...score(query), refresh: { isComplete: true, repairs: 0 } }),
    listTop: async () => ({ wallets: [] }),
    ...given,
  }
}

export const statsUseCases = (given: Partial<StatsUseCases> = {}): StatsUseCases => ({
  countRequest: () => undefined,
  readRequestStatistics: async () => ({
    totalRequests: 0,
    successfulRequests: 0,
    failedRequests: 0,
    avgDurationMs: 0,
  }),
  readSettlementStatistics: async () => ({ confirmed: 0, failed: 0, pending: 0 }),
  ...given,
})

/** Streams that do not exist; tests override what they need. */
export const streamUseCases = (given: Partial<StreamUseCases> = {}): StreamUseCases => {
  const refuse = async () => {
    throw new AppError('NOT_FOUND', 'Stream not found')
  }
  return {
    openStream: refuse,
    updateStream: refuse,
    closeStream: refuse,
    pauseStream: refuse,
    resumeStream: refuse,
    getStream: refuse,
    listStreams: async () => ({ streams: [] }),
    ...given,
  }
}

/** Nothing is paused, nobody has called; tests override what they need. */
export const operatorUseCases = (given: Partial<OperatorUseCases> = {}): OperatorUseCases => {
  const refuse = async () => {
    throw new AppError('NOT_FOUND', 'There is none')
  }
  return {
    countCaller: () => undefined,
    readCallers: () => callersExample,
    readOverview: async () => overviewExample,
    searchAccounts: async () => ({ accounts: [] }),
    setTier: refuse,
    revokeAccount: refuse,
    listPauses: async () => ({ pauses: [] }),
    setPause: async ({ reason, by = null }) => ({
      pause: { ...networkPause, reason, by },
      changed: true,
    }),
    clearPause: async () => ({ cleared: false, pauses: [] }),
    redeliver: refuse,
    readAudit: async () => ({ entries: [] }),
    ...given,
  }
}

/** Webhook use cases for an account without a webhook; tests override what they need. */
export const reconciliationUseCases = (
  given: Partial<ReconciliationUseCases> = {},
): ReconciliationUseCases => ({
  reconcilePeriod: async ({ from, to }) => ({
    from: from.toISOString(),
    to: to.toISOString(),
    isBalanced: true,
    checked: { settlements: 0, onChain: 0, unproven: 0, unavailable: 0, open: 0, waitingEvents: 0 },
    differences: [],
    counts: [],
    isTruncated: false,
    settlements: [],
  }),
  ...given,
})

export const webhookUseCases = (given: Partial<WebhookUseCases> = {}): WebhookUseCases => {
  const refuse = async () => {
    throw new AppError('INVALID_REQUEST', 'No webhook is set')
  }
  return {
    setWebhook: async (_account, webhookUrl) => ({ webhookUrl }),
    testWebhook: refuse,
    rotateSecret: refuse,
    listDeliveries: async () => ({ deliveries: [] }),
    redeliver: refuse,
    readEvents: async (_account, { cursor }) => ({ events: [], cursor, hasMore: false }),
    ...given,
  }
}

/** A sandbox without anything; tests override what they need. */
export const sandboxUseCases = (given: Partial<SandboxUseCases> = {}): SandboxUseCases => {
  const refuse = async () => {
    throw new AppError('NOT_FOUND', 'There is none')
  }
  return {
    listAddresses: () => ({ addresses: [] }),
    createPayment: () => {
      throw new AppError('INVALID_REQUEST', 'There is none')
    },
    createScenario: refuse,
    getScenario: refuse,
    advanceClock: refuse,
    createInbox: refuse,
    readInbox: refuse,
    ...given,
  }
}

/** An empty catalogue; tests override what they need. */
const discoveryUseCases = (given: Partial<DiscoveryUseCases> = {}): DiscoveryUseCases => {
  const refuse = async () => {
    throw new AppError('NOT_FOUND', 'No resource with this id is listed')
  }
  return {
    listResources: async ({ limit, offset }) => ({
      x402Version: 2,
      t402Version: 2,
      items: [],
      resources: [],
      total: 0,
      limit,
      offset,
      pagination: { limit, offset, total: 0, cursor: null },
      partialResults: false,
    }),
    searchResources: async ({ limit }) => ({
      x402Version: 2,
      t402Version: 2,
      resources: [],
      partialResults: false,
      pagination: { limit, cursor: null },
    }),
    getResource: refuse,
    validateDeclaration: async () => ({ wouldBeListed: false, version: 2, rules: [] }),
    changeListing: refuse,
    ...given,
  }
}

/** Without any intent; tests override what they need. */
export const intentUseCases = (given: Partial<IntentUseCases> = {}): IntentUseCases => {
  const refuse = async () => {
    throw new AppError('NOT_FOUND', 'There is no intent with this id')
  }
  return {
    createIntent: refuse,
    getIntent: refuse,
    listIntents: async () => ({ intents: [] }),
    selectRoute: refuse,
    executeIntent: refuse,
    cancelIntent: refuse,
    refreshIntent: refuse,
    ...given,
  }
}

/** Without any hold; tests override what they need. */
export const captureUseCases = (given: Partial<CaptureUseCases> = {}): CaptureUseCases => {
  const refuse = async () => {
    throw new AppError('NOT_FOUND', 'The account has no such payment')
  }
  return {
    moveHold: refuse,
    setAtDeadline: refuse,
    setDefault: async (_accountId, atDeadline) => ({ atDeadline }),
    getDefault: async () => ({ atDeadline: 'nothing' }),
    getHeldPayment: refuse,
    listHeldPayments: async () => ({ payments: [] }),
    ...given,
  }
}

/** No recipient has stated anything; tests override what they need. */
export const recipientUseCases = (given: Partial<RecipientUseCases> = {}): RecipientUseCases => ({
  writeMessage: () => ({
    message: 'Sign this',
    nonce: '0'.repeat(64),
    expirationTime: '2026-01-01T00:10:00.000Z',
  }),
  stateRecipient: async (_account, { network, payTo }) => ({
    network,
    payTo,
    claims: { memo: false, signedClaim: false, uniqueAmount: false, ownKey: true },
    statedAt: '2026-01-01T00:00:00.000Z',
    isOverridden: false,
  }),
  listRecipients: async () => ({ recipients: [] }),
  deleteRecipient: async (_account, { network, payTo }) => ({ network, payTo, deleted: true }),
  ...given,
})

export const channelUseCases = (given: Partial<ChannelUseCases> = {}): ChannelUseCases => ({
  listChannels: async () => ({ channels: [] }),
  getChannel: async () => {
    throw new AppError('NOT_FOUND', 'no such channel')
  },
  ...given,
})

export interface TestAppOptions {
  readonly intents?: Partial<IntentUseCases>
  readonly captures?: Partial<CaptureUseCases>
  readonly core?: Partial<CoreUseCases>
  readonly dashboard?: Partial<DashboardUseCases>
  readonly apiKeyRequired?: boolean
  readonly operator?: Partial<OperatorUseCases>
  readonly reconciliation?: Partial<ReconciliationUseCases>
  readonly recipients?: Partial<RecipientUseCases>
  readonly credit?: Partial<CreditUseCases>
  readonly siwx?: Partial<SiwxUseCases>
  readonly stats?: Partial<StatsUseCases>
  readonly streams?: Partial<StreamUseCases>
  readonly channels?: Partial<ChannelUseCases>
  readonly webhooks?: Partial<WebhookUseCases>
  readonly sandbox?: Partial<SandboxUseCases>
  readonly isSandbox?: boolean
  readonly discovery?: Partial<DiscoveryUseCases>
  readonly trustProxy?: readonly string[]
  readonly maxPaymentBodyBytes?: number
  readonly requestTimeoutMs?: number
  readonly receiving?: BodyReceiverLimits
  readonly operatorToken?: Secret
  readonly metricsToken?: Secret
  readonly maxConnections?: number
  readonly maxConnectionsPerAddress?: number
  readonly maxRequestsPerAddress?: number
  readonly unreadTimeoutMs?: number
  readonly firstByteTimeoutMs?: number
  /** Default: none. */
  readonly refusalDelayMs?: number
  readonly accountOrigins?: readonly string[]
  readonly logger?: Logger
  readonly metrics?: Metrics
  readonly limits?: RateLimitsDependencies
  readonly wake?: () => Promise<void> | null
}

export const testMetrics = (): Metrics =>
  createMetrics({
    measuresProcess: false,
    kinds: [
      { scheme: 'exact', network: 'eip155:84532' },
      { scheme: 'exact', network: 'eip155:8453' },
    ],
  })

export const testApp = (parts: TestAppOptions = {}): FastifyInstance => {
  const { core, trustProxy = [], maxPaymentBodyBytes = bodyLimits.payment, logger, metrics } = parts
  const { requestTimeoutMs, receiving } = parts
  const { dashboard, stats, operatorToken = null, apiKeyRequired = false, limits = null } = parts
  const { accountOrigins = [] } = parts
  return buildApp({
    useCases: {
      channels: channelUseCases(parts.channels),
      core: coreUseCases(core),
      dashboard: dashboardUseCases(dashboard),
      operator: operatorUseCases(parts.operator),
      reconciliation: reconciliationUseCases(parts.reconciliation),
      recipients: recipientUseCases(parts.recipients),
      intents: intentUseCases(parts.intents),
      captures: captureUseCases(parts.captures),
      credit: creditUseCases(parts.credit),
      siwx: siwxUseCases(parts.siwx),
      stats: statsUseCases(stats),
      streams: streamUseCases(parts.streams),
      webhooks: webhookUseCases(parts.webhooks),
      sandbox: sandboxUseCases(parts.sandbox),
      discovery: discoveryUseCases(parts.discovery),
    },
    ...(parts.wake === undefined ? {} : { wake: parts.wake }),
    settings: {
      trustProxy,
      maxPaymentBodyBytes,
      operatorToken,
      accountOrigins,
      apiKeyRequired,
      isSandbox: parts.isSandbox ?? false,
      metricsToken: parts.metricsToken ?? null,
      maxConnections: parts.maxConnections ?? 0,
      maxConnectionsPerAddress: parts.maxConnectionsPerAddress ?? 0,
      maxRequestsPerAddress: parts.maxRequestsPerAddress ?? 0,
      refusalDelayMs: parts.refusalDelayMs ?? 0,
      ...(parts.firstByteTimeoutMs === undefined ? {} : { firstByteTimeoutMs: parts.firstByteTimeoutMs }),
      ...(parts.unreadTimeoutMs === undefined ? {} : { unreadTimeoutMs: parts.unreadTimeoutMs }),
      ...(requestTimeoutMs === undefined ? {} : { requestTimeoutMs }),
      ...(receiving === undefined ? {} : { receiving }),
    },
    metrics: metrics ?? testMetrics(),
    limits,
    ...(logger === undefined ? {} : { logger }),
  })
}
