import { createHash } from 'node:crypto'
import { base58 } from '@scure/base'

/** The chain's time: slots by the wall clock and by warps, each with a blockhash. */
export interface Slots {
  now(): bigint
  /** Unix seconds at a slot. */
  timeAt(slot: bigint): number
  blockhashAt(slot: bigint): string
  /** The slot of a blockhash of the present chain, or null. */
  slotOf(blockhash: string): bigint | null
  isFresh(blockhash: string): boolean
  /** Lets so many slots pass at once. */
  warp(slots: number): void
  /** From this slot on, up to now, other blocks took the place of those that were. */
  fork(from: bigint): void
}

/** For how many blocks a blockhash can be used. */
export const blockhashLifetime = 150n

/** The slot with which the time starts. */
export const firstSlot = 1_000n

/** Starts the time. The chain's own clock goes with the slots, so that a warp moves both. */
export const createSlots = (slotMs: number): Slots => {
  const startedAt = Date.now()
  let warped = 0n
  const branches: { from: bigint; until: bigint }[] = []
  const known = new Map<string, bigint>()
  let registered = firstSlot - 400n

  const now = () => firstSlot + warped + BigInt(Math.floor((Date.now() - startedAt) / slotMs))
  const blockhashAt = (slot: bigint) => {
    const branch = branches.filter(({ from, until }) => slot >= from && slot <= until).length
    return base58.encode(createHash('sha256').update(`${startedAt}:${slot}:${branch}`).digest())
  }
  const register = () => {
    for (; registered <= now(); registered += 1n) known.set(blockhashAt(registered), registered)
  }
  const slotOf = (blockhash: string) => {
    register()
    const slot = known.get(blockhash)
    return slot !== undefined && blockhashAt(slot) === blockhash ? slot : null
  }
  return {
    now,
    timeAt: (slot) => Math.floor((startedAt + Number(slot - firstSlot) * slotMs) / 1_000),
    blockhashAt,
    slotOf,
    isFresh: (blockhash) => {
      const slot = slotOf(blockhash)
      return slot !== null && now() - slot <= blockhashLifetime
    },
    warp: (slots) => {
      warped += BigInt(slots)
    },
    fork: (from) => {
      branches.push({ from, until: now() })
      registered = from
    },
  }
}
