import { withinDeadline } from '../../concurrency/deadline.js'
import { findDeclaration } from '../../extensions/bazaar/declaration.js'
import { explainDeclaration } from '../../extensions/bazaar/explainDeclaration.js'
import {
  type ReadRecipients,
  readRecipients,
  readStatement,
  statementUrlOf,
  type UnpaidAnswer,
} from '../../extensions/bazaar/recipients.js'
import type { Clock } from '../../ports/clock.js'
import type {
  DueChallenge,
  ListedResource,
  OwnerChallenges,
  ResourceAnswer,
  ResourceProbe,
  SchemaValidator,
  StatedListing,
} from '../../ports/discovery.js'
import type { Logger } from '../../ports/logger.js'
import type { Fields } from '../../protocol/fields.js'

interface ProbeOwnersDependencies {
  readonly challenges: Pick<OwnerChallenges, 'lease' | 'answer'>
  readonly probe: ResourceProbe
  readonly schemaValidator: SchemaValidator
  readonly allowsPrivateHosts: boolean
  readonly clock: Clock
  readonly logger: Logger
}

/** Challenges of a round, one per host. */
const maxProbes = 16
/** Must exceed two probes and a turn of the validator: after it an unanswered challenge is probed again. */
const leaseMs = 60_000
const turnMs = 10_000

export const createProbeOwners = ({
  challenges,
  probe,
  schemaValidator,
  allowsPrivateHosts,
  clock,
  logger,
}: ProbeOwnersDependencies) => {
  const get = async (
    url: string,
    stopped: AbortSignal,
    read: (answer: UnpaidAnswer) => ReadRecipients,
  ): Promise<ReadRecipients> => {
    const response = await probe.ask(url, stopped)
    return response.status === null ? { recipients: null, problem: `${response.error}.` } : read(response)
  }

  /** The resource itself where it can answer, else its host. */
  const ask = async ({ key, url }: DueChallenge, stopped: AbortSignal): Promise<ReadRecipients> => {
    const statementUrl = statementUrlOf(key)
    const own = url === statementUrl ? null : await get(url, stopped, readRecipients)
    if (own !== null && own.recipients !== null) return own
    const stated = await get(statementUrl, stopped, (answer) => readStatement(answer, key))
    if (stated.recipients !== null || own === null) return stated
    return { recipients: null, problem: `${own.problem} ${stated.problem}` }
  }

  /** Null: it states none, one that cannot be listed, or another resource. */
  const findText = async (
    { key }: DueChallenge,
    said: Fields,
    stopped: AbortSignal,
  ): Promise<ListedResource | null> => {
    const declaration = findDeclaration(said)
    if (declaration === null) return null
    const { listing } = await withinDeadline({ milliseconds: turnMs, stopped }, (signal) =>
      explainDeclaration(
        { ...declaration, resource: key.url },
        { allowsPrivateHosts, schemaValidator },
        { owner: `host ${new URL(key.url).hostname}`, signal },
      ),
    )
    const isThis = listing?.key.url === key.url && listing.key.toolName === key.toolName
    return isThis ? listing : null
  }

  /** Null: its answer is unusable. */
  const readStated = async (
    challenge: DueChallenge,
    answer: ReadRecipients,
    stopped: AbortSignal,
  ): Promise<StatedListing | null> => {
    if (answer.recipients === null) return null
    const { recipients, offers, said } = answer
    return { resource: await findText(challenge, said, stopped), recipients, offers, at: clock.now() }
  }

  return async (stopped: AbortSignal): Promise<void> => {
    const now = clock.now()
    const leasedUntil = new Date(now.getTime() + leaseMs)
    const due = await challenges.lease({ now, leasedUntil, limit: maxProbes })
    const results = await Promise.allSettled(
      due.map(async (challenge) => {
        const { resourceId, network, payTo } = challenge
        const read = await ask(challenge, stopped)
        const stated = await readStated(challenge, read, stopped)
        const { recipients, problem } = read
        const answeredAt = stated?.at ?? clock.now()
        const answer: ResourceAnswer = { recipients, problem, stated, answeredAt }
        await challenges.answer(challenge, answer)
        const isNamed = recipients?.some((each) => each.network === network && each.payTo === payTo)
        logger.info(
          { resourceId, network, payTo, isNamed: isNamed ?? false, problem },
          'discovery.owner_probed',
        )
      }),
    )
    const failure = results.find((result) => result.status === 'rejected')
    if (failure !== undefined && !stopped.aborted) throw failure.reason
  }
}
