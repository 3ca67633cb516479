import { describe, expect, it } from 'vitest'
import type { CreditFacts, CreditStore, Recount } from '../../../src/ports/creditStore.js'
import { createSchemeRegistry } from '../../../src/schemes/registry.js'
import { createCredit } from '../../../src/usecases/credit/index.js'
import { createManualClock } from '../../support/manualClock.js'
import { createMemoryLogger } from '../../support/memoryLogger.js'
import { createToyScheme } from '../../support/toyScheme.js'

const now = new Date('2026-06-01T00:00:00Z')
const facts: CreditFacts = {
  payments: 20,
  volume: 100_000_000n,
  cappedPayments: 20,
  cappedVolume: 100_000_000n,
  payees: 20,
  returnedPayments: 2,
  returnedVolume: 3_000_000n,
  failures: 1,
  firstAt: new Date('2026-05-02T00:00:00Z'),
}
const sound: Recount = { isComplete: true, repairs: 0 }

const open = (known: Readonly<Record<string, CreditFacts>> = {}, store: Partial<CreditStore> = {}) => {
  const logger = createMemoryLogger()
  const counted: string[] = []
  let repaired = 0
  const creditStore: CreditStore = {
    read: async (wallets) =>
      wallets.flatMap((wallet) => {
        const found = known[wallet]
        return found === undefined ? [] : [{ wallet, facts: found }]
      }),
    recount: async (wallet) => {
      counted.push(wallet)
      return sound
    },
    findLostDates: async () => false,
    rescore: async () => false,
    listTop: async () => [],
    ...store,
  }
  const credit = createCredit({
    registry: createSchemeRegistry(
      ['toy:1', 'near:mainnet'].map((network) => createToyScheme({ kind: { scheme: 'exact', network } })),
    ),
    creditStore,
    counter: {
      countCreditRepair: () => {
        repaired += 1
      },
    },
    clock: createManualClock(now),
    logger,
  })
  return { ...credit, ...credit.useCases, logger, counted, countRepairs: () => repaired }
}

describe('a credit score', () => {
  it('has its parts, its figures and its reasons', async () => {
    const score = await open({ 'toy:ada': facts }).readScore({ wallet: 'ada' })
    expect(score).toMatchObject({
      wallet: 'ada',
      namespace: 'toy',
      score: 515,
      breakdown: { volumeScore: 120, frequencyScore: 143, reliabilityScore: 240, ageScore: 12 },
      stats: {
        paymentCount: 20,
        successRate: 20 / 21,
        totalVolume: '100000000',
        accountAgeDays: 30,
        payeeCount: 20,
        failureCount: 1,
        cyclePaymentCount: 2,
        returnedVolume: '3000000',
      },
    })
    expect(score.explanation).toHaveLength(5)
    expect(score.improvements.map(({ part }) => part)).toEqual([
      'volumeScore',
      'frequencyScore',
      'reliabilityScore',
      'ageScore',
    ])
  })

  it('of a wallet that never paid is 0, and says how to begin', async () => {
    const score = await open().readScore({ wallet: 'ada' })
    expect(score).toMatchObject({
      score: 0,
      breakdown: { volumeScore: 0, frequencyScore: 0, reliabilityScore: 0, ageScore: 0 },
      stats: { paymentCount: 0, successRate: 0, totalVolume: '0', accountAgeDays: 0 },
    })
    expect(score.improvements.map(({ part }) => part)).toEqual([
      'volumeScore',
      'frequencyScore',
      'reliabilityScore',
    ])
  })

  it('is that of the first family in which the address has paid, or of the given network', async () => {
    const { readScore } = open({ 'near:ada': facts })
    expect(await readScore({ wallet: 'ada' })).toMatchObject({ namespace: 'near', score: 515 })
    expect(await readScore({ wallet: 'ada', network: 'toy:1' })).toMatchObject({ namespace: 'toy', score: 0 })
    expect(await readScore({ wallet: 'bob' })).toMatchObject({ namespace: 'toy' })
  })
})

describe('a refresh', () => {
  it('recounts the wallet, once for all that ask at the same time', async () => {
    const { refreshScore, counted, countRepairs, logger } = open({ 'toy:ada': facts })
    const answers = await Promise.all([1, 2, 3].map(() => refreshScore({ wallet: 'ada' })))
    expect(answers.map(({ score, refresh }) => [score, refresh])).toEqual(answers.map(() => [515, sound]))
    await refreshScore({ wallet: 'ada' })
    expect(counted).toEqual(['toy:ada', 'toy:ada'])
    expect([countRepairs(), logger.messages()]).toEqual([0, []])
  })

  it('is refused while three other wallets are recounted, so that settlements keep their connections', async () => {
    let end = () => {}
    const ended = new Promise<void>((resolve) => {
      end = resolve
    })
    const recount = async () => {
      await ended
      return sound
    }
    const { refreshScore } = open({}, { recount })
    const running = ['a', 'b', 'c', 'c'].map((wallet) => refreshScore({ wallet }))
    await expect(refreshScore({ wallet: 'd' })).rejects.toMatchObject({
      code: 'SERVICE_UNAVAILABLE',
      retryAfterSeconds: 1,
    })
    end()
    await Promise.all(running)
    expect((await refreshScore({ wallet: 'd' })).refresh).toEqual(sound)
  })

  it('logs and counts what it repaired', async () => {
    const recount = async () => ({ isComplete: true, repairs: 3 })
    const { refreshScore, countRepairs, logger } = open({}, { recount })
    expect((await refreshScore({ wallet: 'ada' })).refresh.repairs).toBe(3)
    expect([countRepairs(), logger.messages()]).toEqual([1, ['credit.repaired']])
  })
})

describe('the ranking', () => {
  it('is in the order of the scores that it shows', async () => {
    const lower = { ...facts, failures: 5 }
    const { listTop } = open(
      {},
      {
        listTop: async () => [
          { wallet: 'toy:old', facts: lower },
          { wallet: 'near:a:b', facts },
        ],
      },
    )
    expect(
      (await listTop(2)).wallets.map(({ rank, namespace, wallet, score }) => [
        rank,
        namespace,
        wallet,
        score,
      ]),
    ).toEqual([
      [1, 'near', 'a:b', 515],
      [2, 'toy', 'old', 408],
    ])
  })
})

describe('the job of credit scores', () => {
  it('finds the dates that a reorg took back first, then scores until nothing is left, also what is a day old', async () => {
    const done: unknown[] = []
    const left = [true, true, false]
    const { jobs } = open(
      {},
      {
        findLostDates: async () => {
          done.push('dates')
          return false
        },
        rescore: async (score, before) => {
          done.push([score(facts), before.toISOString()])
          return left.shift() ?? false
        },
      },
    )
    await jobs.updateCreditScores.run(new AbortController().signal)
    const round = [515, '2026-05-31T00:00:00.000Z']
    expect(done).toEqual(['dates', round, round, round])
  })

  it('ends when the process does', async () => {
    let rounds = 0
    const stop = new AbortController()
    const rescore = async () => {
      rounds += 1
      if (rounds === 2) stop.abort()
      return true
    }
    await open({}, { rescore }).jobs.updateCreditScores.run(stop.signal)
    expect(rounds).toBe(2)
  })
})
