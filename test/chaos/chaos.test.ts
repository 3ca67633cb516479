import { describe, expect, it } from 'vitest'
import { faultKinds } from './faults.js'
import { describeRun } from './report.js'
import { runChaos } from './run.js'

describe('two instances, whatever breaks beneath them', () => {
  // The full form is `npm run test:chaos`: a hundred rounds, larger ones, and every kind of fault several times.
  it('lose nothing, pay nothing twice and tell nobody a lie', async () => {
    const seed = Number(process.env.CHAOS_SEED || Date.now() % 1_000_000)
    const result = await runChaos({
      seed,
      rounds: 5,
      paymentsPerRound: 10,
      windowMs: 1_500,
      longestFaultMs: 1_500,
      closeMs: 60_000,
      onUntidy: (error) => expect.fail(String(error)),
      kinds: faultKinds,
    })
    expect(result.failure, `CHAOS_SEED=${seed}\n${describeRun(result)}`).toBeNull()
    // A suite that moves no money proves nothing.
    expect(
      result.rounds.flatMap(({ books }) => books.settlements).some(({ state }) => state === 'confirmed'),
    ).toBe(true)
  }, 180_000)
})
