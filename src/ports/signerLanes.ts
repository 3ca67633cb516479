import type { Lane, SignedTransaction } from './settlementJournal.js'

/** A recorded transaction of a lane. */
export interface LaneTransaction extends SignedTransaction {
  readonly nonce: number
}

/** The numbering of our own transactions: one durable row per (network, signer), shared by every instance. */
export interface SignerLanes {
  /** Makes the lane known and moves it forward to what the chain has already used; never backward. */
  advance(lane: Lane, chainNonce: number): Promise<void>
  /** The recorded transactions from a number on, in order: what a hole in the pool is filled with. */
  listFrom(lane: Lane, nonce: number, limit: number): Promise<readonly LaneTransaction[]>
}
