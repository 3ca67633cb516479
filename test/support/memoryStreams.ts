import type { Stream, StreamStore } from '../../src/ports/streamStore.js'

interface MemoryStreams extends StreamStore {
  /** Replaces whatever is stored. */
  put(stream: Stream): void
  get(id: string): Stream
  /** Changes of it throw from now on. */
  fail(id: string): void
}

const openStates: readonly string[] = ['active', 'paused', 'closing']

/** Streams of one process; every payment is the same. */
export const createMemoryStreams = (payment: unknown): MemoryStreams => {
  const streams = new Map<string, Stream>()
  const broken = new Set<string>()
  const checkedAt = new Map<string, Date>()
  const list = (): readonly Stream[] => [...streams.values()]
  const isClosing = (now: Date) => (stream: Stream) =>
    stream.state === 'closing' && stream.attendAt !== null && stream.attendAt <= now
  return {
    put: (stream) => {
      streams.set(stream.id, stream)
    },
    get: (id) => {
      const found = streams.get(id)
      if (found === undefined) throw new Error(`There is no stream ${id}`)
      return found
    },
    fail: (id) => {
      broken.add(id)
    },
    open: async (opening) => {
      const { pace, stream: wanted } = opening
      const others = list().filter(
        ({ state, network, closesAt, settlesUntil }) =>
          openStates.includes(state) &&
          network === wanted.network &&
          pace !== undefined &&
          Math.abs(settlesUntil.getTime() - wanted.settlesUntil.getTime()) <= pace.windowMs &&
          settlesUntil.getTime() - closesAt.getTime() <= pace.maxMarginMs,
      )
      const own = others.filter((other) => customerOf(other) === customerOf(wanted))
      const placed = pace === undefined ? opening : pace.place({ others: others.length, own: own.length })
      if (placed === null) return 'crowded'
      streams.set(placed.stream.id, placed.stream)
      return 'opened'
    },
    change: async (id, decide) => {
      if (broken.has(id)) throw new Error(`The stream ${id} cannot be changed`)
      const decision = decide(streams.get(id) ?? null)
      if (decision.state === 'changed') streams.set(id, decision.stream)
      return decision
    },
    find: async (id) => streams.get(id) ?? null,
    findOwed: async () => 0n,
    findOpen: async (authorizationId) =>
      list().find((each) => each.authorizationId === authorizationId && openStates.includes(each.state)) ??
      null,
    findToSettle: async (id) => {
      const stream = streams.get(id)
      return stream !== undefined && openStates.includes(stream.state) ? { stream, payment } : null
    },
    list: async ({ caller }) => list().filter((each) => each.caller === caller),
    listDue: async (now) =>
      list()
        .filter(({ state, closesAt }) => (state === 'active' || state === 'paused') && closesAt <= now)
        .map(({ id }) => id),
    listClosingNetworks: async (now) => [
      ...new Set(
        list()
          .filter(isClosing(now))
          .map(({ network }) => network),
      ),
    ],
    leaseClosing: async ({ network, now, leasedUntil, limit }) => {
      const leased = list()
        .filter((each) => each.network === network)
        .filter(isClosing(now))
        .toSorted((left, right) => left.settlesUntil.getTime() - right.settlesUntil.getTime())
        .slice(0, limit)
        .map((stream) => ({ ...stream, attendAt: leasedUntil }))
      for (const stream of leased) streams.set(stream.id, stream)
      return leased.map((stream) => ({ stream, payment }))
    },
    countOpen: async () => [],
    takeToCheck: async (before, now, limit) => {
      const taken = list()
        .filter(({ state }) => state === 'active' || state === 'paused')
        .filter(({ id, createdAt }) => (checkedAt.get(id) ?? createdAt) < before)
        .slice(0, limit)
      for (const { id } of taken) checkedAt.set(id, now)
      return taken.map((stream) => ({ stream, payment }))
    },
  }
}

const customerOf = ({ caller, quota }: Pick<Stream, 'caller' | 'quota'>): string => quota?.customer ?? caller
