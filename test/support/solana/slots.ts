import { createHash } from 'node:crypto'
import { base58 } from '@scure/base'

/** Slots by the wall clock and by warps, each with a blockhash. */
export interface Slots {
  now(): bigint
  /** Unix seconds. */
  timeAt(slot: bigint): number
  blockhashAt(slot: bigint): string
  /** Null if it is not in the current fork. */
  slotOf(blockhash: string): bigint | null
  isFresh(blockhash: string): boolean
  warp(slots: number): void
  /** Only warps move the slots, so that no payment expires and no block becomes final while a test is slow. */
  hold(): void
  /** Goes on at the slot of the wall clock. */
  resume(): void
  /** Replaces all blocks from this slot on. */
  fork(from: bigint): void
}

/** In blocks. */
export const blockhashLifetime = 150n

export const firstSlot = 1_000n

/** The chain's clock follows its slots, so that a warp moves both. */
export const createSlots = (slotMs: number): Slots => {
  const startedAt = Date.now()
  let warped = 0n
  let heldAt: number | null = null
  const branches: { from: bigint; until: bigint }[] = []
  const known = new Map<string, bigint>()
  let registered = firstSlot - 400n

  const now = () => firstSlot + warped + BigInt(Math.floor(((heldAt ?? Date.now()) - startedAt) / slotMs))
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
    hold: () => {
      heldAt = Date.now()
    },
    resume: () => {
      heldAt = null
    },
    fork: (from) => {
      branches.push({ from, until: now() })
      registered = from
    },
  }
}
