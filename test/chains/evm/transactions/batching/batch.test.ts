import { type Address, parseTransaction } from 'viem'
import { afterEach, describe, expect, it } from 'vitest'
import type { Outcome } from '../../../../../src/schemes/scheme.js'
import { newestTransaction } from '../../../../../src/stores/postgres/journal/settlementStates.js'
import { unixNow } from '../../../../support/evm/authorization.js'
import { callRpc } from '../../../../support/evm/jsonRpc.js'
import { multicall3Address } from '../../../../support/evm/localChain.js'
import {
  encodeToySettle,
  encodeToyWithdraw,
  type ToyPlan,
  toyReasons,
} from '../../../../support/evm/toyCall.js'
import { createEoa } from '../../../../support/evm/wallets.js'
import { killInstance, reviveInstance } from '../../../../support/instances.js'
import { rejectionOf } from '../../../../support/rejectionOf.js'
import { useScene } from '../../../../support/useScene.js'
import { isSharedByAny } from '../../batchContracts.js'
import { countTransactions, endlessLoop, listRecorded, statesOf, whenInPool } from '../../batches.js'
import { createSigner, type EngineOptions, type ToySending } from '../../engineScene.js'
import { eventually, quickFinality } from '../../scene.js'
import { sendAsStranger } from '../../strangers.js'
import { openToyScene } from '../../toyScene.js'

/*
 * Calls that share one Multicall3 transaction: each has its own outcome, and a failing one does not affect
 * others.
 */

const scene = useScene(openToyScene)

afterEach(() => scene.toy.setGasToBurn(0n))

const open = (options?: EngineOptions) => scene.openToy(options)

const planMany = (count: number, changes: Partial<ToyPlan> = {}): Promise<readonly ToyPlan[]> =>
  Promise.all(Array.from({ length: count }, () => scene.toy.plan(changes)))

/** Removes a payer's credit. */
const sweep = ({ payer }: ToyPlan): Promise<void> => scene.toy.setCredit(payer, 0n)

const executeAsStranger = (plan: ToyPlan) => sendAsStranger(scene, encodeToySettle(scene.toy.address, plan))

const newAddress = (): Address => createEoa().address

/** From now on no broadcast can be committed. */
const refuseRecords = async (): Promise<void> => {
  await scene.database.pool().query(`
    create function refuse() returns trigger language plpgsql as $$ begin raise 'no commit'; end $$;
    create constraint trigger refuse after insert on broadcasts deferrable initially deferred
      for each row execute function refuse()`)
}

/** Closes the row of a payment that is pending, one block later. */
const closeOneBlockLater = async (sending: ToySending, { id }: ToyPlan): Promise<Outcome> => {
  await scene.chain.control.mine()
  const row = await sending.journal.findOpen(`toy/${id}`)
  if (row === null) throw new Error('There is no open row')
  const outcome = await sending.resolve(row.id)
  if (outcome.state !== 'pending') await sending.journal.close(row.id, outcome)
  return outcome
}

describe('payments that wait together', () => {
  it('settle in one transaction, each with its own outcome and amount', async () => {
    const sending = await open()
    const plans = await planMany(20)
    const outcomes = await sending.settleTogether(plans)
    expect(statesOf(outcomes)).toEqual(plans.map(() => 'confirmed'))
    expect(countTransactions(outcomes)).toBe(1)
    for (const { payTo, payer } of plans) {
      expect(await scene.toy.creditOf(payTo)).toBe(10_000n)
      expect(await scene.toy.creditOf(payer)).toBe(0n)
    }
    const [recorded, ...others] = await listRecorded(scene, sending.signers)
    expect(others).toEqual([])
    expect(recorded?.payments).toBe(20)
  })

  it('settle in three transactions of at most fifty when there are 120', async () => {
    const sending = await open()
    const payTo = newAddress()
    const plans = await Promise.all(Array.from({ length: 120 }, () => scene.toy.plan({ payTo })))
    const outcomes = await sending.settleTogether(plans)
    expect(statesOf(outcomes)).toEqual(plans.map(() => 'confirmed'))
    const shares = (await listRecorded(scene, sending.signers)).map(({ payments }) => payments)
    expect(shares.toSorted()).toEqual([20, 50, 50])
    expect(await scene.toy.creditOf(payTo)).toBe(1_200_000n)
  })
})

describe('one payment of a batch', () => {
  /** Nine valid calls and one that `change` makes fail while all wait; returns its outcome separately. */
  const settleWithFailing = async (bad: ToyPlan, change: () => Promise<unknown>, options?: EngineOptions) => {
    const sending = await open(options)
    const good = await planMany(9)
    sending.shut()
    const settling = [...good.slice(0, 4), bad, ...good.slice(4)].map((plan) => sending.settle(plan))
    await sending.whenWaiting(10)
    await change()
    sending.open()
    const outcomes = await Promise.all(settling)
    const [own] = outcomes.splice(4, 1)
    expect(statesOf(outcomes)).toEqual(good.map(() => 'confirmed'))
    for (const { payTo } of good) expect(await scene.toy.creditOf(payTo)).toBe(10_000n)
    return { own, outcomes, sending }
  }

  it("whose payer removed its credit fails with the scheme's reason", async () => {
    const bad = await scene.toy.plan()
    const { own, outcomes, sending } = await settleWithFailing(bad, () => sweep(bad))
    expect(own).toEqual({ state: 'failed', reason: 'insufficient_balance' })
    expect(countTransactions(outcomes)).toBe(1)
    // A call that fails in the simulation is not sent.
    expect((await listRecorded(scene, sending.signers)).map(({ payments }) => payments)).toEqual([9])
  })

  it("that another account cancelled fails with the scheme's reason", async () => {
    const bad = await scene.toy.plan()
    const { own } = await settleWithFailing(bad, () =>
      sendAsStranger(scene, encodeToyWithdraw(scene.toy.address, bad.id)),
    )
    expect(own).toEqual({ state: 'failed', reason: 'seqno_already_used' })
  })

  it('that another account executed meanwhile fails before a send', async () => {
    const bad = await scene.toy.plan()
    const { own } = await settleWithFailing(bad, () => executeAsStranger(bad))
    expect(own).toEqual({ state: 'failed', reason: 'seqno_already_used' })
    expect(await scene.toy.creditOf(bad.payTo)).toBe(10_000n)
  })

  it('that the contract reverts fails with its reason', async () => {
    const bad = await scene.toy.plan()
    const { own } = await settleWithFailing(bad, () => scene.toy.setBehaviour(bad.id, 'reverts'))
    expect(own).toEqual({ state: 'failed', reason: 'account_frozen' })
  })

  it('that burns all gas fails alone, whatever its effect on the batch simulation', async () => {
    const bad = await scene.toy.plan()
    const { own } = await settleWithFailing(bad, () => scene.toy.setBehaviour(bad.id, 'burnsGas'))
    expect(own).toMatchObject({ state: 'failed' })
  })

  it('whose payer has code is sent in a transaction of its own', async () => {
    const bad = await scene.toy.plan()
    const { own, outcomes } = await settleWithFailing(bad, () =>
      scene.chain.control.setCode(bad.payer, endlessLoop),
    )
    expect(own).toMatchObject({ state: 'confirmed' })
    expect(countTransactions(own === undefined ? outcomes : [...outcomes, own])).toBe(2)
  })

  it('that also fails when sent again is pending until the block of the batch is final', async () => {
    const sending = await open({ environment: quickFinality(scene) })
    const plans = await planMany(5)
    const [bad, ...good] = plans
    if (bad === undefined) throw new Error('There is no payment')
    await scene.chain.control.setAutomine(false)
    const settling = sending.settleTogether(plans)
    await whenInPool(scene, 1)
    await sweep(bad)
    await scene.chain.control.mine()
    expect(statesOf(await settling)).toEqual(['pending', ...good.map(() => 'confirmed')])
    expect(await closeOneBlockLater(sending, bad)).toMatchObject({
      state: 'failed',
      reason: toyReasons.reverted,
    })
  })

  it('that another account executes after the simulation is confirmed with that transaction', async () => {
    const sending = await open()
    const plans = await planMany(4)
    const [bad] = plans
    if (bad === undefined) throw new Error('There is no payment')
    const stranger = await createSigner(scene)
    await scene.chain.control.setAutomine(false)
    const settling = sending.settleTogether(plans)
    await whenInPool(scene, 1)
    // A higher tip is mined first.
    const call = encodeToySettle(scene.toy.address, bad)
    const bytes = await stranger.account.signTransaction({
      chainId: scene.chain.chainId,
      nonce: 0,
      ...call,
      gas: 200_000n,
      maxFeePerGas: 50_000_000_000n,
      maxPriorityFeePerGas: 40_000_000_000n,
    })
    const transaction = await callRpc(scene.chain.url, 'eth_sendRawTransaction', [bytes])
    await scene.chain.control.mine()
    const outcomes = await settling
    expect(statesOf(outcomes)).toEqual(plans.map(() => 'confirmed'))
    expect(outcomes[0]).toMatchObject({ transaction })
    expect(await scene.toy.creditOf(bad.payTo)).toBe(10_000n)
  })

  /** Reverted in a batch on chain; the estimate of its second attempt is in flight. */
  const holdSecondAttempt = async () => {
    const proxy = await scene.openProxy()
    const sending = await open({ url: proxy.url })
    const plans = await planMany(3)
    const [bad, ...good] = plans
    if (bad === undefined) throw new Error('There is no payment')
    await scene.chain.control.setAutomine(false)
    const settling = sending.settleTogether(plans)
    await whenInPool(scene, 1)
    await sweep(bad)
    const asked = proxy.count('eth_estimateGas')
    const release = proxy.hold('eth_estimateGas')
    await scene.chain.control.mine()
    await scene.chain.control.setAutomine(true)
    await eventually(() => (proxy.count('eth_estimateGas') > asked ? true : null))
    await scene.toy.setCredit(bad.payer, 10_000n)
    return { bad, good, settling, release }
  }

  it('that fails after the simulation is sent again alone and settles', async () => {
    const { bad, good, settling, release } = await holdSecondAttempt()
    release()
    const outcomes = await settling
    expect(statesOf(outcomes)).toEqual(['confirmed', ...good.map(() => 'confirmed')])
    expect(countTransactions(outcomes)).toBe(2)
    expect(await scene.toy.creditOf(bad.payTo)).toBe(10_000n)
  })

  it('that another account executes before its second attempt is confirmed with that transaction', async () => {
    const { bad, good, settling, release } = await holdSecondAttempt()
    await sendAsStranger(scene, encodeToySettle(scene.toy.address, bad))
    release()
    const outcomes = await settling
    expect(statesOf(outcomes)).toEqual(['confirmed', ...good.map(() => 'confirmed')])
    expect(countTransactions(outcomes)).toBe(2)
    expect(await scene.toy.creditOf(bad.payTo)).toBe(10_000n)
  })

  it('that cannot be recorded again is pending, not failed: the commit may have succeeded', async () => {
    const { good, settling, release } = await holdSecondAttempt()
    await refuseRecords()
    release()
    try {
      expect(statesOf(await settling)).toEqual(['pending', ...good.map(() => 'confirmed')])
    } finally {
      await scene.database.pool().query('drop function refuse cascade')
    }
  })

  it('that burns its gas after the simulation costs the others one additional transaction', async () => {
    const sending = await open({ environment: quickFinality(scene) })
    // The earliest deadline is first in a batch: what it burns is missing for all others.
    const bad = await scene.toy.plan({ lastSecond: BigInt(unixNow()) + 200n })
    const good = await planMany(5)
    await scene.chain.control.setAutomine(false)
    const settling = sending.settleTogether([bad, ...good])
    await whenInPool(scene, 1)
    await scene.toy.setBehaviour(bad.id, 'burnsGas')
    await scene.chain.control.mine()
    const batch = await scene.chain.client.getBlock({ includeTransactions: true })
    const [shared] = batch.transactions
    await whenInPool(scene, good.length)
    await scene.chain.control.mine()
    await scene.chain.control.setAutomine(true)
    const outcomes = await settling
    expect(statesOf(outcomes.slice(1))).toEqual(good.map(() => 'confirmed'))
    expect(outcomes[0]).toMatchObject({ state: 'pending' })
    expect(await closeOneBlockLater(sending, bad)).toMatchObject({ state: 'failed' })
    for (const { payTo } of good) expect(await scene.toy.creditOf(payTo)).toBe(10_000n)
    expect(shared?.to?.toLowerCase()).toBe(multicall3Address.toLowerCase())
  })

  it('in a batch that runs out of gas as a whole settles in its own transaction', async () => {
    const sending = await open()
    const plans = await planMany(4)
    await scene.chain.control.setAutomine(false)
    const settling = sending.settleTogether(plans)
    await whenInPool(scene, 1)
    await scene.chain.control.dropAllTransactions()
    const [recorded] = await listRecorded(scene, sending.signers)
    if (recorded === undefined) throw new Error('Nothing was recorded')
    expect(recorded.payments).toBe(4)
    await scene.chain.control.setAutomine(true)
    // Each call now costs more than the estimate of the whole batch.
    await scene.toy.setGasToBurn(450_000n)
    await callRpc(scene.chain.url, 'eth_sendRawTransaction', [recorded.bytes])
    const outcomes = await settling
    expect(statesOf(outcomes)).toEqual(plans.map(() => 'confirmed'))
    const after = await listRecorded(scene, sending.signers)
    expect(after.map(({ payments }) => payments)).toEqual([4, 1, 1, 1, 1])
    for (const { payTo } of plans) expect(await scene.toy.creditOf(payTo)).toBe(10_000n)
  })

  it('that the contract reverts after the simulation is pending, as are all others, and fails when that is final', async () => {
    const sending = await open({ environment: quickFinality(scene) })
    const plans = await planMany(3)
    await scene.chain.control.setAutomine(false)
    const settling = sending.settleTogether(plans)
    await whenInPool(scene, 1)
    for (const { id } of plans) await scene.toy.setBehaviour(id, 'reverts')
    await scene.chain.control.mine()
    expect(statesOf(await settling)).toEqual(plans.map(() => 'pending'))
    for (const { id } of plans) await scene.toy.setBehaviour(id, 'pays')
    for (const plan of plans) {
      expect(await closeOneBlockLater(sending, plan)).toMatchObject({
        state: 'failed',
        reason: toyReasons.reverted,
      })
      await scene.chain.control.setAutomine(true)
      expect(await sending.settle(plan)).toMatchObject({ state: 'confirmed' })
    }
  })

  it('that succeeds on chain without effect is retried alone and is not confirmed', async () => {
    const sending = await open({ environment: quickFinality(scene) })
    const plans = await planMany(3)
    const [bad, ...good] = plans
    if (bad === undefined) throw new Error('There is no payment')
    await scene.toy.setBehaviour(bad.id, 'doesNothing')
    const outcomes = await sending.settleTogether(plans)
    expect(statesOf(outcomes)).toEqual(['pending', ...good.map(() => 'confirmed')])
    expect(await closeOneBlockLater(sending, bad)).toMatchObject({
      state: 'failed',
      reason: 'transfer_event_mismatch',
    })
    expect((await listRecorded(scene, sending.signers)).map(({ payments }) => payments)).toEqual([3, 1])
  })

  it('of zero is confirmed by its event', async () => {
    const sending = await open()
    const free = await scene.toy.plan({ value: 0n })
    const outcomes = await sending.settleTogether([free, ...(await planMany(3))])
    expect(statesOf(outcomes)).toEqual(Array(4).fill('confirmed'))
    expect(countTransactions(outcomes)).toBe(1)
    expect(await sending.settle(await scene.toy.plan({ value: 0n }))).toMatchObject({ state: 'confirmed' })
  })
})

describe('two payments of one payer', () => {
  it('with credit for one: one is confirmed and the other fails', async () => {
    const sending = await open()
    const payer = newAddress()
    const [one, other] = [await scene.toy.plan({ payer }), await scene.toy.plan({ payer, credit: 10_000n })]
    const good = await planMany(3)
    const outcomes = await sending.settleTogether([one, other, ...good])
    expect(statesOf(outcomes).slice(0, 2).sort()).toEqual(['confirmed', 'insufficient_balance'])
    expect(statesOf(outcomes.slice(2))).toEqual(good.map(() => 'confirmed'))
    const sums = [await scene.toy.creditOf(one.payTo), await scene.toy.creditOf(other.payTo)]
    expect(sums.sort()).toEqual([0n, 10_000n])
  })

  it('of equal terms, of which one fails on chain: only the other is confirmed', async () => {
    const sending = await open({ environment: quickFinality(scene) })
    const [payer, payTo] = [newAddress(), newAddress()]
    const plans = [
      await scene.toy.plan({ payer, payTo }),
      await scene.toy.plan({ payer, payTo, credit: 20_000n }),
      await scene.toy.plan(),
    ]
    await scene.chain.control.setAutomine(false)
    const settling = sending.settleTogether(plans)
    await whenInPool(scene, 1)
    await scene.toy.setCredit(payer, 10_000n)
    await scene.chain.control.mine()
    const outcomes = await settling
    expect(statesOf(outcomes).slice(0, 2).sort()).toEqual(['confirmed', 'pending'])
    const failing = plans[outcomes.findIndex(({ state }) => state === 'pending')]
    if (failing === undefined) throw new Error('None is pending')
    expect(await closeOneBlockLater(sending, failing)).toMatchObject({
      state: 'failed',
      reason: toyReasons.reverted,
    })
    expect(await scene.toy.creditOf(payTo)).toBe(10_000n)
  })

  it('with credit for both share a transaction', async () => {
    const sending = await open()
    const [payer, payTo] = [newAddress(), newAddress()]
    const plans = [
      await scene.toy.plan({ payer, payTo }),
      await scene.toy.plan({ payer, payTo, credit: 20_000n }),
    ]
    const outcomes = await sending.settleTogether(plans)
    expect(statesOf(outcomes)).toEqual(['confirmed', 'confirmed'])
    expect(countTransactions(outcomes)).toBe(1)
    expect(await scene.toy.creditOf(payTo)).toBe(20_000n)
  })
})

describe('a deadline', () => {
  it('within the margin is refused immediately, before a slot is free; a later one settles', async () => {
    const sending = await open()
    const now = BigInt(unixNow())
    // The margin is six seconds, and the toy's deadline is inclusive.
    const [late, timely] = [
      await scene.toy.plan({ lastSecond: now + 5n }),
      await scene.toy.plan({ lastSecond: now + 600n }),
    ]
    sending.shut()
    expect(await rejectionOf(sending.settle(late))).toMatchObject({ operationalCode: 'SVC-3002' })
    sending.open()
    expect(await sending.settle(timely)).toMatchObject({ state: 'confirmed' })
    expect(await listRecorded(scene, sending.signers)).toHaveLength(1)
  })
})

describe('what cannot be batched is sent alone', () => {
  it.each<[string, (sending: ToySending) => Partial<ToyPlan>]>([
    ['a call that is not batchable', () => ({ call: { batchedBy: null } })],
    ['a call that names its sender', ({ signers }) => ({ sender: signers[0]?.address ?? null })],
    ['a call with a probe', () => ({ call: { probe: { to: scene.toy.address, data: '0x' } } })],
  ])('%s', async (_what, changes) => {
    const sending = await open({ signers: [await createSigner(scene), await createSigner(scene)] })
    const special = await scene.toy.plan(changes(sending))
    const good = await planMany(4)
    const outcomes = await sending.settleTogether([special, ...good])
    expect(statesOf(outcomes)).toEqual(['confirmed', ...good.map(() => 'confirmed')])
    const recorded = await listRecorded(scene, sending.signers)
    expect(recorded.map(({ payments }) => payments).sort()).toEqual([1, 4])
    expect(recorded.filter(({ bytes }) => isSharedByAny(bytes)).map(({ payments }) => payments)).toEqual([4])
  })

  it('is sent by the account that it names, even when another has more capacity', async () => {
    const signers = [await createSigner(scene), await createSigner(scene), await createSigner(scene)]
    const sending = await open({ signers })
    for (const { address } of signers) {
      for (let round = 0; round < 2; round++) {
        const outcome = await sending.settle(await scene.toy.plan({ sender: address }))
        if (outcome.state !== 'confirmed') throw new Error('It did not settle')
        const hash = `0x${outcome.transaction.slice(2)}` as const
        const { from } = await scene.chain.client.getTransaction({ hash })
        expect(from.toLowerCase()).toBe(address.toLowerCase())
      }
    }
  })

  it('applies to all calls on a chain without Multicall3', async () => {
    const code = await scene.chain.client.getCode({ address: multicall3Address })
    await scene.chain.control.setCode(multicall3Address, '0x')
    try {
      const sending = await open()
      const plans = await planMany(4)
      const outcomes = await sending.settleTogether(plans)
      expect(statesOf(outcomes)).toEqual(plans.map(() => 'confirmed'))
      expect((await listRecorded(scene, sending.signers)).map(({ payments }) => payments)).toEqual([
        1, 1, 1, 1,
      ])
    } finally {
      await scene.chain.control.setCode(multicall3Address, code ?? '0x')
    }
  })
})

describe('calls of many parts', () => {
  const partitioned = (parts = 1): Partial<ToyPlan> => ({ call: { parts } })
  const limitOf = (bytes: string): bigint => parseTransaction(`0x${bytes.slice(2)}`).gas ?? 0n

  it('share a transaction with each other, and none with payments, whose gas they do not raise', async () => {
    const sending = await open()
    await scene.toy.setGasToBurn(400_000n)
    const large = await planMany(3, partitioned(50))
    expect(statesOf(await sending.settleTogether(large))).toEqual(large.map(() => 'confirmed'))
    await scene.toy.setGasToBurn(0n)
    const outcomes = await sending.settleTogether([
      ...(await planMany(4)),
      ...(await planMany(3, partitioned())),
    ])
    expect(statesOf(outcomes)).toEqual(outcomes.map(() => 'confirmed'))
    const recorded = await listRecorded(scene, sending.signers)
    const shapes = recorded.map(({ payments, bytes }) => ({ payments, isLarge: limitOf(bytes) > 1_000_000n }))
    expect(shapes.toSorted((left, right) => left.payments - right.payments)).toEqual([
      { payments: 3, isLarge: true },
      { payments: 3, isLarge: false },
      { payments: 4, isLarge: false },
    ])
  })

  it('leave out one that fails, which is refused with its own reason', async () => {
    const sending = await open()
    const [first, swept, last] = await planMany(3, partitioned())
    if (first === undefined || swept === undefined || last === undefined) throw new Error('Plans are missing')
    await sweep(swept)
    const outcomes = await sending.settleTogether([first, swept, last])
    expect(statesOf(outcomes)).toEqual(['confirmed', 'insufficient_balance', 'confirmed'])
    expect((await listRecorded(scene, sending.signers)).map(({ payments }) => payments)).toEqual([2])
  })

  it('use the budgets of their callers by their parts', async () => {
    await scene.chain.control.setNextBaseFee(1_000_000_000n)
    await scene.chain.control.mine()
    const sending = await open({
      environment: { [`EVM_GAS_BUDGET_GWEI_PER_HOUR_${scene.chain.chainId}`]: '1000000' },
    })
    const [large] = await planMany(1, partitioned(99))
    const [small] = await planMany(1, partitioned(1))
    if (large === undefined || small === undefined) throw new Error('Plans are missing')
    sending.shut()
    const refused = rejectionOf(sending.settle(large, { caller: 'large' }))
    const settling = sending.settle(small, { caller: 'small' })
    await sending.whenWaiting(2)
    sending.open()
    expect(await settling).toMatchObject({ state: 'confirmed' })
    expect(await refused).toMatchObject({ operationalCode: 'SVC-3002' })
  })
})

describe('gas', () => {
  it('above eight million is split over several transactions', async () => {
    await scene.toy.setGasToBurn(250_000n)
    const sending = await open()
    const plans = await planMany(40)
    const outcomes = await sending.settleTogether(plans)
    expect(statesOf(outcomes)).toEqual(plans.map(() => 'confirmed'))
    const recorded = await listRecorded(scene, sending.signers)
    expect(recorded.length).toBeGreaterThan(1)
    expect(recorded.length).toBeLessThan(8)
    expect(recorded.reduce((sum, { payments }) => sum + payments, 0)).toBe(40)
    for (const { bytes } of recorded) {
      expect(parseTransaction(`0x${bytes.slice(2)}`).gas).toBeLessThanOrEqual(8_000_000n)
    }
  })

  it('above the hourly budget is not spent: no payment settles and none fails', async () => {
    const sending = await open({
      environment: { [`EVM_GAS_BUDGET_GWEI_PER_HOUR_${scene.chain.chainId}`]: '1' },
    })
    const plans = await planMany(3)
    await expect(sending.settleTogether(plans)).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' })
    expect(await listRecorded(scene, sending.signers)).toEqual([])
  })

  it('that was promised to each payment settles them alone, where the share of a batch would be more', async () => {
    await scene.chain.control.setNextBaseFee(1_000_000_000n)
    await scene.chain.control.mine()
    const sending = await open({
      environment: { [`EVM_GAS_BUDGET_GWEI_PER_HOUR_${scene.chain.chainId}`]: '4000000' },
    })
    // From then on, each call of a batch is allowed as much.
    await scene.toy.setGasToBurn(300_000n)
    expect(await sending.settle(await scene.toy.plan(), { caller: 'another' })).toMatchObject({
      state: 'confirmed',
    })
    await scene.toy.setGasToBurn(0n)
    await expect(sending.settleTogether(await planMany(6), { caller: 'shop' })).rejects.toMatchObject({
      operationalCode: 'SVC-3002',
    })
    const promised = await planMany(6)
    const outcomes = await sending.settleTogether(promised, { caller: 'shop', isPromised: true })
    expect(statesOf(outcomes)).toEqual(promised.map(() => 'confirmed'))
    for (const { payTo } of promised) expect(await scene.toy.creditOf(payTo)).toBe(10_000n)
  })

  it.each([
    ['what the node estimates', -5n],
    // The node would reject the transaction although the estimate passed.
    ['what the transaction may use at most', 5n],
  ])('that the account cannot pay, at %s, is split into smaller transactions', async (_what, percent) => {
    const rich = await open()
    await rich.settleTogether(await planMany(30))
    const [whole] = (await listRecorded(scene, rich.signers)).map(({ bytes }) =>
      parseTransaction(`0x${bytes.slice(2)}`),
    )
    // The limit is the estimate plus 10 % and a reserve.
    const estimate = (((whole?.gas ?? 0n) - 115_000n) * 10n) / 11n

    const poor = await createSigner(scene)
    const sending = await open({ signers: [poor] })
    const { baseFeePerGas } = await scene.chain.client.getBlock()
    const tip = BigInt(String(await callRpc(scene.chain.url, 'eth_maxPriorityFeePerGas')))
    const price = (baseFeePerGas ?? 0n) * 2n + tip
    await scene.chain.fundGas(poor.address, ((estimate * (100n + percent)) / 100n) * price)
    const outcomes = sending.settleTogether(await planMany(30))
    await eventually(async () => ((await listRecorded(scene, [poor])).length === 2 ? true : null))
    expect((await listRecorded(scene, [poor])).map(({ payments }) => payments)).toEqual([15, 15])
    await scene.chain.fundGas(poor.address)
    // A batch refused for lack of funds is sent again.
    await sending.maintenance.check()
    await sending.maintenance.check()
    expect(new Set(statesOf(await outcomes))).toEqual(new Set(['confirmed']))
  })
})

describe('the record of a batch', () => {
  it('is committed for every payment before the send, in one transaction', async () => {
    const proxy = await scene.openProxy()
    const sending = await open({ url: proxy.url })
    const plans = await planMany(6)
    proxy.setFault('eth_sendRawTransaction', { kind: 'hang' })
    sending.shut()
    const stop = new AbortController()
    const settling = Promise.all(plans.map((plan) => sending.settle(plan, { waitUntil: stop.signal })))
    await sending.whenWaiting(6)
    sending.open()
    await eventually(() => (proxy.count('eth_sendRawTransaction') > 0 ? true : null))
    const { rows } = await scene.database.pool().query(
      `select s.state, s.xmin::text as written, b.xmin::text as stored from settlements s
       join broadcasts b on b.transaction = ${newestTransaction('s')} where s.payer = any($1)`,
      [plans.map(({ payer }) => payer)],
    )
    expect(rows).toHaveLength(6)
    expect(new Set(rows.map(({ state }) => state))).toEqual(new Set(['pending']))
    expect(new Set(rows.flatMap(({ written, stored }) => [written, stored])).size).toBe(1)
    stop.abort()
    proxy.clearFaults()
    await settling
  })

  it('that no node received is closed by the reconciler, payment by payment', async () => {
    const proxy = await scene.openProxy()
    const sending = await open({ url: proxy.url })
    const plans = await planMany(5)
    proxy.setFault('eth_sendRawTransaction', { kind: 'refuse' })
    sending.shut()
    const ids: string[] = []
    const stop = new AbortController()
    const settling = plans.map((plan) =>
      sending.settle(plan, { waitUntil: stop.signal, onClaim: (id) => ids.push(id) }),
    )
    await sending.whenWaiting(5)
    sending.open()
    await eventually(() => (proxy.count('eth_sendRawTransaction') > 0 ? true : null))
    stop.abort()
    expect(statesOf(await Promise.all(settling))).toEqual(plans.map(() => 'pending'))
    for (const { payTo } of plans) expect(await scene.toy.creditOf(payTo)).toBe(0n)

    // Another process, with only the journal.
    const next = await open()
    for (const _round of [1, 2]) {
      for (const id of ids) {
        const settlement = await next.journal.find(id)
        if (settlement?.state !== 'pending') continue
        const outcome = await next.resolve(id)
        if (outcome.state !== 'pending') await next.journal.close(id, outcome)
      }
      await scene.chain.control.waitForAutomine()
    }
    for (const [index, id] of ids.entries()) {
      expect(await next.journal.find(id)).toMatchObject({ state: 'confirmed' })
      expect(await scene.toy.creditOf(plans[index]?.payTo ?? '0x')).toBe(10_000n)
    }
  })

  it('omits a payment that another instance took over, and the others settle', async () => {
    const sending = await open()
    const plans = await planMany(5)
    sending.shut()
    const ids: string[] = []
    const settling = plans.map((plan) => sending.settle(plan, { onClaim: (id) => ids.push(id) }))
    await sending.whenWaiting(5)
    const other = await open()
    const taken = ids[2] ?? ''
    await killInstance(scene.database.pool(), sending.instance)
    expect(await other.journal.abandon(taken)).toBe(true)
    await reviveInstance(scene.database.pool(), sending.instance)
    sending.open()
    const settled = await Promise.allSettled(settling)
    const lost = plans.findIndex((_, index) => settled[index]?.status === 'rejected')
    expect(settled.filter(({ status }) => status === 'rejected')).toHaveLength(1)
    expect(
      (await listRecorded(scene, sending.signers)).map(({ payments, nonce }) => [nonce, payments]),
    ).toEqual([[0, 4]])
    for (const [index, { payTo }] of plans.entries()) {
      expect(await scene.toy.creditOf(payTo)).toBe(index === lost ? 0n : 10_000n)
    }
    expect(await sending.journal.find(taken)).toMatchObject({ state: 'failed', broadcasts: [] })
  })

  it('whose commit fails sends nothing and fails no payment permanently', async () => {
    const proxy = await scene.openProxy()
    const sending = await open({ url: proxy.url })
    const plans = await planMany(4)
    await refuseRecords()
    try {
      sending.shut()
      const settling = Promise.allSettled(plans.map((plan) => sending.settle(plan)))
      await sending.whenWaiting(4)
      sending.open()
      expect((await settling).map(({ status }) => status)).toEqual(plans.map(() => 'rejected'))
    } finally {
      await scene.database.pool().query('drop function refuse cascade')
    }
    expect(proxy.count('eth_sendRawTransaction')).toBe(0)
    expect(await listRecorded(scene, sending.signers)).toEqual([])
    await scene.database
      .pool()
      .query(
        "update settlements set state = 'failed', reason = 'settlement_abandoned', closed_at = now() where state = 'claimed'",
      )
    expect(statesOf(await sending.settleTogether(plans))).toEqual(plans.map(() => 'confirmed'))
    expect((await listRecorded(scene, sending.signers)).map(({ nonce }) => nonce)).toEqual([0])
  })
})
