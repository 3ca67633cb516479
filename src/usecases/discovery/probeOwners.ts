import { readRecipients } from '../../extensions/bazaar/readRecipients.js'
import type { Clock } from '../../ports/clock.js'
import type { Logger } from '../../ports/logger.js'
import type { DueChallenge, OwnerChallenges, ProbeAnswer } from '../../ports/ownerChallenges.js'
import type { ResourceProbe } from '../../ports/resourceProbe.js'

export interface ProbeOwnersDependencies {
  readonly challenges: Pick<OwnerChallenges, 'lease' | 'answer'>
  readonly probe: ResourceProbe
  readonly clock: Clock
  readonly logger: Logger
}

/** Probes of a round, one per host. */
const maxProbes = 16
/** Must exceed the deadline of a probe: after it an unanswered challenge is probed again. */
const leaseMs = 60_000

export const createProbeOwners = ({ challenges, probe, clock, logger }: ProbeOwnersDependencies) => {
  const ask = async ({ target }: DueChallenge, stopped: AbortSignal): Promise<ProbeAnswer> => {
    const response = await probe.ask(target, stopped)
    const { recipients, problem } =
      response.status === null
        ? { recipients: null, problem: `${response.error}.` }
        : readRecipients(response)
    return { recipients, problem, answeredAt: clock.now() }
  }

  return async (stopped: AbortSignal): Promise<void> => {
    const now = clock.now()
    const leasedUntil = new Date(now.getTime() + leaseMs)
    const due = await challenges.lease({ now, leasedUntil, limit: maxProbes })
    const results = await Promise.allSettled(
      due.map(async (challenge) => {
        const { resourceId, network, payTo } = challenge
        const answer = await ask(challenge, stopped)
        await challenges.answer(challenge, answer)
        const isNamed = answer.recipients?.some((each) => each.network === network && each.payTo === payTo)
        logger.info(
          { resourceId, network, payTo, isNamed: isNamed ?? false, problem: answer.problem },
          'discovery.owner_probed',
        )
      }),
    )
    const failure = results.find((result) => result.status === 'rejected')
    if (failure !== undefined && !stopped.aborted) throw failure.reason
  }
}
