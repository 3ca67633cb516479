import type { Recorder } from '../../../ports/settlementJournal.js'
import type { Prepared } from '../exact/prepare.js'

/** A payment that is to be relayed. */
export interface RelayRequest {
  readonly prepared: Prepared
  readonly recorder: Recorder
  /** Ends the wait for a place in a message. */
  readonly waitUntil: AbortSignal
}

/** A payment that was recorded. */
export interface Relayed {
  readonly transaction: string
  /** Resolves when the message has landed, or the queue ends: before, there is nothing to see. */
  readonly settled: Promise<void>
}

/** An order, and who waits for what becomes of it: told once, and deaf to what comes later. */
export interface QueuedOrder extends RelayRequest {
  resolve(relayed: Relayed): void
  reject(error: unknown): void
}
