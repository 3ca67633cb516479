import type { FastifySchema } from 'fastify'
import { z } from 'zod'
import type { ErrorCode } from '../../errors.js'
import { readiness, serviceInfo, supported } from '../../protocol/results.js'
import { requestStatistics, settlementStatistics } from '../../protocol/statistics.js'
import { tierSources, tiers } from '../../protocol/tiers.js'
import { describeErrors, type Examples, jsonResponse } from './responses.js'

const readErrors = ['INTERNAL_ERROR'] as const satisfies readonly ErrorCode[]

const text = (description: string, mediaType: string, examples: Examples) => ({
  description,
  content: { [mediaType]: { schema: z.string(), examples } },
})

const readinessResponses = {
  ready: {
    value: {
      status: 'ready',
      checks: { database: 'ok', store: 'ok', rpc: 'ok', gas: 'low', 'gas:eip155:84532': 'low' },
    },
  },
  unready: {
    value: {
      status: 'unready',
      checks: { database: 'ok', store: 'ok', rpc: 'unreachable', gas: 'ok', 'gas:eip155:84532': 'ok' },
    },
  },
  stopping: { value: { status: 'stopping', checks: {} } },
} as const

const supportedResponse = {
  baseSepolia: {
    summary: 'One network',
    value: {
      kinds: [
        {
          payVersion: 2,
          x402Version: 2,
          t402Version: 2,
          scheme: 'exact',
          network: 'eip155:84532',
          extra: { name: 'USDC', version: '2' },
        },
        {
          payVersion: 1,
          x402Version: 1,
          t402Version: 1,
          scheme: 'exact',
          network: 'base-sepolia',
          extra: { name: 'USDC', version: '2' },
        },
      ],
      extensions: [],
      signers: { 'eip155:*': ['0x4278D9F55a12B3bf591bd76c4e1E8182adC7D11f'] },
    },
  },
} as const

const infoResponse = {
  info: {
    value: {
      name: 'quittance',
      version: '0.1.0',
      description: 'Payment facilitator for HTTP 402',
      endpoints: [{ method: 'POST', path: '/verify', description: 'Verify a payment without moving funds' }],
      features: { webhooks: true, registration: 'once' },
      limitations: [
        {
          network: 'eip155:84532',
          text: 'upto by permit, and streams by permit, are not offered without the router: run npm run deploy',
        },
      ],
    },
  },
} as const

export const healthSchema = {
  operationId: 'getHealth',
  tags: ['Service'],
  summary: 'Liveness probe',
  description: 'Returns 200 as long as the process runs, independent of its stores and chains.',
  response: {
    200: jsonResponse('The process is alive.', z.object({ status: z.literal('ok') }), {
      ok: { value: { status: 'ok' } },
    }),
    ...describeErrors(readErrors),
  },
} satisfies FastifySchema

export const readySchema = {
  operationId: 'getReadiness',
  tags: ['Service'],
  summary: 'Readiness probe',
  description:
    'Checks every dependency (database, store, at least one RPC endpoint) and reports each. While it returns 503, a ' +
    'load balancer should route requests elsewhere. It also reports gas that is `low` or `empty`, which does not ' +
    'affect readiness: other instances use the same signers. `stopping`: the instance was told to end, and serves all ' +
    'requests for `SHUTDOWN_DELAY_SECONDS` more.',
  response: {
    200: jsonResponse('All dependencies are available.', readiness, { ready: readinessResponses.ready }),
    ...describeErrors(readErrors),
    503: jsonResponse('A dependency is unavailable; see `checks`. Or the instance ends soon.', readiness, {
      unready: readinessResponses.unready,
      stopping: readinessResponses.stopping,
    }),
  },
} satisfies FastifySchema

const metricsErrors = ['UNAUTHORIZED', ...readErrors] as const satisfies readonly ErrorCode[]

export const metricsSchema = {
  operationId: 'getMetrics',
  tags: ['Service'],
  summary: 'Prometheus metrics',
  description:
    'Prometheus text format: requests and durations, verifications and settlements by network, scheme and ' +
    'result, open, reorged and lost settlements, signer balances, RPC endpoint health, and process metrics. At most a ' +
    'second old. Needs `METRICS_TOKEN` as bearer where the operator set it.',
  response: {
    200: text('Prometheus text exposition format.', 'text/plain', {
      verify: {
        value:
          'facilitator_verify_total{network="eip155:84532",scheme="exact",result="valid"} 42\n' +
          'facilitator_active_requests 1\n',
      },
    }),
    ...describeErrors(metricsErrors),
  },
} satisfies FastifySchema

export const infoSchema = {
  operationId: 'getInfo',
  tags: ['Service'],
  summary: 'Name, version, endpoints and features of this instance',
  description:
    'Lists the endpoints that this instance serves, its enabled features, and what its networks lack.',
  response: {
    200: jsonResponse('Service information.', serviceInfo, infoResponse),
    ...describeErrors(readErrors),
  },
} satisfies FastifySchema

export const supportedSchema = {
  operationId: 'getSupported',
  tags: ['Payments'],
  summary: 'Supported schemes and networks',
  description:
    'Every pair of scheme and network that this instance can currently settle, the data that clients need ' +
    'to sign (`extra`), protocol extensions, and the addresses that settlements are sent from. A network is ' +
    'omitted while its RPC endpoints are down or its signers are out of gas.',
  response: {
    200: jsonResponse('What can currently be settled.', supported, supportedResponse),
    ...describeErrors(readErrors),
  },
} satisfies FastifySchema

const tier = z
  .object({
    name: z.string().meta({ description: 'Display name' }),
    monthlyQuota: z.int().meta({ description: 'Transactions per month; -1 means unlimited' }),
    rpmLimit: z
      .int()
      .meta({ description: 'Requests per minute, for each of /verify and /settle; -1 means unlimited' }),
    feeRate: z.number().meta({ description: 'Fraction of a payment, for example 0.001' }),
    priceCents: z.int().meta({ description: 'Monthly price in cents' }),
  })
  .meta({ id: 'Tier' })

const tierList = z.object({
  tiers: z
    .object({
      free: tier.optional(),
      builder: tier.optional(),
      scale: tier.optional(),
      enterprise: tier.optional(),
    } satisfies Record<keyof typeof tiers, unknown>)
    .catchall(tier)
    .meta({ description: 'By id. All four, unless `source` is `configured`: then the ids of the operator' }),
  source: z.enum(tierSources).meta({
    description:
      '`specification`: the plans of a hosted service, the default with `API_KEY_REQUIRED=true` and of a ' +
      'sandbox. `self-hosted`: the default where keys are optional. `configured`: the operator set `TIERS`',
  }),
  registrationTier: z.string().meta({ description: 'Tier of new API keys' }),
})

export const tiersSchema = {
  operationId: 'getTiers',
  tags: ['Service'],
  summary: 'Plans: quotas, limits and prices',
  description:
    'The operator decides names, quotas, rates, fees and prices; the limits apply to callers with an API key.',
  response: {
    200: jsonResponse('All plans, by id.', tierList, {
      tiers: { summary: 'All plans', value: { tiers, source: 'specification', registrationTier: 'free' } },
    }),
    ...describeErrors(readErrors),
  },
} satisfies FastifySchema

export const requestStatisticsSchema = {
  operationId: 'getRequestStatistics',
  tags: ['Statistics'],
  summary: 'Request counts and mean duration',
  description:
    'Totals of all instances since the first start, delayed by a few seconds. Requests to `/health`, `/ready` and ' +
    '`/metrics` are excluded. Every 4xx and 5xx response counts as failed.',
  response: {
    200: jsonResponse('The counts.', requestStatistics, {
      counts: {
        value: {
          totalRequests: 1_234,
          successfulRequests: 1_233,
          failedRequests: 1,
          avgDurationMs: 41.7,
        },
      },
    }),
    ...describeErrors(readErrors),
  },
} satisfies FastifySchema

export const settlementStatisticsSchema = {
  operationId: 'getSettlementStatistics',
  tags: ['Statistics'],
  summary: 'Settlement counts by status',
  description: 'Totals of all instances since the first start, delayed by a few seconds.',
  response: {
    200: jsonResponse('The counts.', settlementStatistics, {
      counts: { value: { confirmed: 1_200, failed: 12, pending: 3 } },
    }),
    ...describeErrors(readErrors),
  },
} satisfies FastifySchema
