import { describe, expect, it } from 'vitest'
import { type MonitoredNetwork, requireToken } from '../../../src/chains/common/networkMonitor.js'

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
