import { describe, expect, it } from 'vitest'
import { createFailureLog } from '../../../src/failureLog.js'
import type { IntentTerms } from '../../../src/ports/intentStore.js'
import type { RouteProblem } from '../../../src/protocol/intents.js'
import type { Token } from '../../../src/schemes/network.js'
import { createSchemeRegistry } from '../../../src/schemes/registry.js'
import type { Scheme } from '../../../src/schemes/scheme.js'
import { noClaimRules } from '../../../src/usecases/core/verify/claimRules.js'
import { createChainReadings } from '../../../src/usecases/intents/chainReadings.js'
import { createPlanRoutes, rankRoutes } from '../../../src/usecases/intents/planRoutes.js'
import { routeOf } from '../../support/intentOf.js'
import { createManualClock } from '../../support/manualClock.js'
import { createMemoryLogger } from '../../support/memoryLogger.js'
import { waitLimitMs } from '../../support/pollUntil.js'
import { rejectionOf } from '../../support/rejectionOf.js'
import { createToyScheme, type ToyScript } from '../../support/toyScheme.js'

const gold: Token = { asset: 'gold', symbol: 'GOLD', decimals: 6, isDollar: true }

const schemeOf = (network: string, { network: facts, ...changes }: ToyScript = {}): Scheme =>
  createToyScheme({
    kind: { scheme: 'exact', network },
    network: {
      listTokens: () => [gold],
      balances: { read: async () => 50_000n },
      fees: { estimate: async () => ({ amount: 7n, symbol: 'COIN', decimals: 18, paidBy: 'facilitator' }) },
      secondsToSettle: 2,
      ...facts,
    },
    ...changes,
  })

const hanging = () => new Promise<never>(() => undefined)
const failing = () => Promise.reject(new Error('The node does not answer'))

const termsOf = (changes: Partial<IntentTerms> = {}): IntentTerms => ({
  payer: 'alice',
  payee: 'bob',
  amount: '10000',
  asset: 'GOLD',
  ...changes,
})

interface Situation {
  readonly schemes: readonly Scheme[]
  readonly terms?: Partial<IntentTerms>
  readonly isServing?: (network: string) => boolean
  readonly deadlineMs?: number
  readonly lifeSeconds?: number
}

const setup = ({ schemes, isServing = () => true, deadlineMs = waitLimitMs }: Situation) => {
  const clock = createManualClock()
  const logger = createMemoryLogger()
  const planRoutes = createPlanRoutes({
    registry: createSchemeRegistry(schemes),
    isServing,
    claimRules: noClaimRules,
    readings: createChainReadings({ clock, deadlineMs, readingsAtOnce: 16 }),
    failures: createFailureLog({ logger, event: 'intents.network_unavailable', recovered: null }),
    deadlineMs,
  })
  const plan = ({ terms, lifeSeconds = 3_600 }: Pick<Situation, 'terms' | 'lifeSeconds'> = {}) => {
    const now = clock.now()
    return planRoutes({
      caller: 'anonymous',
      terms: termsOf(terms),
      now,
      expiresAt: new Date(now.getTime() + lifeSeconds * 1_000),
    })
  }
  return { plan, clock, logger }
}

const plan = (situation: Situation) => setup(situation).plan(situation)

const problemsOf = async (situation: Situation) => {
  const { routes, unavailable } = await plan(situation)
  return [
    ...routes.map(({ network }) => `${network} ok`),
    ...unavailable.map(({ network, reason }) => `${network} ${reason}`),
  ]
}

describe('the routes of an intent', () => {
  it('say what is paid, from what balance, for which fee, and how fast', async () => {
    const { routes, unavailable } = await plan({ schemes: [schemeOf('toy:1')] })
    expect(unavailable).toEqual([])
    expect(routes).toEqual([
      {
        id: expect.stringMatching(/^route_[0-9a-f]{16}$/),
        scheme: 'exact',
        network: 'toy:1',
        asset: 'gold',
        symbol: 'GOLD',
        decimals: 6,
        amount: '10000',
        payer: 'alice',
        payTo: 'bob',
        balance: '50000',
        fee: { amount: '7', symbol: 'COIN', decimals: 18, paidBy: 'facilitator' },
        estimatedSeconds: 2,
        score: 0.941,
        validUntil: '2026-01-01T00:05:00.000Z',
      },
    ])
  })

  it('are every token with the symbol, under every scheme but metered ones', async () => {
    const silver: Token = { ...gold, asset: 'gold-2' }
    const other: Token = { ...gold, asset: 'lead', symbol: 'LEAD' }
    const tokens = { network: { listTokens: () => [gold, other, silver] } }
    const kinds = ['exact', 'exact-direct', 'upto']
    const schemes = kinds.map((scheme) =>
      schemeOf('toy:1', { ...tokens, kind: { scheme, network: 'toy:1' } }),
    )
    const { routes } = await plan({ schemes })
    expect(routes.map(({ scheme, asset }) => `${scheme} ${asset}`)).toEqual([
      'exact gold',
      'exact-direct gold',
      'exact gold-2',
      'exact-direct gold-2',
    ])
  })

  it('are those of one asset where the request names one', async () => {
    const schemes = [
      schemeOf('toy:1', { network: { isAsset: (text) => text === 'gold' } }),
      schemeOf('toy:2', { network: { isAsset: () => false } }),
    ]
    expect(await problemsOf({ schemes, terms: { asset: 'gold' } })).toEqual([
      'toy:1 ok',
      'toy:2 unsupported_asset',
    ])
  })

  it('take a text that is a symbol anywhere for a symbol everywhere', async () => {
    const schemes = [
      schemeOf('toy:1'),
      schemeOf('toy:2', { network: { listTokens: () => [], isAsset: () => true } }),
    ]
    expect(await problemsOf({ schemes })).toEqual(['toy:1 ok', 'toy:2 unsupported_asset'])
  })

  it.each<[string, ToyScript, Partial<IntentTerms>, RouteProblem]>([
    ['a network that is not offered', { describeKind: () => null }, {}, 'network_unavailable'],
    ['a network without the token', { network: { listTokens: () => [] } }, {}, 'unsupported_asset'],
    [
      'an asset that the network does not settle',
      { describeAsset: async () => null },
      { asset: 'lead' },
      'unsupported_asset',
    ],
    ['a listed token whose terms are missing', { describeAsset: async () => null }, {}, 'unsupported_asset'],
    [
      'an asset that cannot be looked up',
      { describeAsset: failing },
      { asset: 'lead' },
      'network_unavailable',
    ],
    [
      'an amount that one host cannot confirm',
      { network: { isTooLarge: () => true } },
      {},
      'cross_check_unavailable',
    ],
    [
      'an amount below the minimum',
      { network: { listMinimums: () => ({ gold: '10001' }) } },
      {},
      'payment_below_minimum',
    ],
    [
      'a token with too few decimals',
      { network: { listTokens: () => [{ ...gold, decimals: 2 }] } },
      { amount: '10001' },
      'amount_not_exact',
    ],
    ['a balance that cannot be read', { network: { balances: { read: failing } } }, {}, 'balance_unknown'],
    [
      'a balance that is too low',
      { network: { balances: { read: async () => 9_999n } } },
      {},
      'insufficient_balance',
    ],
    [
      'a payer without an address there',
      { network: { isAddress: (text) => text === 'bob' } },
      { payer: 'carol' },
      'no_payer_address',
    ],
    [
      'a payee without an address there',
      { network: { isAddress: (text) => text === 'alice' } },
      { payee: 'carol' },
      'no_payee_address',
    ],
    ['a payer who is the payee', {}, { payee: 'alice' }, 'self_payment'],
    [
      'a payer who is the payee in another spelling',
      { network: { normalizeAddress: (text) => text.toLowerCase() } },
      { payee: 'Alice' },
      'self_payment',
    ],
    ['a testnet that is not named', { network: { isTestnet: true } }, {}, 'testnet'],
  ])('exclude %s', async (_name, changes, terms, problem) => {
    // The second network keeps the request sensible.
    const schemes = [schemeOf('toy:1', changes), schemeOf('toy:2')]
    const { routes, unavailable } = await plan({ schemes, terms })
    expect(routes.map(({ network }) => network)).not.toContain('toy:1')
    expect(unavailable.filter(({ network }) => network === 'toy:1')).toEqual([
      expect.objectContaining({
        network: 'toy:1',
        scheme: 'exact',
        reason: problem,
        message: expect.any(String),
      }),
    ])
  })

  it('exclude a network that is down', async () => {
    const situation = {
      schemes: [schemeOf('toy:1'), schemeOf('toy:2')],
      isServing: (network: string) => network === 'toy:2',
    }
    expect(await problemsOf(situation)).toEqual(['toy:2 ok', 'toy:1 network_unavailable'])
  })

  it('name the balance that is too low', async () => {
    const { unavailable } = await plan({
      schemes: [schemeOf('toy:1', { network: { balances: { read: async () => 5n } } })],
    })
    expect(unavailable[0]?.message).toBe('The payer has too little: 5 of 10000 smallest units')
  })

  it.each<[string, Partial<IntentTerms>, readonly string[]]>([
    ['sourceNetworks', { sourceNetworks: ['toy:2', 'toy:3'] }, ['toy:2 ok', 'toy:3 ok']],
    ['targetNetwork', { targetNetwork: 'toy:2' }, ['toy:2 ok']],
    ['both', { targetNetwork: 'toy:2', sourceNetworks: ['toy:1', 'toy:2'] }, ['toy:2 ok']],
    [
      'a target that is no source',
      { targetNetwork: 'toy:2', sourceNetworks: ['toy:1'] },
      ['toy:2 bridge_needed'],
    ],
    ['a target that is not served', { targetNetwork: 'toy:9' }, ['toy:9 network_not_served']],
    [
      'a source that is not served',
      { sourceNetworks: ['toy:9', 'toy:1'] },
      ['toy:1 ok', 'toy:9 network_not_served'],
    ],
    ['a testnet by name', { sourceNetworks: ['test:1'] }, ['test:1 ok']],
  ])('keep to %s', async (_name, terms, expected) => {
    const testnet = schemeOf('test:1', { network: { isTestnet: true } })
    const schemes = [schemeOf('toy:1'), schemeOf('toy:2'), schemeOf('toy:3'), testnet]
    const wallets = { payer: { toy: 'alice', test: 'alice' }, payee: { toy: 'bob', test: 'bob' } }
    expect(await problemsOf({ schemes, terms: { ...wallets, ...terms } })).toEqual(expected)
  })

  it('know the other names of a network', async () => {
    const schemes = [schemeOf('eip155:8453'), schemeOf('eip155:1')]
    expect(await problemsOf({ schemes, terms: { targetNetwork: 'base' } })).toEqual(['eip155:8453 ok'])
  })

  it('include testnets where there is nothing else', async () => {
    expect(await problemsOf({ schemes: [schemeOf('toy:1', { network: { isTestnet: true } })] })).toEqual([
      'toy:1 ok',
    ])
  })

  it.each([
    ['18 decimals', { decimals: 18 }, {}, '10000000000000000'],
    ['2 decimals', { decimals: 2 }, {}, '1'],
    ['18 decimals, of an amount with 2', { decimals: 18 }, { decimals: 2 }, '100000000000000000000'],
    ['6 decimals, named by its address: its own smallest units', {}, { asset: 'gold' }, '10000'],
    ['6 decimals, named by its address, of an amount with 8', {}, { asset: 'gold', decimals: 8 }, '100'],
  ])('convert the amount exactly for a token with %s', async (_name, token, terms, amount) => {
    const network = {
      listTokens: () => [{ ...gold, ...token }],
      balances: { read: async () => 10n ** 30n },
    }
    const { routes } = await plan({ schemes: [schemeOf('toy:1', { network })], terms })
    expect(routes[0]?.amount).toBe(amount)
  })

  it('know nothing of balance, fee and time where the scheme does not', async () => {
    const bare = createToyScheme({ network: { listTokens: () => [gold] } })
    const { routes } = await plan({ schemes: [bare] })
    expect(routes[0]).toMatchObject({ balance: null, fee: null, estimatedSeconds: null, score: 0.25 })
  })

  it('are offered without a fee if it cannot be read', async () => {
    const { routes } = await plan({
      schemes: [schemeOf('toy:1', { network: { fees: { estimate: failing } } })],
    })
    expect(routes[0]?.fee).toBeNull()
  })

  it('do not wait for a network that hangs beyond the deadline', async () => {
    const schemes = [
      schemeOf('toy:1'),
      schemeOf('toy:2', { network: { balances: { read: hanging } } }),
      schemeOf('toy:3', { network: { fees: { estimate: hanging } } }),
      schemeOf('toy:4', { describeAsset: hanging }),
    ]
    expect(await problemsOf({ schemes, deadlineMs: 100 })).toEqual([
      'toy:1 ok',
      'toy:3 ok',
      'toy:2 balance_unknown',
      'toy:4 network_unavailable',
    ])
  })

  it('of other networks are there although more requests than it may have at once wait for one that hangs', async () => {
    const schemes = [schemeOf('toy:1', { network: { balances: { read: hanging } } }), schemeOf('toy:2')]
    const { plan: again } = setup({ schemes, deadlineMs: 100 })
    for (let round = 0; round < 2; round++) {
      const payers = Array.from({ length: 20 }, (_, at) => `payer-${round}-${at}`)
      const plans = await Promise.all(payers.map((payer) => again({ terms: { payer } })))
      for (const { routes, unavailable } of plans) {
        expect(routes.map(({ network }) => network)).toEqual(['toy:2'])
        expect(['balance_unknown', 'network_unavailable']).toContain(unavailable[0]?.reason)
      }
    }
  })

  it('are valid for five minutes, and never longer than the intent', async () => {
    const schemes = [schemeOf('toy:1')]
    expect((await plan({ schemes })).validUntil).toEqual(new Date('2026-01-01T00:05:00Z'))
    expect((await plan({ schemes, lifeSeconds: 60 })).validUntil).toEqual(new Date('2026-01-01T00:01:00Z'))
  })

  it('read one balance once for requests of the same moment', async () => {
    let readings = 0
    const read = async () => {
      readings += 1
      return 50_000n
    }
    const { plan: again, clock } = setup({
      schemes: [schemeOf('toy:1', { network: { balances: { read } } })],
    })
    await Promise.all([again(), again(), again()])
    await again({ terms: { payee: 'carol' } })
    expect(readings).toBe(1)
    await again({ terms: { payer: 'dave' } })
    expect(readings).toBe(2)
    await clock.advance(2_000)
    await again()
    expect(readings).toBe(3)
  })

  it('keep their ids when they are computed again', async () => {
    const { plan: again } = setup({ schemes: [schemeOf('toy:1'), schemeOf('toy:2')] })
    const ids = (await again()).routes.map(({ id }) => id)
    expect(new Set(ids).size).toBe(2)
    expect((await again()).routes.map(({ id }) => id)).toEqual(ids)
  })

  it('log a network that does not answer once', async () => {
    const { plan: again, logger } = setup({
      schemes: [schemeOf('toy:1', { network: { balances: { read: failing } } })],
    })
    await again()
    await again()
    expect(logger.lines.filter(({ message }) => message === 'intents.network_unavailable')).toHaveLength(1)
  })

  it('refuse an asset that is neither a symbol nor an asset of any network', async () => {
    const schemes = [schemeOf('toy:1', { network: { isAsset: () => false } })]
    const refusal = await rejectionOf(plan({ schemes, terms: { asset: 'LEAD' } }))
    expect(refusal).toMatchObject({ code: 'INVALID_REQUEST' })
    expect(refusal.message).toBe(
      'asset: is neither an asset of a network that is served nor one of the symbols GOLD',
    )
  })
})

describe('the order of routes', () => {
  const ranked = (score: number, preference: number, network: string) => ({
    preference,
    route: routeOf({ score, network }),
  })

  it('is by score, then by preference of the network, then by name', () => {
    const routes = rankRoutes([
      ranked(0.5, 1, 'b'),
      ranked(0.5, 0, 'c'),
      ranked(0.5, 0, 'a'),
      ranked(0.9, 3, 'd'),
      ranked(0.1, 0, 'e'),
      ranked(0.05, 0, 'f'),
    ])
    expect(routes.map(({ network }) => network)).toEqual(['d', 'a', 'c', 'b', 'e', 'f'])
  })
})
