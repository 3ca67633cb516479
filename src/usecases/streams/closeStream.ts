import type { Clock } from '../../ports/clock.js'
import type { StreamStore } from '../../ports/streamStore.js'
import { decideFor, getDecided } from './control.js'
import type { SettleStream } from './settleStream.js'
import type { StreamUseCases } from './useCases.js'
import { viewStream } from './viewStream.js'

interface CloseStreamDependencies {
  readonly store: Pick<StreamStore, 'change' | 'findPayment'>
  readonly settleStream: SettleStream
  readonly clock: Clock
}

// About as long as this request waits for an outcome: then the job takes over. Two attempts at once join each other.
const leaseMs = 30_000

/** The final amount is durable before anything is sent. */
export const createCloseStream =
  ({ store, settleStream, clock }: CloseStreamDependencies): StreamUseCases['closeStream'] =>
  async (actor, { streamId, finalAmount }) => {
    const now = clock.now()
    const close = {
      kind: 'close',
      finalAmount: finalAmount === undefined ? null : BigInt(finalAmount),
      attendAt: new Date(now.getTime() + leaseMs),
    } as const
    const stream = getDecided(await store.change(streamId, decideFor(actor, close, now), 'closes'))
    if (stream.state !== 'closing') return { stream: viewStream(stream) }
    const payment = await store.findPayment(stream.id)
    // Another request, or the job, has closed it meanwhile.
    if (payment === null)
      return {
        stream: viewStream(getDecided(await store.change(streamId, decideFor(actor, close, now), 'closes'))),
      }
    return { stream: viewStream(await settleStream(stream, payment)) }
  }

export const createPauseAndResume = (
  store: Pick<StreamStore, 'change'>,
  clock: Clock,
): Pick<StreamUseCases, 'pauseStream' | 'resumeStream'> => {
  const command =
    (kind: 'pause' | 'resume'): StreamUseCases['pauseStream'] =>
    async (actor, id) => {
      const decision = await store.change(id, decideFor(actor, { kind }, clock.now()))
      return { stream: viewStream(getDecided(decision)) }
    }
  return { pauseStream: command('pause'), resumeStream: command('resume') }
}
