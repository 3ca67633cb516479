import { describe, expect, it } from 'vitest'
import { createAccountStore } from '../../../../src/stores/postgres/accounts/accountStore.js'
import { createHeldPayments } from '../../../../src/stores/postgres/heldPayments/heldPayments.js'
import { createPatience } from '../../../support/core.js'
import type { Hold } from '../../../support/evm/holds.js'
import { createEoa } from '../../../support/evm/wallets.js'
import { pollUntil } from '../../../support/pollUntil.js'
import { useScene } from '../../../support/useScene.js'
import { openScene, quickFinality } from '../scene.js'
import { actUntil, createMerchants, dueMs } from './merchants.js'

/* Holds that are captured or voided before their deadline because their account asked for it. */

const scene = useScene(() => openScene({ hasAuthCapture: true }))
const agent = createEoa()
const { openMerchant, openRegistered: open, asMerchant } = createMerchants(() => scene, agent)

const readChoice = async ({ hash }: Hold) => {
  const { rows } = await scene.database
    .pool()
    .query('select at_deadline, acting_since from held_payments where hash = $1', [hash.toLowerCase()])
  return rows[0]
}

const readFailures = async ({ hash }: Hold): Promise<number> => {
  const { rows } = await scene.database
    .pool()
    .query('select action_failures from held_payments where hash = $1', [hash.toLowerCase()])
  return rows[0].action_failures
}

describe('a hold near its deadline', () => {
  it('is captured by default where its account has stated so before it was held', async () => {
    const merchant = await open()
    const earlier = await merchant.open()
    await merchant.setDefault('capture')
    const hold = await merchant.open()
    expect(await merchant.read(hold)).toMatchObject({ atDeadline: 'capture' })
    await merchant.act()
    expect(await merchant.read(hold)).toMatchObject({ status: 'held' })
    merchant.clock.shift(dueMs)
    await actUntil(merchant, hold, 'captured')
    const { settlements } = await merchant.read(hold)
    expect(settlements.map(({ type, automatic }) => [type, automatic])).toEqual([
      ['hold', false],
      ['capture', true],
    ])
    expect(await scene.chain.balanceOf(hold.payTo)).toBe(10_000n)
    const [event] = (await merchant.readHoldEvents()).filter(({ type }) => type === 'hold.captured')
    expect(event?.data).toMatchObject({ automatic: true, atDeadline: 'capture' })
    expect(await merchant.read(earlier)).toMatchObject({ status: 'held', atDeadline: 'nothing' })
    // The holds of these tests are settled without a quota; the capture counts.
    const { rows } = await scene.database
      .pool()
      .query('select sum(used)::int as used from quota_uses where account_id = $1', [merchant.account])
    expect(rows).toEqual([{ used: 1 }])
  })

  it('is voided where its account asks for that', async () => {
    const merchant = await open()
    const hold = await merchant.open()
    await merchant.capture(hold, 4_000n)
    await merchant.setAtDeadline(hold, 'void')
    merchant.clock.shift(dueMs)
    await actUntil(merchant, hold, 'voided')
    expect(await scene.chain.balanceOf(hold.payer)).toBe(6_000n)
    const [event] = (await merchant.readHoldEvents()).filter(({ type }) => type === 'hold.voided')
    expect(event?.data).toMatchObject({ automatic: true })
    const { settlements } = await merchant.read(hold)
    expect(settlements.map(({ type, automatic }) => [type, automatic])).toEqual([
      ['hold', false],
      ['capture', false],
      ['void', true],
    ])
  })

  it('is left alone where a request captured it, or the account is gone', async () => {
    const merchant = await open()
    const [captured, kept] = [await merchant.open(), await merchant.open()]
    await merchant.setAtDeadline(captured, 'capture')
    await merchant.setAtDeadline(kept, 'capture')
    await merchant.capture(captured, 10_000n)
    await createAccountStore(scene.database.pool()).revoke(merchant.account)
    merchant.clock.shift(dueMs)
    await merchant.act()
    await merchant.act()
    const [event] = (await merchant.readHoldEvents()).filter(({ type }) => type === 'hold.captured')
    expect(event?.data).toMatchObject({ automatic: false })
    expect(await merchant.read(kept)).toMatchObject({ status: 'held' })
    expect(await readChoice(kept)).toMatchObject({ acting_since: null })
  })
})

describe('what is done at a deadline', () => {
  it('is stated by the account of the hold only, as often as it likes, until nothing is held', async () => {
    const merchant = await open()
    const rival = asMerchant(merchant.service)
    const hold = await merchant.open()
    await expect(rival.setAtDeadline(hold, 'void')).rejects.toMatchObject({ code: 'NOT_FOUND' })
    await rival.setDefault('void')
    expect(await merchant.setAtDeadline(hold, 'capture')).toMatchObject({ atDeadline: 'capture' })
    expect(await merchant.setAtDeadline(hold, 'capture')).toMatchObject({ atDeadline: 'capture' })
    expect(await merchant.setAtDeadline(hold, 'nothing')).toMatchObject({ atDeadline: 'nothing' })
    merchant.clock.shift(dueMs)
    await merchant.act()
    expect(await merchant.read(hold)).toMatchObject({ status: 'held' })
    await merchant.capture(hold, 10_000n)
    await expect(merchant.setAtDeadline(hold, 'capture')).rejects.toMatchObject({ code: 'INVALID_REQUEST' })
  })

  it('is not done where the account changes its mind before it is recorded', async () => {
    const proxy = await scene.openProxy()
    const merchant = await open({ rpcUrls: [proxy.url] })
    const elsewhere = asMerchant((await openMerchant()).service, merchant.account)
    const hold = await merchant.open()
    await merchant.setAtDeadline(hold, 'capture')
    merchant.clock.shift(dueMs)
    const before = proxy.count('eth_call')
    const release = proxy.hold('eth_call')
    const acting = merchant.act()
    await pollUntil(async () => proxy.count('eth_call') > before, 'the job to look at the hold')
    await elsewhere.setAtDeadline(hold, 'nothing').finally(release)
    await acting
    await merchant.act()
    expect(await merchant.read(hold)).toMatchObject({ status: 'held', capturableAmount: '10000' })
  })

  it('cannot be changed once it is recorded', async () => {
    const proxy = await scene.openProxy()
    const merchant = await open({ rpcUrls: [proxy.url] })
    const elsewhere = asMerchant((await openMerchant()).service, merchant.account)
    const hold = await merchant.open()
    await merchant.setAtDeadline(hold, 'capture')
    merchant.clock.shift(dueMs)
    const before = proxy.count('eth_sendRawTransaction')
    const release = proxy.hold('eth_sendRawTransaction')
    const acting = merchant.act()
    await pollUntil(async () => proxy.count('eth_sendRawTransaction') > before, 'the capture to be sent')
    await expect(elsewhere.setAtDeadline(hold, 'nothing').finally(release)).rejects.toMatchObject({
      code: 'REQUEST_IN_PROGRESS',
    })
    await acting
    await actUntil(merchant, hold, 'captured')
  })
})

describe('a capture at the deadline that fails', () => {
  /** Longer than the pause after a failure: an eighth of what is left. */
  const pauseMs = 230_000
  const openFailing = async () => {
    const merchant = await open()
    const hold = await merchant.open()
    await merchant.setAtDeadline(hold, 'capture')
    merchant.clock.shift(dueMs)
    await scene.chain.setBlacklisted(hold.payTo, true)
    /** Rounds until so many actions in a row have failed. */
    const failUntil = async (failures: number) => {
      if (failures > 1) merchant.clock.shift(pauseMs)
      await pollUntil(
        async () => {
          await merchant.act()
          return (await readFailures(hold)) === failures
        },
        `${failures} failures`,
        () => readFailures(hold),
      )
    }
    const listFailed = async () =>
      (await merchant.readHoldEvents()).filter(({ type }) => type === 'hold.deadline_action_failed')
    return { merchant, hold, failUntil, listFailed }
  }

  it('is announced to its account once, when it fails for the second time in a row, and made later', async () => {
    const { merchant, hold, failUntil, listFailed } = await openFailing()
    await failUntil(1)
    expect(await listFailed()).toEqual([])
    await failUntil(2)
    const [event, ...others] = await listFailed()
    expect(event?.data).toMatchObject({
      paymentInfoHash: hold.hash.toLowerCase(),
      status: 'held',
      atDeadline: 'capture',
      errorReason: expect.stringContaining('auth_capture'),
      errorMessage: expect.stringContaining('escrow'),
    })
    expect(others).toEqual([])
    await failUntil(3)
    expect(await listFailed()).toHaveLength(1)
    await scene.chain.setBlacklisted(hold.payTo, false)
    merchant.clock.shift(pauseMs)
    await actUntil(merchant, hold, 'captured')
    expect(await readFailures(hold)).toBe(0)
    expect(await listFailed()).toHaveLength(1)
  })

  it('counts from the start once its account asks for something else', async () => {
    const { merchant, hold, failUntil, listFailed } = await openFailing()
    await failUntil(1)
    await merchant.setAtDeadline(hold, 'void')
    expect(await readFailures(hold)).toBe(0)
    // A void is not refused by the token, and ends the row of failures.
    await actUntil(merchant, hold, 'voided')
    expect(await readFailures(hold)).toBe(0)
    expect(await listFailed()).toEqual([])
  })
})

describe('a capture at the deadline beside others', () => {
  it('takes what a request of the account leaves, and nothing twice', async () => {
    const merchant = await open()
    const hold = await merchant.open()
    await merchant.setAtDeadline(hold, 'capture')
    merchant.clock.shift(dueMs)
    const manual = merchant.capture(hold, 4_000n)
    await Promise.allSettled([manual, merchant.act()])
    await actUntil(merchant, hold, 'captured')
    expect(await scene.chain.balanceOf(hold.payTo)).toBe(10_000n)
  })

  it('leaves the rest to the void that a request asked for', async () => {
    const merchant = await open()
    const hold = await merchant.open()
    await merchant.setAtDeadline(hold, 'capture')
    merchant.clock.shift(dueMs)
    await merchant.capture(hold, 4_000n, undefined, true)
    await merchant.act()
    expect(await merchant.read(hold)).toMatchObject({ status: 'voided', capturedAmount: '4000' })
  })

  it('is made once by two instances', async () => {
    const merchant = await open()
    const hold = await merchant.open()
    await merchant.setAtDeadline(hold, 'capture')
    const other = await openMerchant({ clock: merchant.clock, signers: merchant.service.signers })
    merchant.clock.shift(dueMs)
    await Promise.all([merchant.act(), other.act(), merchant.act(), other.act()])
    await actUntil(merchant, hold, 'captured')
    const { settlements } = await merchant.read(hold)
    expect(settlements.map(({ type }) => type)).toEqual(['hold', 'capture'])
    expect(await scene.countTransfersTo(hold.payTo)).toBe(1)
  })
})

describe('a process that dies', () => {
  /** Its node has stopped to answer these calls when the job acts. */
  const actWithout = async (methods: readonly string[]) => {
    const proxy = await scene.openProxy()
    const environment = { SETTLE_WAIT_SECONDS: '4', ...quickFinality(scene) }
    const { startSettleWait, end } = createPatience()
    const merchant = await open({ rpcUrls: [proxy.url], environment, startSettleWait })
    const hold = await merchant.open()
    end()
    await merchant.setAtDeadline(hold, 'capture')
    merchant.clock.shift(dueMs)
    for (const method of methods) proxy.setFault(method, { kind: 'hang' })
    await merchant.act()
    return { proxy, merchant, hold }
  }
  const openHeir = async ({ clock, service: { signers }, account }: Awaited<ReturnType<typeof open>>) => {
    const { service } = await openMerchant({ clock, signers, environment: quickFinality(scene) })
    return { ...asMerchant(service, account), clock }
  }
  const expectOneCapture = async (heir: ReturnType<typeof asMerchant>, hold: Hold) => {
    expect((await heir.read(hold)).settlements.map(({ type }) => type)).toEqual(['hold', 'capture'])
    expect(await scene.chain.balanceOf(hold.payTo)).toBe(10_000n)
    expect(await scene.countTransfersTo(hold.payTo)).toBe(1)
  }

  it('between the recording and the sending leaves one capture to the next one', async () => {
    const { proxy, merchant, hold } = await actWithout(['eth_sendRawTransaction'])
    await pollUntil(
      async () => (await merchant.read(hold)).settlements.some(({ automatic }) => automatic),
      'the capture to be recorded',
      () => merchant.read(hold),
    )
    proxy.clearFaults()
    const heir = await openHeir(merchant)
    await actUntil(heir, hold, 'captured')
    await expectOneCapture(heir, hold)
  })

  it('between the sending and the receipt leaves what was made to the next one', async () => {
    const { merchant, hold } = await actWithout(['eth_getTransactionReceipt', 'eth_getBlockReceipts'])
    await pollUntil(async () => (await scene.countTransfersTo(hold.payTo)) === 1, 'the capture to be mined')
    const heir = await openHeir(merchant)
    await heir.act()
    await actUntil(heir, hold, 'captured')
    await pollUntil(
      async () => {
        await heir.service.reconcile()
        const { settlements } = await heir.read(hold)
        return settlements.every(({ status }) => status === 'confirmed')
      },
      'the capture to be confirmed',
      () => heir.read(hold),
    )
    await expectOneCapture(heir, hold)
  })

  it('before the recording leaves the hold to the next round', async () => {
    const merchant = await open()
    const hold = await merchant.open()
    await merchant.setAtDeadline(hold, 'capture')
    const store = createHeldPayments(scene.database.pool())
    const { rows } = await scene.database
      .pool()
      .query('select id from held_payments where hash = $1', [hold.hash.toLowerCase()])
    expect(await store.beginAction(rows[0].id, 'void')).toBe(false)
    expect(await store.beginAction(rows[0].id, 'capture')).toBe(true)
    await expect(merchant.setAtDeadline(hold, 'nothing')).rejects.toMatchObject({
      code: 'REQUEST_IN_PROGRESS',
    })
    merchant.clock.shift(dueMs)
    await actUntil(merchant, hold, 'captured')
  })
})

describe('a capture at the deadline whose block is orphaned', () => {
  it('is made again, once', async () => {
    const merchant = await open()
    const hold = await merchant.open()
    await scene.chain.control.mine()
    await merchant.setAtDeadline(hold, 'capture')
    merchant.clock.shift(dueMs)
    await actUntil(merchant, hold, 'captured')
    await scene.chain.control.reorg(1)
    const stopped = new AbortController().signal
    await pollUntil(
      async () => {
        await merchant.service.core.detectReorgs(stopped)
        await merchant.service.reconcile()
        await scene.chain.control.mine()
        merchant.clock.shift(1_000)
        await merchant.act()
        return (
          (await merchant.read(hold)).status === 'captured' &&
          (await scene.chain.balanceOf(hold.payTo)) === 10_000n
        )
      },
      'the capture to be back',
      () => merchant.read(hold),
    )
    expect((await merchant.read(hold)).settlements.map(({ type }) => type)).toEqual(['hold', 'capture'])
  })
})

describe('holds whose deadlines are due', () => {
  it('are leased of each account in turn, once, and a large account begins earlier', async () => {
    const pool = scene.database.pool()
    const store = createHeldPayments(pool)
    const now = new Date('2030-01-01T00:00:00Z')
    const insert = (network: string, account: string, { count = 1, inMinutes = 100 } = {}) =>
      pool.query(
        `insert into held_payments (network, hash, account_id, authorization_id, payer, pay_to, asset, amount,
           capture_deadline, refund_deadline, terms, status, at_deadline, created_at)
         select $1, $2 || n, $2, 'x', 'x', 'x', 'x', 1, $3::timestamptz + $5 * interval '1 minute', $3, '{}', 'held', 'capture',
           $3::timestamptz - interval '30 days'
         from generate_series(1, $4::int) n`,
        [network, account, now, count, inMinutes],
      )
    const network = 'eip155:999998'
    await insert(network, 'large', { count: 10_000, inMinutes: 200 })
    await insert(network, 'small')
    await insert(network, 'early', { inMinutes: 200 })
    await insert('eip155:999997', 'other')
    try {
      const terms = { now, leadMs: 120 * 60_000, queueMs: 1_000 }
      expect([...(await store.listDeadlineNetworks(terms))].sort()).toEqual(['eip155:999997', network])
      const lease = (limit: number) =>
        store.leaseDeadlines({
          ...terms,
          network,
          limit,
          atOnce: 10_000,
          leasedUntil: new Date(now.getTime() + 60_000),
        })
      const accountsOf = async (limit: number) =>
        (await lease(limit)).map(({ accountId }) => accountId).sort()
      // Those of `large` that have 4,800 before them are 80 minutes early; `early` has none before it.
      expect(await accountsOf(2)).toEqual(['large', 'small'])
      expect(new Set(await accountsOf(10_000))).toEqual(new Set(['large']))
      expect(await lease(10_000)).toEqual([])
    } finally {
      await pool.query('delete from held_payments where network like $1', ['eip155:99999%'])
    }
  })
})
