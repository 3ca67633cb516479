import { createFailureLog } from '../../failureLog.js'
import type { Clock } from '../../ports/clock.js'
import type { Logger } from '../../ports/logger.js'
import type { Stream, StreamStore, StreamToSettle } from '../../ports/streamStore.js'
import type { SchemeRegistry } from '../../schemes/registry.js'
import { decideFor, decideHere, getDecided } from './control.js'
import type { ReleaseHold } from './hold.js'
import { viewClaim } from './means.js'
import type { SettleStream } from './settleStream.js'
import type { StreamUseCases } from './useCases.js'
import { viewStream } from './viewStream.js'

interface CloseStreamsDependencies {
  readonly store: Pick<StreamStore, 'change' | 'listDue' | 'listClosingNetworks' | 'leaseClosing'>
  readonly settleStream: SettleStream
  readonly releaseHold: ReleaseHold
  readonly clock: Clock
  readonly logger: Logger
}

interface CloseStreams {
  /** Ends streams whose time passed, and continues closes that are not settled; one round. */
  run(stopped: AbortSignal): Promise<void>
  /** Waits for what a round left under way. */
  close(): Promise<void>
}

const endsPerRound = 1_000
/** It bounds one network; they become few transactions where payments are batched. */
const closesAtOnce = 1_000
// About as long as an attempt takes. Should it take longer, a second one joins it.
const leaseMs = 30_000
/** How long a round waits for what is under way; then the next one fills the places that became free. */
const roundMs = 1_000

/** Each network has places of its own, so that one whose chain does not answer delays no other. */
export const createCloseStreams = ({
  store,
  settleStream,
  releaseHold,
  clock,
  logger,
}: CloseStreamsDependencies): CloseStreams => {
  const running = new Map<string, Set<Promise<void>>>()
  const failures = createFailureLog({
    logger,
    level: 'error',
    event: 'stream.close_failed',
    recovered: 'stream.close_recovered',
    now: () => clock.now().getTime(),
  })

  const end = async (id: string, now: Date): Promise<void> => {
    const decision = await store.change(id, decideHere({ kind: 'end' }, now), 'closes')
    if (decision.state === 'changed' && decision.stream.state === 'expired')
      await releaseHold(decision.stream)
  }

  /** Those that cannot be ended now are found again in the next round, and keep no other from its close. */
  const endDue = async (stopped: AbortSignal): Promise<void> => {
    for (;;) {
      const now = clock.now()
      const ids = await store.listDue(now, endsPerRound)
      const ended = await Promise.allSettled(ids.map((id) => end(id, now)))
      const rejected = ended.filter((each) => each.status === 'rejected')
      for (const { reason } of rejected) failures.failed('end', { error: reason })
      if (rejected.length === 0) failures.succeeded('end')
      if (ids.length < endsPerRound || rejected.length > 0 || stopped.aborted) return
    }
  }

  const settle = async ({ stream, payment }: StreamToSettle): Promise<void> => {
    const { id, caller: account, network } = stream
    try {
      await settleStream(stream, payment)
      failures.succeeded(network)
    } catch (error) {
      failures.failed(network, { streamId: id, account, network, error })
    }
  }

  const fillPlaces = async (network: string): Promise<void> => {
    const places = running.get(network) ?? new Set()
    running.set(network, places)
    const now = clock.now()
    const leasedUntil = new Date(now.getTime() + leaseMs)
    const limit = closesAtOnce - places.size
    if (limit === 0) return
    for (const leased of await store.leaseClosing({ network, now, leasedUntil, limit })) {
      const work = settle(leased).finally(() => places.delete(work))
      places.add(work)
    }
  }

  const listRunning = () => [...running.values()].flatMap((places) => [...places])

  return {
    run: async (stopped) => {
      await endDue(stopped)
      for (const network of await store.listClosingNetworks(clock.now())) {
        if (stopped.aborted) return
        await fillPlaces(network)
      }
      const ended = new AbortController()
      const all = Promise.all(listRunning()).finally(() => ended.abort())
      await Promise.race([all, clock.sleep(roundMs, ended.signal)])
    },
    close: async () => {
      await Promise.all(listRunning())
    },
  }
}

interface CloseStreamDependencies {
  readonly store: Pick<StreamStore, 'change' | 'findToSettle'>
  readonly registry: SchemeRegistry
  readonly settleStream: SettleStream
  readonly clock: Clock
}

// About as long as this request waits for an outcome: then the job takes over. Two attempts at once join each other.
const requestLeaseMs = 30_000

/** The final amount is durable before anything is sent. */
export const createCloseStream =
  ({ store, registry, settleStream, clock }: CloseStreamDependencies): StreamUseCases['closeStream'] =>
  async (actor, { streamId, finalAmount, claimAuthorizerSignature }) => {
    const now = clock.now()
    const answer = (stream: Stream) => ({ stream: viewStream(stream), ...viewClaim(registry, stream) })
    const close = {
      kind: 'close',
      finalAmount: finalAmount === undefined ? null : BigInt(finalAmount),
      attendAt: new Date(now.getTime() + requestLeaseMs),
      ...(claimAuthorizerSignature === undefined ? {} : { claimSignature: claimAuthorizerSignature }),
    } as const
    const stream = getDecided(await store.change(streamId, decideFor(actor, close, now), 'closes'))
    if (stream.state !== 'closing') return answer(stream)
    const found = await store.findToSettle(stream.id)
    // Another request, or the job, has closed it meanwhile.
    if (found === null)
      return answer(getDecided(await store.change(streamId, decideFor(actor, close, now), 'closes')))
    return answer(await settleStream(stream, found.payment))
  }
