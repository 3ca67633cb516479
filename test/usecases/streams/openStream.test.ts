import { describe, expect, it } from 'vitest'
import { openStreamBody } from '../../../src/protocol/streams.js'
import { createSchemeRegistry } from '../../../src/schemes/registry.js'
import { createOpenStream } from '../../../src/usecases/streams/openStream.js'
import { createManualClock, drainEventLoop } from '../../support/manualClock.js'
import { createMemoryJournal } from '../../support/memoryJournal.js'
import { createMemoryStreams } from '../../support/memoryStreams.js'
import { waitLimitMs } from '../../support/pollUntil.js'
import { createToyScheme, toyAuthorized } from '../../support/toyScheme.js'

const start = new Date('2026-01-01T00:00:00Z')
const minutes = (count: number) => new Date(start.getTime() + count * 60_000)

const bodyOf = (nonce: string) => ({
  paymentPayload: { scheme: 'upto', network: 'toy:1', payload: { from: 'alice', nonce } },
  paymentRequirements: {
    scheme: 'upto',
    network: 'toy:1',
    asset: 'gold',
    payTo: 'bob',
    maxTimeoutSeconds: 60,
    maxAmount: '10000',
  },
})

const setup = (perSecond: number) => {
  const clock = createManualClock(start)
  const store = createMemoryStreams({})
  const scheme = createToyScheme({
    kind: { scheme: 'upto', network: 'toy:1' },
    network: { settlementsPerSecond: () => perSecond },
  })
  let end = minutes(60)
  const openStream = createOpenStream({
    store,
    journal: createMemoryJournal(),
    registry: createSchemeRegistry([scheme]),
    holdAuthorization: async ({ payment }) => ({
      ...toyAuthorized(payment),
      expiresAt: end,
    }),
    releaseHold: async () => undefined,
    quotaGate: async () => null,
    spendingLimits: { spend: async () => () => undefined, countFailure: async () => undefined },
    clock,
    deadlineMs: waitLimitMs,
  })
  let count = 0
  /** By one of five callers, unless it is named. */
  const open = async (expiresAt?: Date, by?: string) => {
    count += 1
    const body = {
      ...bodyOf(`n${count}`),
      ...(expiresAt === undefined ? {} : { expiresAt: expiresAt.toISOString() }),
    }
    const request = {
      body: openStreamBody.parse(body),
      caller: by ?? `shop ${count % 5}`,
      quota: null,
      isAwaited: () => true,
    }
    const { answer } = await openStream(request)
    return store.get(answer.stream.id)
  }
  return {
    open,
    openMany: async (many: number) => {
      const opened = []
      for (let each = 0; each < many; each += 1) opened.push(await open())
      return opened
    },
    endAt: (at: Date) => {
      end = at
    },
  }
}

/** Settles one at a time, the most urgent first; returns how many seconds before its end each was settled. */
const settleOneAfterTheOther = (
  streams: readonly { readonly closesAt: Date; readonly settlesUntil: Date }[],
  perSecond: number,
) => {
  const waiting = [...streams]
  const left: number[] = []
  for (let nowMs = start.getTime(); waiting.length > 0; nowMs += 1_000 / perSecond) {
    const ready = waiting
      .filter(({ closesAt }) => closesAt.getTime() <= nowMs)
      .sort((one, other) => one.settlesUntil.getTime() - other.settlesUntil.getTime())
    const [next] = ready
    if (next === undefined) continue
    waiting.splice(waiting.indexOf(next), 1)
    left.push((next.settlesUntil.getTime() - nowMs) / 1_000)
  }
  return left
}

describe('streams whose authorizations end at the same time', () => {
  it('are all settled in time, although each needs a transaction of its own', async () => {
    const { openMany } = setup(1.1)
    const streams = await openMany(130)
    const left = settleOneAfterTheOther(streams, 1.1)
    expect(left).toHaveLength(130)
    expect(Math.min(...left)).toBeGreaterThan(50)
  })

  it('are settled in time beside others that end a little earlier or later', async () => {
    const { open, endAt } = setup(1)
    const streams = []
    for (let count = 0; count < 300; count += 1) {
      endAt(new Date(minutes(60).getTime() + ((count * 37) % 300) * 1_000))
      streams.push(await open())
    }
    expect(Math.min(...settleOneAfterTheOther(streams, 1))).toBeGreaterThan(50)
  })

  it('are refused when there are more than can be settled in ten minutes', async () => {
    const { open, openMany, endAt } = setup(0.1)
    await openMany(55)
    await expect(open()).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE', operationalCode: 'SVC-3002' })
    endAt(minutes(120))
    expect((await open()).closesAt).toEqual(minutes(119))
  })

  it('are at most a quarter of one caller', async () => {
    const { open } = setup(0.1)
    for (let own = 0; own < 14; own += 1) await open(undefined, 'greedy')
    await expect(open(undefined, 'greedy')).rejects.toMatchObject({ operationalCode: 'SVC-3002' })
    expect((await open(undefined, 'modest')).caller).toBe('modest')
  })

  it('are not in the way of one that closes long before its authorization ends', async () => {
    const { open, openMany } = setup(0.1)
    await openMany(55)
    expect((await open(minutes(50))).closesAt).toEqual(minutes(50))
  })
})

describe('a stream whose authorization ends soon', () => {
  it('is refused where others leave no time for it', async () => {
    const { open, openMany, endAt } = setup(1)
    endAt(minutes(3))
    const streams = await openMany(120)
    expect(streams.at(-1)?.closesAt).toEqual(new Date(minutes(2).getTime() - 119_000))
    await expect(open()).rejects.toMatchObject({
      reason: 'authorization_expired',
      message: 'The authorization ends within 180 s, which are needed to settle it',
    })
  })
})

describe('the same open request, sent twice at a time', () => {
  /** The first to ask has the hold, whose stream is stored once `store` is called. */
  const setupRace = () => {
    const clock = createManualClock(start)
    const store = createMemoryStreams({})
    let finish = (): void => undefined
    const spent = new Promise<void>((resolve) => {
      finish = resolve
    })
    let holder: string | null = null
    const openStream = createOpenStream({
      store,
      journal: createMemoryJournal(),
      registry: createSchemeRegistry([createToyScheme({ kind: { scheme: 'upto', network: 'toy:1' } })]),
      holdAuthorization: async ({ payment, purpose }) => {
        holder ??= purpose
        if (holder !== purpose)
          return { isValid: false, payer: 'alice', reason: 'duplicate_settlement', takenBy: 'stream' }
        return { ...toyAuthorized(payment), expiresAt: minutes(60) }
      },
      releaseHold: async () => undefined,
      quotaGate: async () => null,
      spendingLimits: {
        spend: async () => {
          await spent
          return () => undefined
        },
        countFailure: async () => undefined,
      },
      clock,
      deadlineMs: waitLimitMs,
    })
    const open = (caller: string, isAwaited = () => true) =>
      openStream({ body: openStreamBody.parse(bodyOf('n1')), caller, quota: null, isAwaited })
    return { clock, open, store: () => finish() }
  }

  const passSeconds = async ({ advance }: ReturnType<typeof createManualClock>, seconds: number) => {
    for (let tenths = 0; tenths < seconds * 10; tenths += 1) await advance(100)
  }

  it('opens one stream, also where the first takes seconds to store it', async () => {
    const { clock, open, store } = setupRace()
    const first = open('shop')
    const second = open('shop')
    await drainEventLoop()
    await passSeconds(clock, 5)
    store()
    const opened = await first
    await passSeconds(clock, 5)
    expect(opened.isNew).toBe(true)
    expect(await second).toMatchObject({ isNew: false, answer: { stream: { id: opened.answer.stream.id } } })
  })

  it('is to be sent again where no stream follows in time', async () => {
    const { clock, open } = setupRace()
    void open('shop')
    const refused = expect(open('shop')).rejects.toMatchObject({
      code: 'SERVICE_UNAVAILABLE',
      retryAfterSeconds: 10,
    })
    await drainEventLoop()
    await passSeconds(clock, 7)
    await refused
  })

  it('waits in few places of an account, and is refused at once beyond them', async () => {
    const { clock, open } = setupRace()
    void open('shop')
    const waiting = Array.from({ length: 16 }, () => open('shop'))
    const all = expect(Promise.allSettled(waiting)).resolves.toHaveLength(16)
    await drainEventLoop()
    expect(clock.countSleepers()).toBe(16)
    await expect(open('shop')).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' })
    await passSeconds(clock, 7)
    await all
    void open('shop').catch(() => undefined)
    await drainEventLoop()
    expect(clock.countSleepers()).toBe(1)
  })

  it.each([
    ['without a key', 'anonymous', true, 'PAYMENT_REFUSED'],
    ['whose client has gone', 'shop', false, 'SERVICE_UNAVAILABLE'],
  ])('is refused at once to a caller %s', async (_who, caller, isAwaited, code) => {
    const { clock, open } = setupRace()
    void open('shop')
    await expect(open(caller, () => isAwaited)).rejects.toMatchObject({ code })
    expect(clock.countSleepers()).toBe(0)
  })
})
