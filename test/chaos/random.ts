import type { Hex } from 'viem'

export interface Random {
  integer(from: number, to: number): number
  chance(share: number): boolean
  pick<T>(choices: readonly [T, ...T[]]): T
  shuffle<T>(items: readonly T[]): T[]
  hex(bytes: number): Hex
  /** An independent sequence; drawing from it does not affect this one. */
  fork(): Random
}

export const createRandom = (seed: number): Random => {
  let state = seed >>> 0
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
  const integer = (from: number, to: number) => from + Math.floor(next() * (to - from + 1))
  return {
    integer,
    chance: (share) => next() < share,
    pick: (choices) => choices[integer(0, choices.length - 1)] ?? choices[0],
    shuffle: (items) =>
      items
        .map((item) => ({ item, rank: next() }))
        .sort((left, right) => left.rank - right.rank)
        .map(({ item }) => item),
    hex: (bytes) =>
      `0x${Array.from({ length: bytes }, () => integer(0, 255).toString(16).padStart(2, '0')).join('')}`,
    fork: () => createRandom(integer(0, 2 ** 32 - 1)),
  }
}
