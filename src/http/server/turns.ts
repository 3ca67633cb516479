export interface Turns {
  /** A request of this caller arrived that takes no turn. */
  note(caller: string): void
  /** Calls `start` now, and returns null; or in a later turn, and returns what cancels it. */
  take(caller: string, start: () => void): (() => void) | null
}

/** What is begun between two readings of the sockets takes about so long, or is one request. */
const turnMs = 1
/** Also what begins within it is bounded: more arrives after the first answers of nodes and database. */
export const startsPerTurn = 16
const contendedForMs = 1_000

/**
 * Callers take turns at beginning requests: a hundred that one caller sends at once hold up the others by a millisecond, not
 * by all of them. Nothing is refused. Several small requests begin in one turn, and all of a caller that is alone, because
 * what begins together is asked of nodes and database together.
 */
export const createTurns = (now: () => number = () => performance.now()): Turns => {
  const waiting = new Map<string, Set<() => void>>()
  let last: string | null = null
  let contendedUntilMs = 0
  let isScheduled = false

  const beginNext = (): void => {
    const [first] = waiting
    if (first === undefined) return
    const [caller, starts] = first
    const [start] = starts
    // Behind the others.
    waiting.delete(caller)
    if (start === undefined) return
    starts.delete(start)
    if (starts.size > 0) waiting.set(caller, starts)
    start()
  }

  // A request goes on in microtasks after its beginning, which Node runs between two immediates of one turn.
  const schedule = (): void => {
    if (isScheduled || waiting.size === 0) return
    isScheduled = true
    let endsAtMs = Number.POSITIVE_INFINITY
    setImmediate(() => {
      endsAtMs = now() + turnMs
      beginNext()
    })
    for (let more = 1; more < startsPerTurn; more += 1) {
      setImmediate(() => {
        if (now() < endsAtMs) beginNext()
      })
    }
    setImmediate(() => {
      isScheduled = false
      schedule()
    })
  }

  const note = (caller: string): void => {
    if (last !== null && last !== caller) contendedUntilMs = now() + contendedForMs
    last = caller
  }

  return {
    note,
    take: (caller, start) => {
      note(caller)
      if (waiting.size === 0 && now() >= contendedUntilMs) {
        start()
        return null
      }
      const starts = waiting.get(caller) ?? new Set()
      starts.add(start)
      waiting.set(caller, starts)
      schedule()
      return () => {
        starts.delete(start)
        if (starts.size === 0 && waiting.get(caller) === starts) waiting.delete(caller)
      }
    },
  }
}
