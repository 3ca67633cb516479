import { type ShutdownMode, shutdownModes } from './database.js'
import type { Random } from './random.js'

export const faultKinds = [
  'instance.killed',
  'instance.clock_shifted',
  'instance.cut_from_database',
  'postgres.restarted',
  'redis.flushed',
  'redis.restarted',
  'rpc.hung',
  'rpc.refused',
  'rpc.stale',
  'rpc.send_answer_lost',
  'rpc.send_refused',
  'chain.transactions_dropped',
  'chain.stands_still',
  'chain.reorganised',
] as const

export type FaultKind = (typeof faultKinds)[number]

export type FaultyNodes = 'first' | 'both'

/** Deterministic for a seed. */
export type PlannedFault = {
  /** From the start of the round. */
  readonly atMs: number
  readonly lastsMs: number
} & (
  | { readonly kind: 'instance.killed'; readonly instance: 0 | 1 }
  | { readonly kind: 'instance.clock_shifted'; readonly instance: 0 | 1; readonly shiftMs: number }
  | { readonly kind: 'instance.cut_from_database'; readonly instance: 0 | 1; readonly isReset: boolean }
  | { readonly kind: 'postgres.restarted'; readonly end: ShutdownMode }
  | { readonly kind: 'redis.flushed' | 'redis.restarted' }
  | {
      readonly kind: 'rpc.hung' | 'rpc.refused' | 'rpc.stale'
      readonly instance: 0 | 1
      readonly nodes: FaultyNodes
    }
  | {
      readonly kind: 'rpc.send_answer_lost'
      readonly instance: 0 | 1
      readonly connection: 'reset' | 'silent'
    }
  | { readonly kind: 'rpc.send_refused'; readonly instance: 0 | 1; readonly words: string }
  | { readonly kind: 'chain.transactions_dropped' | 'chain.stands_still' }
  | { readonly kind: 'chain.reorganised'; readonly depth: number }
)

const refusals = [
  'txpool is full',
  'nonce too low',
  'replacement transaction underpriced',
  'internal error',
] as const

/** Latest start, longest duration, most blocks of a reorg. */
interface FaultBounds {
  readonly windowMs: number
  readonly longestMs: number
  readonly deepestReorg: number
}

export const planFault = (random: Random, kind: FaultKind, bounds: FaultBounds): PlannedFault => {
  const at = {
    atMs: random.integer(0, bounds.windowMs),
    lastsMs: random.integer(Math.floor(bounds.longestMs / 8), bounds.longestMs),
  }
  const instance = random.pick<0 | 1>([0, 1])
  switch (kind) {
    case 'instance.killed':
      return { ...at, kind, instance }
    case 'instance.clock_shifted':
      return { ...at, kind, instance, shiftMs: random.pick([-30_000, 30_000]) }
    case 'instance.cut_from_database':
      return { ...at, kind, instance, isReset: random.chance(0.5) }
    case 'postgres.restarted':
      return { ...at, kind, end: random.pick(shutdownModes) }
    case 'rpc.hung':
    case 'rpc.refused':
    case 'rpc.stale':
      return { ...at, kind, instance, nodes: random.pick(['first', 'both']) }
    case 'rpc.send_answer_lost':
      return { ...at, kind, instance, connection: random.pick(['reset', 'silent']) }
    case 'rpc.send_refused':
      return { ...at, kind, instance, words: random.pick(refusals) }
    case 'chain.reorganised':
      return { ...at, kind, depth: random.integer(1, bounds.deepestReorg) }
    case 'redis.flushed':
    case 'redis.restarted':
    case 'chain.transactions_dropped':
    case 'chain.stands_still':
      return { ...at, kind }
  }
}

export const describeFault = ({ kind, atMs, lastsMs, ...details }: PlannedFault): string => {
  const words = Object.entries(details).map(([name, value]) => `${name} ${value}`)
  return [`${kind} at ${atMs} ms for ${lastsMs} ms`, ...words].join(', ')
}

export const isFaultKind = (text: string): text is FaultKind => faultKinds.some((kind) => kind === text)
