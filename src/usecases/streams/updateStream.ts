import { setNewest } from '../../concurrency/boundedMap.js'
import { withinDeadline, withSignal } from '../../concurrency/deadline.js'
import { AppError } from '../../errors.js'
import type { Clock } from '../../ports/clock.js'
import type { Stream, StreamStore } from '../../ports/streamStore.js'
import type { SchemeRegistry } from '../../schemes/registry.js'
import { decideFor, getDecided, getOwnStream } from './control.js'
import { decide, type StreamCommand } from './decide.js'
import { findMeans, type StreamMeans } from './means.js'
import type { StreamUseCases } from './useCases.js'
import { viewStream, viewUpdate } from './viewStream.js'

interface UpdateStreamDependencies {
  readonly store: Pick<StreamStore, 'change' | 'find'>
  readonly registry: SchemeRegistry
  readonly clock: Clock
}

const voucherDeadlineMs = 5_000

const maxRefusals = 100
const refusalWindowMs = 10_000
const maxCounted = 10_000

/** A voucher that is refused may ask the chain each time, and many more updates are allowed than nodes would answer. */
const createRefusals = () => {
  const counts = new Map<string, { readonly count: number; readonly endsAtMs: number }>()
  const find = (id: string, nowMs: number) => {
    const known = counts.get(id)
    return known === undefined || nowMs >= known.endsAtMs
      ? { count: 0, endsAtMs: nowMs + refusalWindowMs }
      : known
  }
  return {
    /** Throws RATE_LIMITED. */
    check: (id: string, nowMs: number): void => {
      const { count, endsAtMs } = find(id, nowMs)
      if (count < maxRefusals) return
      throw new AppError('RATE_LIMITED', 'Too many vouchers of the stream were refused; retry', {
        retryAfterSeconds: Math.ceil((endsAtMs - nowMs) / 1_000),
      })
    },
    count: (id: string, nowMs: number): void => {
      const { count, endsAtMs } = find(id, nowMs)
      setNewest(counts, id, { count: count + 1, endsAtMs }, maxCounted)
    },
  }
}

/** Durable before it is answered. */
export const createUpdateStream = ({
  store,
  registry,
  clock,
}: UpdateStreamDependencies): StreamUseCases['updateStream'] => {
  const getMeans = ({ scheme: name, network }: Stream): StreamMeans => {
    const scheme = registry.find(name, network)
    if (scheme === null) throw new AppError('INVALID_VOUCHER', `Payers cannot sign vouchers on ${network}`)
    return findMeans(scheme)
  }

  const refusals = createRefusals()

  const verifyVoucher = async (stream: Stream, update: Parameters<StreamMeans['verifyVoucher']>[1]) => {
    refusals.check(stream.id, clock.now().getTime())
    try {
      await withinDeadline({ milliseconds: voucherDeadlineMs }, (signal) =>
        withSignal(getMeans(stream).verifyVoucher(stream, update, signal), signal),
      )
    } catch (cause) {
      refusals.count(stream.id, clock.now().getTime())
      if (cause instanceof AppError) throw cause
      throw new AppError('SERVICE_UNAVAILABLE', `${stream.network} cannot be read at the moment`, {
        cause,
        retryAfterSeconds: 1,
      })
    }
  }

  return async (actor, { streamId, amount: digits, sequence, voucher }) => {
    const plain = {
      kind: 'update',
      amount: BigInt(digits),
      sequence: sequence ?? null,
      voucher: null,
    } as const
    const stream = voucher === undefined ? null : await getOwnStream(store, actor, streamId)
    let update: Extract<StreamCommand, { readonly kind: 'update' }> = plain
    if (stream !== null && voucher !== undefined) {
      update = { ...plain, ...getMeans(stream).readVoucher(stream, voucher, sequence) }
      // Before the chain may be asked: what is refused, or repeated, has the same answer while it is down.
      const seen = decide(stream, update, clock.now())
      if (getDecided(seen).voucher === update.voucher && seen.state === 'unchanged')
        return viewUpdate(stream, clock.now())
      await verifyVoucher(stream, update)
    }
    const now = clock.now()
    return viewUpdate(getDecided(await store.change(streamId, decideFor(actor, update, now))), now)
  }
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
