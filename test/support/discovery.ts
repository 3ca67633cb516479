import { randomUUID } from 'node:crypto'
import type { Pool } from 'pg'
import type { SettledPayment } from '../../src/extensions/extension.js'
import { silentLogger } from '../../src/platform/logger.js'
import type { DiscoveryCatalogue } from '../../src/ports/discovery.js'
import type { Requester } from '../../src/ports/rateLimiter.js'
import type { Fields } from '../../src/protocol/fields.js'
import { createDiscovery, type DiscoveryDependencies } from '../../src/usecases/discovery/index.js'
import { emptyTables } from './emptyTables.js'
import { createManualClock } from './manualClock.js'
import { withoutExtensions } from './plainPayment.js'
import { createPatientValidator } from './schemaValidator.js'

export const bazaarOf = (input: Fields = { type: 'http', method: 'GET', queryParams: { city: 'x' } }) => ({
  info: { input },
  schema: {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    type: 'object',
    properties: { input: { type: 'object' } },
    required: ['input'],
  },
})

export interface SettlementOptions {
  readonly url?: string
  readonly bazaar?: unknown
  readonly payer?: string
  readonly payTo?: string
  readonly caller?: string
  readonly network?: string
  readonly scheme?: string
  readonly asset?: string
  readonly amount?: bigint
  readonly details?: Fields
  readonly status?: 'confirmed' | 'pending'
  readonly requester?: Requester
}

export const merchant = '0x501c54CF2d651A79b6F1ef8b1727A4ab80f6128c'

/** A settled payment that declares `bazaar`, of a new payer. */
export const settledPayment = (given: SettlementOptions = {}): SettledPayment => {
  const { url = 'https://weather.example/v1/forecast', network = 'eip155:84532' } = given
  const { status = 'confirmed', details = {} } = given
  const bazaar = 'bazaar' in given ? given.bazaar : bazaarOf()
  return {
    payment: {
      ...withoutExtensions,
      version: 2,
      callerNetwork: network,
      requirements: {
        scheme: given.scheme ?? 'exact',
        network,
        amount: given.amount ?? 10_000n,
        minAmount: null,
        asset: given.asset ?? '0x036CbD53842c5426634e7929541eC2318f3dCF7e',
        payTo: given.payTo ?? merchant,
        maxTimeoutSeconds: 60,
        extra: { name: 'USDC' },
      },
      proof: {},
      resource: url,
      settleAmount: null,
      acceptedAmount: null,
      usageDetails: null,
      ...(bazaar === undefined
        ? {}
        : { extensions: { bazaar }, declaredExtensions: {}, clientExtensions: { bazaar } }),
      resourceDetails: { url, ...details },
    },
    result: {
      success: status === 'confirmed',
      transaction: '0xab',
      network,
      payer: given.payer ?? `0x${randomUUID().replaceAll('-', '')}00000000`,
      status,
    },
    caller: given.caller ?? 'anonymous',
    ...(given.requester === undefined ? {} : { requester: given.requester }),
  }
}

export const clearDiscovery = (pool: Pool) =>
  emptyTables(pool, 'discovery_resources', 'discovery_payers', 'discovery_recipients', 'discovery_challenges')

export const staleMs = 30 * 86_400_000

const noChallenges: DiscoveryDependencies['challenges'] = {
  lease: async () => [],
  answer: async () => undefined,
  purge: async () => undefined,
}

// Its thread judges for all tests of a worker.
const validator = createPatientValidator()

export const createTestDiscovery = (
  catalogue: DiscoveryCatalogue,
  given: Partial<DiscoveryDependencies> = {},
) => {
  const clock = createManualClock()
  const discovery = createDiscovery({
    validators: { explained: validator, settled: validator },
    catalogue,
    challenges: noChallenges,
    probe: null,
    verifyMessage: async () => false,
    clock,
    logger: silentLogger,
    settings: { allowsPrivateHosts: false, staleMs },
    ...given,
  })
  return {
    ...discovery,
    clock,
    /** What is answered under `extensions.bazaar`. */
    answerSettle: async (options: SettlementOptions = {}) =>
      (await discovery.extension.onSettled?.(settledPayment(options)))?.answer ?? null,
    /** What became of it. */
    settle: async (options: SettlementOptions = {}) =>
      await discovery.listAfterSettle(settledPayment(options)).outcome,
    list: (query: Partial<Parameters<typeof discovery.useCases.listResources>[0]> = {}) =>
      discovery.useCases.listResources({ limit: 20, offset: 0, ...query }),
    search: (query: string, options: { readonly limit?: number; readonly network?: string } = {}) =>
      discovery.useCases.searchResources({ limit: 20, query, ...options }),
  }
}
