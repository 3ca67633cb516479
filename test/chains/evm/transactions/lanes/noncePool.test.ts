import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { createNoncePool, maxInFlight } from '../../../../../src/chains/evm/transactions/lanes/noncePool.js'
import { createEoa } from '../../../../support/evm/wallets.js'

const createAccounts = (count: number) => Array.from({ length: count }, () => createEoa().account)

const open = (count: number) => {
  const accounts = createAccounts(count)
  const unable = new Set<string>()
  const pool = createNoncePool(accounts, (address) => !unable.has(address))
  const [first, second] = accounts
  if (first === undefined) throw new Error('There is no account')
  return { pool, accounts, unable, first, second: second ?? first }
}

/** Allocates this many nonces in the lanes that the pool chooses; returns their accounts. */
const draw = ({ pool }: Pick<ReturnType<typeof open>, 'pool'>, numbers: readonly number[]) =>
  numbers.map((nonce) => {
    const place = pool.take()
    if (place === null) throw new Error('There is no room')
    place.onNonceAllocated(nonce)
    return place.account.address
  })

const range = (length: number) => Array.from({ length }, (_, index) => index)

describe('a lane', () => {
  it('has sixteen slots, and another when a transaction is mined', () => {
    const { pool, first } = open(1)
    draw({ pool }, range(maxInFlight))
    expect(pool.countFreeSlots()).toBe(0)
    expect(pool.take()).toBeNull()
    pool.onMined(first.address, 0)
    expect(pool.countFreeSlots()).toBe(1)
    expect(pool.take()).not.toBeNull()
    expect(pool.take()).toBeNull()
  })

  it('counts reserved slots without a nonce', () => {
    const { pool } = open(1)
    const places = range(maxInFlight).map(() => pool.take())
    expect(pool.take()).toBeNull()
    places[0]?.release()
    places[0]?.release()
    expect(pool.countFreeSlots()).toBe(1)
    places[1]?.onNonceAllocated(0)
    places[1]?.release()
    expect(pool.countFreeSlots()).toBe(1)
  })

  it('has the capacity that the chain reports, even when this process missed inclusions', () => {
    const { pool, first } = open(1)
    draw({ pool }, range(maxInFlight))
    pool.setMined(first.address, 10)
    expect(pool.countFreeSlots()).toBe(10)
    pool.setMined(first.address, 100)
    expect(pool.countFreeSlots()).toBe(maxInFlight)
  })

  it('recovers after a node reported too high a count', () => {
    const { pool, first } = open(1)
    pool.setMined(first.address, 1_000)
    pool.setMined(first.address, 3)
    expect(pool.countFreeSlots()).toBe(maxInFlight)
    draw({ pool }, [3])
    expect(pool.countFreeSlots()).toBe(maxInFlight - 1)
  })

  it('starts at its first nonce without a report', () => {
    const { pool } = open(1)
    draw({ pool }, [41])
    expect(pool.countFreeSlots()).toBe(maxInFlight - 1)
  })

  it('of an unfunded account is not used', () => {
    const { pool, unable, first, second } = open(2)
    unable.add(first.address)
    expect(draw({ pool }, [0, 1])).toEqual([second.address, second.address])
    expect(pool.countFreeSlots()).toBe(maxInFlight - 2)
    unable.add(second.address)
    expect(pool.take()).toBeNull()
    expect(pool.countFreeSlots()).toBe(0)
  })
})

describe('several lanes', () => {
  it('are filled evenly', () => {
    const { pool, accounts } = open(3)
    const drawn = draw({ pool }, range(9))
    for (const { address } of accounts) expect(drawn.filter((each) => each === address)).toHaveLength(3)
  })

  it('of leased accounts are used first', () => {
    const { pool, first, second } = open(2)
    pool.setLeased([second.address])
    expect(new Set(draw({ pool }, range(maxInFlight)))).toEqual(new Set([second.address]))
    expect(draw({ pool }, [0])).toEqual([first.address])
  })

  it('can be selected by address', () => {
    const { pool, second } = open(2)
    expect(pool.take(second.address)?.account.address).toBe(second.address)
    for (const nonce of range(maxInFlight - 1)) pool.take(second.address)?.onNonceAllocated(nonce)
    expect(pool.take(second.address)).toBeNull()
    expect(pool.take()).not.toBeNull()
  })
})

describe('waiting for a slot', () => {
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] })
  })
  afterEach(() => {
    vi.useRealTimers()
  })

  it('ends when a transaction is mined or a slot is released', async () => {
    const { pool, first } = open(1)
    const place = pool.take()
    const waiting = pool.whenSlotFreed()
    place?.release()
    await waiting
    const again = pool.whenSlotFreed()
    pool.onMined(first.address, 0)
    await again
  })

  it('takes at least as long as the oldest pending transaction has waited', async () => {
    const { pool, first } = open(1)
    expect(pool.expectInclusionMs()).toBe(0)
    draw({ pool }, [0])
    vi.advanceTimersByTime(60)
    expect(pool.expectInclusionMs()).toBe(60)
    pool.onMined(first.address, 0)
    // From now on it is an average, and does not grow by itself.
    vi.advanceTimersByTime(30)
    expect(pool.expectInclusionMs()).toBe(60)
  })
})
