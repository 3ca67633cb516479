import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import {
  createNetworkMonitor,
  type MonitoredNetwork,
  requireToken,
} from '../../../src/chains/common/networkMonitor.js'
import { systemClock } from '../../../src/platform/clock.js'
import { createMemoryLogger } from '../../support/memoryLogger.js'

const createNetwork = (problem: string | null = null): MonitoredNetwork => ({
  network: 'toy:1',
  findProblem: async () => problem,
  describeFailure: () => 'no node answers',
  listSigners: () => [],
  getBalanceLevel: () => 'ok',
  listEndpoints: () => [],
})

interface Options {
  readonly answers: Readonly<Record<string, boolean | 'silent'>>
  readonly acceptsAnyToken?: boolean
  readonly problem?: string
}

const openNetwork = ({ answers, acceptsAnyToken = false, problem }: Options) => {
  let known = answers
  const asked: string[] = []
  const { findProblem, describeFailure } = requireToken(createNetwork(problem ?? null), {
    assets: Object.keys(answers),
    acceptsAnyToken,
    variable: 'TOY_TOKENS',
    hasToken: async (asset) => {
      asked.push(asset)
      const answer = known[asset]
      if (answer === undefined || answer === 'silent') throw new Error('No answer')
      return answer
    },
  })
  return {
    asked,
    describe: () => findProblem().catch(describeFailure),
    answer: (changed: Options['answers']) => {
      known = { ...known, ...changed }
    },
  }
}

const missing = 'the network has none of the tokens: check TOY_TOKENS'
const unknown = 'its nodes do not answer which tokens it has'

describe('a network', () => {
  it.each<[string, Options, string | null]>([
    ['with one of its tokens serves', { answers: { gold: false, silver: true } }, null],
    ['with one token, and another that is not answered, serves', { answers: { a: 'silent', b: true } }, null],
    ['without any of its tokens does not serve', { answers: { gold: false, silver: false } }, missing],
    ['whose tokens are not answered does not serve', { answers: { gold: false, silver: 'silent' } }, unknown],
    ['whose list is empty does not serve', { answers: {} }, missing],
    ['that takes any token serves', { answers: { gold: false }, acceptsAnyToken: true }, null],
    ['names its other problems first', { answers: { gold: false }, problem: 'no gas' }, 'no gas'],
  ])('%s', async (_name, options, problem) => {
    expect(await openNetwork(options).describe()).toBe(problem)
  })

  it('serves once its token is there, and asks for it no more', async () => {
    const { describe, answer, asked } = openNetwork({ answers: { gold: false } })
    expect(await describe()).toBe(missing)
    answer({ gold: true })
    expect(await describe()).toBeNull()
    answer({ gold: 'silent' })
    expect(await describe()).toBeNull()
    expect(asked).toHaveLength(2)
  })

  it('has its own words for failures of its nodes', async () => {
    const network = createNetwork()
    const { describeFailure } = requireToken(network, {
      assets: [],
      acceptsAnyToken: false,
      variable: 'TOY_TOKENS',
      hasToken: async () => true,
    })
    expect(describeFailure(new Error('unreachable'))).toBe('no node answers')
  })
})

describe('the checks of a network', () => {
  beforeEach(() => vi.useFakeTimers({ toFake: ['performance', 'setTimeout', 'clearTimeout'] }))
  afterEach(() => vi.useRealTimers())

  /** Times of its checks, in seconds since the start. */
  const watch = async (
    seconds: number,
    {
      instances = 1,
      uses = [],
      findProblem = () => null,
    }: {
      readonly instances?: number
      readonly uses?: readonly number[]
      readonly findProblem?: (at: number) => string | null
    } = {},
  ) => {
    const startedAt = performance.now()
    const now = () => Math.round((performance.now() - startedAt) / 1_000)
    const checks: number[] = []
    const monitor = createNetworkMonitor(
      {
        ...createNetwork(),
        findProblem: async () => {
          checks.push(now())
          return findProblem(now())
        },
      },
      {
        clock: systemClock,
        logger: createMemoryLogger(),
        activity: {
          findUsedAt: () => startedAt + 1_000 * Math.max(0, ...uses.filter((at) => at <= now())),
          countInstances: () => instances,
        },
      },
    )
    await monitor.check()
    await vi.advanceTimersByTimeAsync(seconds * 1_000)
    await monitor.close()
    return checks
  }
  const every = (step: number, from: number, to: number) =>
    Array.from({ length: Math.floor((to - from) / step) + 1 }, (_, index) => from + step * index)

  it('are made every 5 s for a minute after the start, then every 15 s', async () => {
    expect(await watch(120)).toEqual([...every(5, 0, 55), 70, 85, 100, 115])
  })

  it.each([
    [2, 30, [85, 115, 145, 175]],
    [10, 45, [100, 145]],
  ])('of %i instances are made every %i s', async (instances, _seconds, later) => {
    expect(await watch(180, { instances })).toEqual([...every(5, 0, 55), ...later])
  })

  it('are made every 5 s again within 5 s of a payment', async () => {
    expect(await watch(140, { uses: [121] })).toEqual([
      ...every(5, 0, 55),
      70,
      85,
      100,
      115,
      125,
      130,
      135,
      140,
    ])
  })

  it('are made every 5 s while it has a problem', async () => {
    const findProblem = (at: number) => (at >= 85 && at < 100 ? 'no gas' : null)
    expect(await watch(130, { findProblem })).toEqual([...every(5, 0, 55), 70, 85, 90, 95, 100, 115, 130])
  })
})
