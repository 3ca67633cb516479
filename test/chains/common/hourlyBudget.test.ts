import { describe, expect, it } from 'vitest'
import {
  createHourlyBudget,
  type HourlyBudget,
  spendForBatch,
} from '../../../src/chains/common/hourlyBudget.js'
import { createPromisedCost, type PromisedCost } from '../../../src/chains/common/promisedCost.js'
import { createMemoryRateLimiter } from '../../../src/stores/cache/rateLimiter.js'
import { createManualClock } from '../../support/manualClock.js'
import { rejectionOf } from '../../support/rejectionOf.js'

const tenant1 = { part: 'tenant-1', customer: 'tenant-1' }

/** Ten settlements of 10 that were promised to a tenant, unless it says otherwise. */
const promisedTo = (caller: string, count = 10): PromisedCost => {
  const clock = createManualClock()
  const promised = { part: caller, customer: caller, count }
  return createPromisedCost({ count: async () => [promised], costOfOne: () => 10, clock })
}

/** How many settlements a customer is promised until it is refused. */
const promiseAll = async (budget: HourlyBudget, part: string, customer = part): Promise<number> => {
  for (let count = 0; ; count += 1) {
    const isPromised = await budget.checkPromise({ part, customer }).then(
      () => true,
      () => false,
    )
    if (!isPromised) return count
  }
}

const setup = (limit = 1_000, promised?: PromisedCost) => {
  const clock = createManualClock()
  const limiter = createMemoryRateLimiter({ clock })
  const budget = createHourlyBudget(limiter, {
    network: 'toy:1',
    purpose: 'gas',
    key: 'gas:toy:1',
    limit,
    urgentLimit: 100,
    ...(promised === undefined ? {} : { promised }),
  })
  /** Spends one at a time until nothing is left, and returns how much that was. */
  const exhaust = async (caller: string | null): Promise<number> => {
    for (let spent = 0; ; spent += 1) {
      const isSpent = await budget.spend(1, caller).then(
        () => true,
        () => false,
      )
      if (!isSpent) return spent
    }
  }
  const spendUrgent = (cost: number, account: string, caller: string | null = account) =>
    budget.spendUrgent(cost, { account, caller })
  return { budget, clock, exhaust, spendUrgent }
}

describe('A43: the hourly budget of a network', () => {
  it('leaves every other account its part when one account spends all that it can', async () => {
    const { exhaust } = setup()
    expect(await exhaust('tenant-1')).toBe(640)
    expect(await exhaust('tenant-2')).toBe(40)
    expect(await exhaust('tenant-3')).toBe(40)
  })

  it('leaves callers without a key their part when accounts spend all that they can, and the other way round', async () => {
    const first = setup()
    await first.exhaust('tenant-1')
    expect(await first.exhaust('anonymous')).toBe(200)
    const second = setup()
    expect(await second.exhaust('anonymous')).toBe(800)
    expect(await second.exhaust('tenant-1')).toBe(40)
  })

  it('is never exceeded by all callers together', async () => {
    const { exhaust } = setup()
    let total = await exhaust('anonymous')
    for (let tenant = 0; tenant < 20; tenant += 1) total += await exhaust(`tenant-${tenant}`)
    total += (await exhaust(null)) ?? 0
    expect(total).toBe(1_000)
  })

  it('keeps a part for our own maintenance as long as the reserve lasts', async () => {
    const { exhaust } = setup()
    await exhaust('anonymous')
    expect(await exhaust(null)).toBe(200)
  })

  it('refuses with SVC-3002 and is whole again after an hour', async () => {
    const { budget, clock, exhaust } = setup()
    await exhaust('tenant-1')
    expect(await rejectionOf(budget.spend(1, 'tenant-1'))).toMatchObject({
      code: 'SERVICE_UNAVAILABLE',
      operationalCode: 'SVC-3002',
    })
    await clock.advance(3_600_001)
    expect(await exhaust('tenant-1')).toBe(640)
  })

  it('takes back what was not sent', async () => {
    const { budget, exhaust } = setup()
    for (let time = 0; time < 100; time += 1) (await budget.spend(40, 'tenant-1'))()
    expect(await exhaust('tenant-1')).toBe(640)
  })
})

describe('A43: a batch', () => {
  const item = (id: number, caller: string | null) => ({ id, caller })
  const costOf = (items: readonly unknown[]) => items.length

  it('draws for each caller its own items', async () => {
    const { budget, exhaust } = setup()
    const items = [item(1, 'tenant-1'), item(2, 'tenant-2'), item(3, 'tenant-1')]
    expect(await spendForBatch(budget, items, costOf)).toMatchObject({ refund: expect.any(Function) })
    expect(await exhaust('tenant-2')).toBe(639)
    expect(await exhaust('tenant-1')).toBe(38)
  })

  it('names the items of a caller whose part is spent, and draws nothing for the others', async () => {
    const { budget, exhaust } = setup()
    await exhaust('tenant-1')
    const items = [item(1, 'tenant-1'), item(2, 'tenant-2')]
    const drawn = await spendForBatch(budget, items, costOf)
    expect('refused' in drawn && [...drawn.refused.keys()]).toEqual([items[0]])
    expect(await exhaust('tenant-2')).toBe(40)
  })
})

describe('what is promised', () => {
  it('is kept from new work of every caller, and drawn by promised settlements alone', async () => {
    const { budget, exhaust } = setup(1_000, promisedTo('tenant-1'))
    expect(await exhaust('tenant-1')).toBe(540)
    expect(await exhaust('tenant-2')).toBe(40)
    expect(await exhaust('anonymous')).toBe(200)
    for (let settled = 0; settled < 10; settled += 1) await budget.spend(10, 'tenant-1', 10)
    await expect(budget.spend(1, 'tenant-1')).rejects.toThrow('spent')
  })

  it('is settled beyond the budget, should gas have become more expensive', async () => {
    const { budget, exhaust } = setup(1_000, promisedTo('tenant-1'))
    await exhaust('tenant-1')
    await expect(budget.spend(500, 'tenant-1', 500)).resolves.toBeTypeOf('function')
  })

  it('draws as new work what it costs beyond what was kept', async () => {
    const { budget, exhaust } = setup(1_000, promisedTo('tenant-1'))
    await exhaust('tenant-1')
    await expect(budget.spend(11, 'tenant-1', 10)).rejects.toThrow('spent')
    // Nothing of it was drawn.
    for (let settled = 0; settled < 10; settled += 1) await budget.spend(10, 'tenant-1', 10)
    await expect(budget.spend(1, 'tenant-1')).rejects.toThrow('spent')
  })

  it('gives back first what it drew as new work', async () => {
    const { budget, exhaust } = setup(1_000, promisedTo('tenant-1'))
    const refund = await budget.spend(30, 'tenant-2', 10)
    refund(25)
    expect((await exhaust('tenant-2')) + (await exhaust('tenant-1'))).toBe(575)
  })

  it('leaves half of the common part to new work', async () => {
    const many = setup(1_000, promisedTo('tenant-1', 1_000))
    expect(await many.exhaust('tenant-2')).toBe(340)
  })

  it('leaves its part to a caller while seven others are promised all that they can be', async () => {
    const { budget } = setup(1_000, promisedTo('tenant-0', 0))
    for (let tenant = 1; tenant <= 8; tenant += 1)
      expect(await promiseAll(budget, `tenant-${tenant}`)).toBe(3)
  })

  it('leaves their parts to three customers of an address while a fourth there is promised all that it can be', async () => {
    const { budget } = setup(1_000, promisedTo('tenant-0', 0))
    const of = (shop: string, part = 'unproven 192.0.2.1') => promiseAll(budget, part, shop)
    expect([await of('shop-1'), await of('shop-2'), await of('shop-3'), await of('shop-4')]).toEqual([
      3, 3, 3, 3,
    ])
    // Anyone can be many of them.
    expect(await of('shop-5')).toBeLessThan(4)
    expect(await of('shop-6')).toBe(0)
    // Elsewhere, too, it is the same one.
    expect(await of('shop-1', 'unproven 192.0.2.2')).toBe(0)
  })

  it('leaves parts to customers that are proven while all addresses are promised all that they can be', async () => {
    const { budget } = setup(1_000, promisedTo('tenant-0', 0))
    let promised = 0
    for (let shop = 0; shop < 20; shop += 1) {
      promised += await promiseAll(budget, `unproven 192.0.2.${shop % 5}`, `shop-${shop}`)
    }
    expect(promised).toBe(22)
    expect(await promiseAll(budget, 'tenant-1')).toBe(3)
  })

  it('is bounded for requests at the same time, and free again where nothing was stored', async () => {
    const { budget } = setup(1_000, promisedTo('tenant-0', 0))
    const checkTen = () => Promise.allSettled(Array.from({ length: 10 }, () => budget.checkPromise(tenant1)))
    const isPassed = (result: PromiseSettledResult<unknown>) => result.status === 'fulfilled'
    const first = await checkTen()
    expect(first.filter(isPassed)).toHaveLength(3)
    for (const [index, result] of first.filter((each) => each.status === 'fulfilled').entries()) {
      result.value(index === 0)
    }
    expect((await checkTen()).filter(isPassed)).toHaveLength(2)
  })

  it('is one settlement for each caller where the budget is small', async () => {
    const { budget } = setup(100, promisedTo('tenant-1', 0))
    await budget.checkPromise(tenant1)
    await expect(budget.checkPromise(tenant1)).rejects.toMatchObject({ operationalCode: 'SVC-3002' })
  })

  it('needs a budget that is not spent: that of the account, or the common one', async () => {
    const { budget, exhaust } = setup(1_000, promisedTo('tenant-1', 0))
    await exhaust('tenant-1')
    await expect(budget.checkPromise(tenant1)).rejects.toMatchObject({ operationalCode: 'SVC-3002' })
    await expect(budget.checkPromise({ part: 'tenant-2', customer: 'tenant-2' })).resolves.toBeTypeOf(
      'function',
    )
  })
})

describe('what is lost if it waits', () => {
  it('draws nothing that others can use, and is kept from nothing that they use', async () => {
    const { exhaust, spendUrgent } = setup()
    for (let count = 0; count < 20; count += 1) await spendUrgent(1, 'tenant-1')
    expect(await exhaust('tenant-2')).toBe(640)
    expect(await exhaust('tenant-1')).toBe(40)
    expect(await exhaust('anonymous')).toBe(200)
    for (let count = 0; count < 20; count += 1) await spendUrgent(1, 'tenant-2')
    await expect(spendUrgent(1, 'tenant-2')).rejects.toMatchObject({ operationalCode: 'SVC-3002' })
  })

  it('is one account’s at most a fifth of what is kept for it, and beyond that new work like any other', async () => {
    const { exhaust, spendUrgent } = setup()
    for (let count = 0; count < 60; count += 1) await spendUrgent(1, 'tenant-1')
    expect(await exhaust('tenant-1')).toBe(600)
    expect(await exhaust('tenant-2')).toBe(40)
    for (let count = 0; count < 20; count += 1) await spendUrgent(1, 'tenant-3')
  })

  it('is one fifth for all that is urgent for an account, whichever of its purses a settlement draws from otherwise', async () => {
    const { exhaust, spendUrgent } = setup()
    for (const purse of ['channels of tenant-1', 'holds of tenant-1', 'tenant-1', null]) {
      for (let count = 0; count < 20; count += 1) await spendUrgent(1, 'tenant-1', purse)
    }
    for (const account of ['tenant-2', 'tenant-3', 'tenant-4', 'tenant-5']) {
      await exhaust(account)
      for (let count = 0; count < 20; count += 1) await spendUrgent(1, account)
      await expect(spendUrgent(1, account)).rejects.toMatchObject({ operationalCode: 'SVC-3002' })
    }
  })

  it('is never more than what is kept, however many accounts there are', async () => {
    const { exhaust, spendUrgent } = setup()
    for (let tenant = 0; tenant < 40; tenant += 1) await exhaust(`tenant-${tenant}`)
    let spent = 0
    for (let tenant = 0; tenant < 40; tenant += 1) {
      for (let count = 0; count < 30; count += 1) {
        await spendUrgent(1, `tenant-${tenant}`).then(
          () => spent++,
          () => undefined,
        )
      }
    }
    expect(spent).toBe(100)
  })

  it('is one action in any case, where a fifth is less than it costs', async () => {
    const { exhaust, spendUrgent } = setup()
    await exhaust('tenant-1')
    await spendUrgent(50, 'tenant-1')
    await expect(spendUrgent(50, 'tenant-1')).rejects.toThrow('spent')
    await spendUrgent(50, 'tenant-2')
  })

  it('is drawn apart from the other items of a batch, and given back where nothing is sent', async () => {
    const { budget, exhaust } = setup()
    await exhaust('tenant-1')
    const [urgent, other] = [{ caller: 'tenant-1', urgentFor: 'tenant-1' }, { caller: 'tenant-1' }]
    const costOf = (items: readonly unknown[]) => items.length * 20
    const drawn = await spendForBatch(budget, [urgent, other], costOf)
    expect('refused' in drawn && [...drawn.refused.keys()]).toEqual([other])
    expect(await spendForBatch(budget, [urgent], costOf)).toMatchObject({ refund: expect.any(Function) })
    expect(await spendForBatch(budget, [urgent], costOf)).toMatchObject({ refused: expect.any(Map) })
  })
})

describe('a part that was not used', () => {
  it('is given back to each caller of a batch', async () => {
    const { budget, exhaust } = setup()
    const items = [{ caller: 'tenant-1' }, { caller: 'tenant-2' }]
    const drawn = await spendForBatch(budget, items, () => 40)
    if ('refused' in drawn) throw new Error('It was refused')
    drawn.refund(() => 30)
    expect(await exhaust('tenant-1')).toBe(610)
    expect(await exhaust('tenant-2')).toBe(10)
  })
})
