import type { Recorder } from '../../../ports/settlementJournal.js'
import { networkUnavailable } from '../../common/networkUnavailable.js'
import type { Prepared } from '../exact/prepare.js'
import { forwardFeeNanoTon, sumAttachedNanoTon } from './relayWallets.js'

export interface RelayRequest {
  readonly prepared: Prepared
  readonly recorder: Recorder
  /** Whose part of the relay budget it uses; null for none. */
  readonly caller: string | null
  readonly waitUntil: AbortSignal
}

export interface Relayed {
  readonly transaction: string
  /** Resolves when the message was included, or the queue closes. */
  readonly settled: Promise<void>
}

/** Settled once; later calls have no effect. */
export interface PendingRequest extends RelayRequest {
  resolve(relayed: Relayed): void
  reject(error: unknown): void
}

interface PendingRequests {
  /** Rejects with `networkUnavailable` when the request's signal aborts. */
  add(request: RelayRequest): Promise<Relayed>
  /** Returns requests that were taken but not recorded. */
  putBack(requests: readonly PendingRequest[]): void
  /** Takes one batch; rejects requests that expire before `latestExpiry`. */
  take(limits: { readonly balance: bigint; readonly latestExpiry: number }): readonly PendingRequest[]
  whenNotEmpty(): Promise<void>
  count(): number
  /** Rejects all, and wakes `whenNotEmpty`. */
  close(): void
}

export const createPendingRequests = (network: string): PendingRequests => {
  let pending: PendingRequest[] = []
  let wake: () => void = () => undefined
  let arrival = whenWoken()

  function whenWoken(): Promise<void> {
    return new Promise((resolve) => {
      wake = resolve
    })
  }

  const notify = (): void => {
    const wakeWaiting = wake
    arrival = whenWoken()
    wakeWaiting()
  }

  const remove = (requests: readonly PendingRequest[]): void => {
    pending = pending.filter((request) => !requests.includes(request))
  }

  return {
    add: (request) =>
      new Promise((resolve, reject) => {
        const { waitUntil } = request
        const onAbort = () => {
          if (!pending.includes(entry)) return
          remove([entry])
          entry.reject(networkUnavailable(network))
        }
        const cleanUp = () => waitUntil.removeEventListener('abort', onAbort)
        const entry: PendingRequest = {
          ...request,
          resolve: (relayed) => {
            cleanUp()
            resolve(relayed)
          },
          reject: (error) => {
            cleanUp()
            reject(error)
          },
        }
        waitUntil.addEventListener('abort', onAbort, { once: true })
        pending.push(entry)
        notify()
      }),
    putBack: (requests) => {
      for (const request of requests) {
        if (request.waitUntil.aborted) request.reject(networkUnavailable(network))
        else pending.push(request)
      }
    },
    take: ({ balance, latestExpiry }) => {
      const expired = pending.filter(({ prepared }) => prepared.decoded.request.validUntil <= latestExpiry)
      remove(expired)
      for (const request of expired) request.reject(networkUnavailable(network))
      const batch = chooseBatch(pending, balance)
      remove(batch)
      return batch
    },
    whenNotEmpty: async () => {
      if (pending.length === 0) await arrival
    },
    count: () => pending.length,
    close: () => {
      for (const request of pending.splice(0)) request.reject(networkUnavailable(network))
      notify()
    },
  }
}

// Limits of a message: 255 actions, 64 KB, depth 512.
const maxPayments = 100
const maxBytes = 45_000

// Kept for fees of the message itself.
const reserveNanoTon = 50_000_000n

/** Chooses payments for one message, earliest expiry first, within size and balance; one per payer. */
export const chooseBatch = <Item extends { readonly prepared: Prepared }>(
  pending: readonly Item[],
  balance: bigint,
): readonly Item[] => {
  const byExpiry = [...pending].sort((remaining, right) => expiryOf(remaining) - expiryOf(right))
  const payers = new Set<string>()
  const batch: Item[] = []
  let bytes = 0
  let remaining = balance - reserveNanoTon
  for (const item of byExpiry) {
    const { decoded, payer } = item.prepared
    const needed = sumAttachedNanoTon(item.prepared) + forwardFeeNanoTon
    const key = payer.toRawString()
    if (batch.length === maxPayments || bytes + decoded.size > maxBytes) break
    if (needed > remaining || payers.has(key)) continue
    payers.add(key)
    batch.push(item)
    bytes += decoded.size
    remaining -= needed
  }
  return batch
}

const expiryOf = ({ prepared }: { readonly prepared: Prepared }): number =>
  prepared.decoded.request.validUntil
