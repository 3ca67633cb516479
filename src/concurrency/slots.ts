import { withSignal } from './deadline.js'

export interface Slots {
  /**
   * Runs the work once a slot is free. Rejects with the signal's reason when it aborts before or meanwhile; work that was
   * started keeps its slot until it ends.
   */
  run<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T>
}

/** At most `count` works at once; the others wait in order. */
export const createSlots = (count: number): Slots => {
  const waiting = new Set<() => void>()
  let free = count

  const acquire = async (signal: AbortSignal): Promise<void> => {
    signal.throwIfAborted()
    if (free > 0) {
      free -= 1
      return
    }
    let start = (): void => undefined
    const started = new Promise<void>((resolve) => {
      start = resolve
    })
    waiting.add(start)
    try {
      await withSignal(started, signal)
    } catch (error) {
      // Gives a slot back that was passed on at the same moment.
      if (!waiting.delete(start)) release()
      throw error
    }
  }

  const release = (): void => {
    const [next] = waiting
    if (next === undefined) {
      free += 1
      return
    }
    waiting.delete(next)
    next()
  }

  return {
    run: async (signal, work) => {
      await acquire(signal)
      const started = async () => {
        try {
          return await work()
        } finally {
          release()
        }
      }
      return await withSignal(started(), signal)
    },
  }
}

export interface FairSlotsOptions {
  readonly slots: number
  /** How many of them only urgent work may use. */
  readonly urgentSlots: number
  /** It bounds one owner; urgent and other work are counted apart. */
  readonly slotsPerOwner: number
  /** How many turns of one owner may wait; urgent ones are not counted. */
  readonly waitingPerOwner: number
  /** It bounds all owners together; urgent ones are not counted. */
  readonly maxWaiting: number
}

interface Turn {
  readonly owner: string
  readonly isUrgent: boolean
  /** Ends the wait. */
  readonly signal: AbortSignal
}

interface FairSlots {
  /**
   * Waits for a slot; the returned function frees it and is called once. Rejects with `SlotsFullError` when too many wait,
   * and with the signal's reason.
   */
  acquire(turn: Turn): Promise<() => void>
}

export class SlotsFullError extends Error {
  constructor() {
    super('Too many turns wait for a slot')
    this.name = 'SlotsFullError'
  }
}

interface Waiter {
  readonly isUrgent: boolean
  start(): void
}

interface Owner {
  readonly waiting: Set<Waiter>
  running: number
  runningUrgent: number
}

/** Slots that owners use in rotation, so that the wait of one does not grow with what another one asks for. */
export const createFairSlots = (options: FairSlotsOptions): FairSlots => {
  const { slots, urgentSlots, slotsPerOwner, waitingPerOwner, maxWaiting } = options
  // They are in the order of their next turn.
  const owners = new Map<string, Owner>()
  let running = 0
  let runningUrgent = 0
  let waiting = 0

  const mayStart = (owner: Owner, isUrgent: boolean): boolean => {
    if (running + runningUrgent >= slots) return false
    if (isUrgent) return owner.runningUrgent < slotsPerOwner
    return running < slots - urgentSlots && owner.running < slotsPerOwner
  }

  const count = (owner: Owner, isUrgent: boolean, change: 1 | -1): void => {
    if (isUrgent) {
      owner.runningUrgent += change
      runningUrgent += change
    } else {
      owner.running += change
      running += change
    }
  }

  const findNext = (): readonly [string, Owner, Waiter] | null => {
    for (const [name, owner] of owners) {
      const urgent = [...owner.waiting].find(({ isUrgent }) => isUrgent)
      if (urgent !== undefined && mayStart(owner, true)) return [name, owner, urgent]
      const other = [...owner.waiting].find(({ isUrgent }) => !isUrgent)
      if (other !== undefined && mayStart(owner, false)) return [name, owner, other]
    }
    return null
  }

  const leave = (owner: Owner, waiter: Waiter): boolean => {
    if (!owner.waiting.delete(waiter)) return false
    if (!waiter.isUrgent) waiting -= 1
    return true
  }

  const startNext = (): void => {
    for (let next = findNext(); next !== null; next = findNext()) {
      const [name, owner, waiter] = next
      leave(owner, waiter)
      count(owner, waiter.isUrgent, 1)
      owners.delete(name)
      owners.set(name, owner)
      waiter.start()
    }
  }

  const forgetIdle = (name: string, owner: Owner): void => {
    const isIdle = owner.waiting.size === 0 && owner.running === 0 && owner.runningUrgent === 0
    if (isIdle && owners.get(name) === owner) owners.delete(name)
  }

  return {
    acquire: async ({ owner: name, isUrgent, signal }) => {
      signal.throwIfAborted()
      const owner = owners.get(name) ?? { waiting: new Set(), running: 0, runningUrgent: 0 }
      const ownWaiting = [...owner.waiting].filter((each) => !each.isUrgent).length
      const isFull = ownWaiting >= waitingPerOwner || waiting >= maxWaiting
      if (!isUrgent && isFull && !mayStart(owner, false)) throw new SlotsFullError()
      owners.set(name, owner)
      const release = () => {
        count(owner, isUrgent, -1)
        // Behind those who came while it used the slot.
        if (owners.get(name) === owner) {
          owners.delete(name)
          owners.set(name, owner)
        }
        startNext()
        forgetIdle(name, owner)
      }
      let waiter: Waiter | undefined
      const started = new Promise<void>((resolve) => {
        waiter = { isUrgent, start: resolve }
        owner.waiting.add(waiter)
        if (!isUrgent) waiting += 1
      })
      startNext()
      try {
        await withSignal(started, signal)
      } catch (error) {
        // The slot may have been given at the same moment.
        if (waiter !== undefined && leave(owner, waiter)) forgetIdle(name, owner)
        else release()
        throw error
      }
      return release
    },
  }
}

/** A holder may have an eighth as many places as are free. */
export const shareOfFree = 8

interface SharedPlaces {
  /** Takes a place for all of the holders, and returns how to give it back; null if one of them has its share. */
  take(holders: readonly string[]): (() => void) | null
}

/**
 * Places that no holder can fill. The share shrinks as the places fill up, and a holder that has none gets one while one
 * is free (dynamic thresholds, by which switches share their buffers). Of 500 places one holder takes 56, eight take 308,
 * and it takes 39 to fill them; of 10,000 it takes 65.
 */
export const createSharedPlaces = (places: number): SharedPlaces => {
  const held = new Map<string, number>()
  let taken = 0
  return {
    take: (holders) => {
      const free = places - taken
      const isOver = (holder: string) => (held.get(holder) ?? 0) * shareOfFree >= free
      if (free <= 0 || holders.some(isOver)) return null
      taken += 1
      for (const holder of holders) held.set(holder, (held.get(holder) ?? 0) + 1)
      return () => {
        taken -= 1
        for (const holder of holders) {
          const left = (held.get(holder) ?? 1) - 1
          if (left === 0) held.delete(holder)
          else held.set(holder, left)
        }
      }
    },
  }
}
