import type { Job } from '../../ports/job.js'
import type { CreditUseCases } from '../useCases.js'
import { type CreditDependencies, createReadScores } from './readScores.js'
import { scoreCredit } from './score.js'

interface Credit {
  readonly useCases: CreditUseCases
  readonly jobs: Readonly<Record<'updateCreditScores', Job>>
}

// Scores grow with age: the ranking is at most a day behind.
const scoreAgeMs = 86_400_000

export const createCredit = (dependencies: CreditDependencies): Credit => {
  const { creditStore, clock } = dependencies
  return {
    useCases: createReadScores(dependencies),
    jobs: {
      updateCreditScores: {
        everyMs: 1_000,
        isShared: true,
        run: async (stopped) => {
          await creditStore.findLostDates(stopped)
          const before = new Date(clock.now().getTime() - scoreAgeMs)
          const score = (facts: Parameters<typeof scoreCredit>[0]) => scoreCredit(facts, clock.now()).score
          while (!stopped.aborted && (await creditStore.rescore(score, before))) {
            // Nothing: the next wallets follow.
          }
        },
      },
    },
  }
}
