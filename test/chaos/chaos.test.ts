import { describe, expect, it } from 'vitest'
import { faultKinds } from './faults.js'
import { describeRun } from './report.js'
import { runChaos } from './run.js'

describe('two instances under injected faults', () => {
  // Each run has another seed. `npm run test:chaos` is the full run: 100 larger rounds, every kind of fault several times.
  it('lose no payment, settle none twice and report no wrong result', async () => {
    const seed = Number(process.env.CHAOS_SEED || Date.now() % 1_000_000)
    const result = await runChaos({
      seed,
      rounds: 3,
      paymentsPerRound: 10,
      windowMs: 1_500,
      longestFaultMs: 1_500,
      deepestReorg: 3,
      closeMs: 180_000,
      onStopFailure: (error) => expect.fail(String(error)),
      kinds: faultKinds,
    })
    expect(result.failure, `CHAOS_SEED=${seed}\n${describeRun(result)}`).toBeNull()
    expect(
      result.rounds.flatMap(({ books }) => books.settlements).some(({ state }) => state === 'confirmed'),
    ).toBe(true)
  }, 900_000)
})
