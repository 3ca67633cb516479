import { afterEach, describe, expect, it, vi } from 'vitest'
import type { Pause, PauseStore, PauseTarget } from '../../../src/ports/operatorPauses.js'
import type { PauseTargetRequest } from '../../../src/protocol/operator.js'
import { createSchemeRegistry } from '../../../src/schemes/registry.js'
import { createPauses } from '../../../src/usecases/operator/pauses.js'
import { createMemoryLogger } from '../../support/memoryLogger.js'
import { rejectionOf } from '../../support/rejectionOf.js'
import { createToyScheme } from '../../support/toyScheme.js'

const accountId = '0b8a7a0c-3f0e-4a9c-9d43-1f6f0a2a9d51'
const since = new Date('2026-01-01T00:00:00Z')
const pauseOf = (target: PauseTarget): Pause => ({ target, reason: 'Why', by: null, since })
const target: PauseTarget = { kind: 'network', network: 'toy:1' }

const network = { normalizeAddress: (text: string) => text.toLowerCase() }

const setup = (changes: Partial<PauseStore> = {}) => {
  const stored: Pause[] = []
  const store: PauseStore = {
    list: async () => [...stored],
    watch: () => undefined,
    isResting: () => false,
    set: async ({ target, reason, by }) => {
      const pause = { target, reason, by, since }
      stored.push(pause)
      return { state: 'set', pause }
    },
    clear: async () => stored.splice(0).length > 0,
    ...changes,
  }
  const logger = createMemoryLogger()
  const counts: number[] = []
  const pauses = createPauses({
    store,
    registry: createSchemeRegistry([
      createToyScheme({ kind: { scheme: 'exact', network: 'toy:1' }, network }),
      createToyScheme({ kind: { scheme: 'upto', network: 'toy:1' }, network }),
      createToyScheme({ kind: { scheme: 'exact', network: 'toy:2' } }),
    ]),
    accounts: {
      find: async (id) => {
        if (id !== accountId) return null
        throw new Error('It was looked up')
      },
    },
    gauge: { setPauses: (count) => counts.push(count) },
    logger,
  })
  return { ...pauses, stored, logger, counts, read: pauses.refresh }
}

const payment = { network: 'toy:1', scheme: 'exact', payTo: 'Bob', caller: accountId }

describe('a payment is paused by', () => {
  it.each<readonly [string, PauseTarget, boolean]>([
    ['its network', target, true],
    ['another network', { kind: 'network', network: 'toy:2' }, false],
    ['its scheme on its network', { kind: 'scheme', network: 'toy:1', scheme: 'exact' }, true],
    ['another scheme', { kind: 'scheme', network: 'toy:1', scheme: 'upto' }, false],
    ['its scheme on another network', { kind: 'scheme', network: 'toy:2', scheme: 'exact' }, false],
    ['its recipient, spelled otherwise', { kind: 'recipient', network: 'toy:1', payTo: 'bob' }, true],
    ['the same recipient on another network', { kind: 'recipient', network: 'toy:2', payTo: 'bob' }, false],
    ['its account', { kind: 'account', accountId }, true],
    ['another account', { kind: 'account', accountId: accountId.replace('0', '1') }, false],
  ])('%s: %o is %s', async (_, target, isPaused) => {
    const { find, stored, read } = setup()
    stored.push(pauseOf(target))
    expect(find(payment)).toBeNull()
    await read()
    expect(find(payment)?.target ?? null).toEqual(isPaused ? target : null)
  })

  it('the oldest pause that covers it, which a later one must not hide', async () => {
    const { find, stored, read } = setup()
    const earlier = new Date(since.getTime() - 1)
    const recipient = { kind: 'recipient', network: 'toy:1', payTo: 'bob' } as const
    stored.push(pauseOf(target), { ...pauseOf(recipient), since: earlier })
    await read()
    expect(find(payment)?.since).toEqual(earlier)
  })

  it('all networks, when each is paused', async () => {
    const { find, setPause } = setup()
    for (const each of ['toy:1', 'toy:2']) {
      await setPause({ target: { kind: 'network', network: each }, reason: 'All' }, null)
    }
    expect(find({ network: 'toy:1', scheme: 'upto' })).not.toBeNull()
    expect(find({ network: 'toy:2', scheme: 'exact' })).not.toBeNull()
  })
})

describe('an instance', () => {
  it('obeys a pause when it has answered it, and resumes likewise', async () => {
    const { find, setPause, clearPause, counts } = setup()
    await setPause({ target, reason: 'Why', by: 'Ada' }, '203.0.113.7')
    expect(find(payment)).toMatchObject({ reason: 'Why', by: 'Ada' })
    expect(await clearPause(target, { address: null })).toEqual({ cleared: true, pauses: [] })
    expect(find(payment)).toBeNull()
    expect(counts).toEqual([1, 0])
  })

  it('obeys what it read last while the store does not answer', async () => {
    let isDown = false
    const { find, read } = setup({
      list: async () => {
        if (isDown) throw new Error('down')
        return [pauseOf(target)]
      },
    })
    await read()
    isDown = true
    await expect(read()).rejects.toThrow('down')
    expect(find(payment)).not.toBeNull()
  })

  it('obeys what it has set and cleared although it cannot be read back, and logs it', async () => {
    const { find, setPause, clearPause, logger } = setup({
      list: async () => {
        throw new Error('down')
      },
    })
    expect(await setPause({ target, reason: 'Why' }, null)).toMatchObject({ changed: true })
    expect(find(payment)).not.toBeNull()
    expect(logger.messages()).toContain('pauses.read_failed')
    expect(await clearPause(target, { address: null })).toEqual({ cleared: true, pauses: [] })
    expect(find(payment)).toBeNull()
  })

  it('does not let an older answer of the store undo a newer one', async () => {
    const answers: ((pauses: readonly Pause[]) => void)[] = []
    const { find, read } = setup({
      list: () =>
        new Promise((resolve) => {
          answers.push(resolve)
        }),
    })
    const [older, newer] = [read(), read()]
    answers[1]?.([pauseOf(target)])
    await newer
    answers[0]?.([])
    await older
    expect(find(payment)).not.toBeNull()
  })
})

describe('pauses that the store reads for all instances', () => {
  afterEach(() => {
    vi.useRealTimers()
  })

  const watched = () => {
    let tell: Parameters<PauseStore['watch']>[0] = () => undefined
    const list = vi.fn(async () => [])
    const pauses = setup({
      list,
      watch: (listener) => {
        tell = listener
      },
    })
    const refreshStale = () => pauses.refreshStale(new AbortController().signal)
    return {
      ...pauses,
      list,
      refreshStale,
      tell: (known: readonly Pause[], sentAt: number) => tell(known, sentAt),
    }
  }

  it('are obeyed at once, and cleared likewise', () => {
    const { find, tell, counts } = watched()
    tell([pauseOf(target)], performance.now())
    expect(find(payment)).not.toBeNull()
    tell([], performance.now())
    expect(find(payment)).toBeNull()
    expect(counts).toEqual([1, 0])
  })

  it('do not undo what this instance has set since they were asked for', async () => {
    const { find, tell, setPause, stored, list } = watched()
    list.mockImplementation(async () => [...stored] as never)
    const sentAt = performance.now()
    await setPause({ target, reason: 'Why' }, null)
    tell([], sentAt)
    expect(find(payment)).not.toBeNull()
  })

  it('are asked for where they were not read for two seconds', async () => {
    vi.useFakeTimers({ toFake: ['performance'] })
    const { tell, list, refreshStale } = watched()
    tell([], performance.now())
    vi.advanceTimersByTime(2_100)
    await refreshStale()
    expect(list).not.toHaveBeenCalled()
    vi.advanceTimersByTime(200)
    await refreshStale()
    expect(list).toHaveBeenCalledOnce()
  })
})

describe('a pause is refused', () => {
  it.each<readonly [string, PauseTargetRequest, string, string]>([
    ['an unknown network', { kind: 'network', network: 'toy:9' }, 'INVALID_REQUEST', 'target.network: '],
    [
      'a scheme that the network lacks',
      { kind: 'scheme', network: 'toy:2', scheme: 'upto' },
      'INVALID_REQUEST',
      'target.scheme: ',
    ],
    [
      'an unknown account',
      { kind: 'account', accountId: accountId.replace('0', '1') },
      'NOT_FOUND',
      'target.accountId: ',
    ],
  ])('for %s, and nothing is stored', async (_, target, code, message) => {
    const { setPause, stored } = setup()
    const refused = await rejectionOf(setPause({ target, reason: 'Why' }, null))
    expect(refused).toMatchObject({ code, message: expect.stringContaining(message) })
    expect(stored).toEqual([])
  })

  it('when there are too many', async () => {
    const { setPause } = setup({ set: async () => ({ state: 'full' }) })
    expect(await rejectionOf(setPause({ target, reason: 'Why' }, null))).toMatchObject({
      code: 'INVALID_REQUEST',
      message: 'There are 1000 pauses: clear one',
    })
  })
})

describe('a network that is no longer configured', () => {
  it('can be resumed', async () => {
    const cleared: PauseTarget[] = []
    const { clearPause } = setup({
      clear: async (target) => {
        cleared.push(target)
        return true
      },
    })
    expect(await clearPause({ kind: 'network', network: 'toy:9' }, { address: null })).toMatchObject({
      cleared: true,
    })
    expect(cleared).toEqual([{ kind: 'network', network: 'toy:9' }])
  })
})
