import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'

export interface Caller {
  /** Proven customers have half of the turns, however many other callers there are. */
  readonly isProven: boolean
  /** IPv4 address or IPv6 /48. What comes from it shares its turns, such as the keys of one attacker. */
  readonly site: string
  /** Null: no accepted key. */
  readonly customer: string | null
}

export interface Turns {
  /** A connection was accepted. `read` is called in a turn of its caller; null: now, as for that of a proxy. */
  noteConnection(socket: Socket, caller: Caller | null, read: () => void): void
  /** Calls `start` now, and returns null; or in a later turn, and returns what cancels it. */
  begin(request: IncomingMessage, caller: Caller, start: () => void): (() => void) | null
  /** Resolves in a turn of the request's caller; null: its turn is not over. For bodies, which can arrive later. */
  continue(request: IncomingMessage): Promise<void> | null
}

type Start = () => void

/** A turn between two readings of the sockets lasts about so long, or for one request. */
const turnMs = 0.25
/** While no other caller sends anything, longer turns save readings of the sockets, which take processor time. */
const turnAloneMs = 4
/** While connections arrive, turns are rare. */
const turnAfterConnectionsMs = 1
/** Bounds how many requests begin in one turn: more work follows once nodes and database have answered. */
export const startsPerTurn = 16
const contendedForMs = 1_000
/** How many connections are accepted between two turns, and for how long where each takes long. */
export const maxAcceptedBetween = 32
const acceptingMs = 5

interface Contention {
  note(caller: Caller): void
  /** Counts other callers as active for one more second. */
  extend(): void
  isContended(): boolean
}

/** Whether different callers sent requests within the last second. */
export const createContention = (now: () => number): Contention => {
  let last: Caller | null = null
  let untilMs = 0
  const extend = (): void => {
    untilMs = now() + contendedForMs
  }
  return {
    note: (caller) => {
      const isSame = last?.site === caller.site && last.customer === caller.customer
      if (last !== null && !isSame) extend()
      last = caller
    },
    extend,
    isContended: () => now() < untilMs,
  }
}

/**
 * Callers take turns at beginning requests: a hundred that one caller sends at once hold up the others by one of them, not
 * by all of them. Nothing is refused. Several small requests begin in one turn, and all of a caller that is alone, because
 * what begins together is asked of nodes and database together. New connections take turns at being read as well.
 *
 * Node accepts one connection between two readings of the sockets. A new caller could wait for seconds behind hundreds that
 * another one opened, if a turn followed each of them; so the next turn waits while connections arrive, for at most 32.
 */
export const createTurns = (now: () => number = () => performance.now()): Turns => {
  const [proven, others] = [createRing(), createRing()]
  const callers = new WeakMap<IncomingMessage, Caller>()
  const contention = createContention(now)
  let isProvenNext = true
  let isScheduled = false
  let hasAccepted = false
  let acceptedBetween = 0
  let acceptingSinceMs = 0
  let turnEndsAtMs = 0
  /** The request that was begun last: a body that arrived with it belongs to its turn. */
  let current: IncomingMessage | null = null

  const isWaiting = (): boolean => !proven.isEmpty() || !others.isEmpty()

  const beginNext = (): void => {
    const [first, second] = isProvenNext ? [proven, others] : [others, proven]
    isProvenNext = !isProvenNext
    const start = first.next() ?? second.next()
    start?.()
  }

  const mustAcceptFirst = (): boolean => {
    if (acceptedBetween === 0) acceptingSinceMs = now()
    const isInTime = acceptedBetween < maxAcceptedBetween && now() - acceptingSinceMs < acceptingMs
    const isEarly = hasAccepted && isInTime
    acceptedBetween = isEarly ? acceptedBetween + 1 : 0
    hasAccepted = false
    return isEarly
  }

  // A request goes on in microtasks after its beginning, which Node runs between two immediates of one turn.
  const schedule = (): void => {
    if (isScheduled || !isWaiting()) return
    isScheduled = true
    turnEndsAtMs = 0
    setImmediate(() => {
      const isAmongConnections = hasAccepted || acceptedBetween > 0
      if (mustAcceptFirst()) return
      const durationMs = contention.isContended() ? turnMs : turnAloneMs
      turnEndsAtMs = now() + (isAmongConnections ? turnAfterConnectionsMs : durationMs)
      beginNext()
    })
    for (let more = 1; more < startsPerTurn; more += 1) {
      setImmediate(() => {
        if (now() < turnEndsAtMs) beginNext()
      })
    }
    setImmediate(() => {
      isScheduled = false
      schedule()
    })
  }

  const take = (request: IncomingMessage, caller: Caller, start: Start): (() => void) | null => {
    const startRequest = (): void => {
      current = request
      start()
    }
    if (!isWaiting() && !contention.isContended()) {
      startRequest()
      return null
    }
    const cancel = (caller.isProven ? proven : others).add(caller, startRequest)
    schedule()
    return cancel
  }

  return {
    noteConnection: (socket, caller, read) => {
      hasAccepted = true
      const mustTakeTurns = isWaiting() || contention.isContended()
      contention.extend()
      if (caller === null || !mustTakeTurns) {
        read()
        return
      }
      const startReading = (): void => {
        // A packet of it can hold several requests, which begin or are refused when it is read.
        turnEndsAtMs = 0
        if (!socket.destroyed) read()
      }
      socket.once('close', others.add(caller, startReading))
      schedule()
    },
    begin: (request, caller, start) => {
      contention.note(caller)
      callers.set(request, caller)
      return take(request, caller, start)
    },
    continue: (request) => {
      const caller = callers.get(request)
      if (caller === undefined || current === request) return null
      return new Promise((resolve) => {
        take(request, caller, resolve)
      })
    },
  }
}

interface Ring {
  /** Returns what removes it. */
  add(caller: Caller, start: Start): () => void
  /** Takes the next caller, which is then behind all others; undefined: none waits. */
  next(): Start | undefined
  isEmpty(): boolean
}

/** Sites take turns, and in those of a site its customers. */
const createRing = (): Ring => {
  const sites = new Map<string, Map<string | null, Set<Start>>>()

  const remove = (site: string, customer: string | null, start: Start): void => {
    const customers = sites.get(site)
    const starts = customers?.get(customer)
    starts?.delete(start)
    if (starts?.size === 0) customers?.delete(customer)
    if (customers?.size === 0) sites.delete(site)
  }

  return {
    add: ({ site, customer }, start) => {
      const customers = getOrAdd(sites, site, () => new Map())
      getOrAdd(customers, customer, () => new Set()).add(start)
      return () => remove(site, customer, start)
    },
    next: () => {
      const customers = takeFirst(sites)
      const starts = customers && takeFirst(customers.value)
      if (customers === undefined || starts === undefined) return undefined
      const [start] = starts.value
      if (start !== undefined) remove(customers.key, starts.key, start)
      return start
    },
    isEmpty: () => sites.size === 0,
  }
}

const getOrAdd = <Key, Value>(map: Map<Key, Value>, key: Key, create: () => Value): Value => {
  const value = map.get(key) ?? create()
  map.set(key, value)
  return value
}

/** The first entry, which becomes the last. */
const takeFirst = <Key, Value>(map: Map<Key, Value>): { key: Key; value: Value } | undefined => {
  const [first] = map
  if (first === undefined) return undefined
  const [key, value] = first
  map.delete(key)
  map.set(key, value)
  return { key, value }
}
