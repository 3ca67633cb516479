import { withinDeadline, withSignal } from '../../concurrency/deadline.js'
import { AppError } from '../../errors.js'
import type { Clock } from '../../ports/clock.js'
import type { Stream, StreamStore } from '../../ports/streamStore.js'
import type { Voucher } from '../../schemes/network.js'
import type { SchemeRegistry } from '../../schemes/registry.js'
import { decideFor, getDecided, getOwnStream } from './control.js'
import { decide } from './decide.js'
import type { StreamUseCases } from './useCases.js'
import { viewStream, viewUpdate } from './viewStream.js'

interface UpdateStreamDependencies {
  readonly store: Pick<StreamStore, 'change' | 'find'>
  readonly registry: SchemeRegistry
  readonly clock: Clock
}

const voucherDeadlineMs = 5_000

/** Durable before it is answered. */
export const createUpdateStream = ({
  store,
  registry,
  clock,
}: UpdateStreamDependencies): StreamUseCases['updateStream'] => {
  const verifyVoucher = async (stream: Stream, voucher: Voucher, signature: string): Promise<void> => {
    const vouchers = registry.find(stream.scheme, stream.network)?.network.vouchers ?? null
    if (vouchers === null) {
      throw new AppError('INVALID_VOUCHER', `Payers cannot sign vouchers on ${stream.network}`)
    }
    let isSigned: boolean
    try {
      isSigned = await withinDeadline({ milliseconds: voucherDeadlineMs }, (signal) =>
        withSignal(vouchers.isSigned(voucher, stream.payer, signature, signal), signal),
      )
    } catch (cause) {
      throw new AppError('SERVICE_UNAVAILABLE', `${stream.network} cannot be read at the moment`, {
        cause,
        retryAfterSeconds: 1,
      })
    }
    if (!isSigned) throw new AppError('INVALID_VOUCHER', 'The payer did not sign this update')
  }

  return async (actor, { streamId, amount: digits, sequence, voucher }) => {
    const update = {
      kind: 'update',
      amount: BigInt(digits),
      sequence: sequence ?? null,
      voucher: voucher?.signature ?? null,
    } as const
    if (voucher !== undefined) {
      if (sequence === undefined) {
        throw new AppError('INVALID_REQUEST', 'sequence: is required beside a voucher, which covers it')
      }
      const stream = await getOwnStream(store, actor, streamId)
      // Before the chain may be asked: what is refused, or repeated, has the same answer while it is down.
      const seen = decide(stream, update, clock.now())
      if (getDecided(seen).voucher === update.voucher && seen.state === 'unchanged')
        return viewUpdate(stream, clock.now())
      await verifyVoucher(
        stream,
        { streamId, amount: update.amount, sequence: BigInt(sequence) },
        voucher.signature,
      )
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
