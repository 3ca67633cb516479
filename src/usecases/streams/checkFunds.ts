import { withinDeadline, withSignal } from '../../concurrency/deadline.js'
import { createWorkerPool } from '../../concurrency/workerPool.js'
import { AppError } from '../../errors.js'
import { createFailureLog } from '../../failureLog.js'
import type { Clock } from '../../ports/clock.js'
import type { Logger } from '../../ports/logger.js'
import type { Stream, StreamStore, StreamToSettle } from '../../ports/streamStore.js'
import type { SchemeRegistry } from '../../schemes/registry.js'
import { decideHere } from './control.js'
import { findMeans } from './means.js'

interface CheckFundsDependencies {
  readonly store: Pick<StreamStore, 'change' | 'takeToCheck'>
  readonly registry: SchemeRegistry
  readonly clock: Clock
  readonly logger: Logger
}

/** How old the last look at the funds of a stream is before the next one. */
const maxAgeMs = 60_000
const streamsPerRound = 200
const concurrencyPerNetwork = 8
const maxFailuresPerNetwork = 3
const deadlineMs = 5_000

/**
 * Whether the chain would still settle what open streams used so far: balance, allowance, and an authorization that the
 * payer did not cancel, or a channel that the payer does not empty: then the stream is closed in time. One round; a network that does not answer is left out of it.
 */
export const createCheckFunds = ({ store, registry, clock, logger }: CheckFundsDependencies) => {
  const failures = createFailureLog({
    logger,
    event: 'stream.check_failed',
    recovered: 'stream.check_recovered',
    now: () => clock.now().getTime(),
  })

  const check = async ({ stream, payment }: StreamToSettle, stopped: AbortSignal): Promise<void> => {
    const scheme = registry.find(stream.scheme, stream.network)
    if (scheme === null) return
    const assessment = await withinDeadline({ milliseconds: deadlineMs, stopped }, (signal) =>
      withSignal(findMeans(scheme).assess(stream, payment, signal), signal),
    )
    failures.succeeded(stream.network)
    if (assessment === null || (assessment.risk === stream.risk && !assessment.isEnding)) return
    const decided = await store.change(stream.id, decideHere({ kind: 'assess', ...assessment }, clock.now()))
    if (assessment.isEnding && decided.state === 'changed') {
      const { risk } = decided.stream
      logger.warn(
        { ...nameStream(decided.stream), ...(risk === null ? {} : { risk }) },
        'stream.ended_at_risk',
      )
    }
  }

  /** A payer's wallet that exceeds its share or does not answer says nothing of the network: others are looked at. */
  const skipWallet = ({ stream }: StreamToSettle, error: unknown): void => {
    if (!(error instanceof AppError)) throw error
    failures.failed(stream.network, { ...nameStream(stream), error })
  }

  return async (stopped: AbortSignal): Promise<void> => {
    const now = clock.now()
    const taken = await store.takeToCheck(new Date(now.getTime() - maxAgeMs), now, streamsPerRound)
    const networks = [...new Set(taken.map(({ stream }) => stream.network))]
    await Promise.all(
      networks.map((network) =>
        createWorkerPool<StreamToSettle>({
          concurrency: concurrencyPerNetwork,
          keyOf: () => network,
          maxFailuresPerKey: maxFailuresPerNetwork,
          stopped,
          onFailure: ({ stream }, error) => failures.failed(network, { ...nameStream(stream), error }),
        }).run(
          taken.filter(({ stream }) => stream.network === network),
          (each) => check(each, stopped).catch((error: unknown) => skipWallet(each, error)),
        ),
      ),
    )
  }
}

const nameStream = ({
  id: streamId,
  caller: account,
  network,
}: Pick<Stream, 'id' | 'caller' | 'network'>) => ({
  streamId,
  account,
  network,
})
