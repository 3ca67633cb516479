import { describe, expect, it } from 'vitest'
import { newestTransaction } from '../../../../src/stores/postgres/journal/settlementStates.js'
import { createPatience } from '../../../support/core.js'
import { unixNow } from '../../../support/evm/authorization.js'
import type { Hold } from '../../../support/evm/holds.js'
import { createEoa } from '../../../support/evm/wallets.js'
import { pollUntil } from '../../../support/pollUntil.js'
import { shiftedClock } from '../../../support/shiftedClock.js'
import { useScene } from '../../../support/useScene.js'
import { openScene, quickFinality } from '../scene.js'
import { actUntil, createMerchants, dueMs } from './merchants.js'

/* What accounts, instances and mishaps do to each other around the job that acts before deadlines. */

const scene = useScene(() => openScene({ hasAuthCapture: true }))
const agent = createEoa()
const { openMerchant, openRegistered: open, asMerchant } = createMerchants(() => scene, agent)

/** When the job may look at the hold again. */
const readActAt = async ({ hash }: Hold): Promise<number> => {
  const { rows } = await scene.database
    .pool()
    .query('select act_at from held_payments where hash = $1', [hash.toLowerCase()])
  return rows[0].act_at?.getTime() ?? 0
}

/** Only simulations name a sender. */
const isSimulation = ([call]: readonly unknown[]): boolean =>
  typeof call === 'object' && call !== null && 'from' in call

const gasBudget = (gwei: string) => ({ [`EVM_GAS_BUDGET_GWEI_PER_HOUR_${scene.chain.chainId}`]: gwei })
const urgentGas = (gwei: string) => ({ [`EVM_URGENT_GAS_GWEI_PER_HOUR_${scene.chain.chainId}`]: gwei })

describe('an account that changes its mind while the job acts', () => {
  it('has done what it was told last, although another instance acts on what it asked for before', async () => {
    const [slow, stalled] = [await scene.openProxy(), await scene.openProxy()]
    const merchant = await open({ rpcUrls: [slow.url] })
    const { signers } = merchant.service
    const options = { clock: merchant.clock, signers, rpcUrls: [stalled.url] }
    const other = await openMerchant(options, merchant.account)
    const elsewhere = asMerchant((await openMerchant()).service, merchant.account)
    const hold = await merchant.open()
    await merchant.setAtDeadline(hold, 'capture')
    merchant.clock.shift(dueMs)
    const read = slow.count('eth_call')
    const releaseRead = slow.hold('eth_call')
    const capturing = merchant.act()
    await pollUntil(() => slow.count('eth_call') > read, 'the first instance to look at the hold')
    await elsewhere.setAtDeadline(hold, 'void')
    const releaseVoid = stalled.hold('eth_call', isSimulation)
    const voiding = other.act()
    await pollUntil(
      () => stalled.calls.some(({ method, params }) => method === 'eth_call' && isSimulation(params)),
      'the void to be simulated',
    )
    releaseRead()
    await capturing
    await pollUntil(
      async () => (await readActAt(hold)) > merchant.clock.now().getTime() + 150_000,
      'the first instance to end its attempt',
    )
    await elsewhere.setAtDeadline(hold, 'capture').finally(releaseVoid)
    await voiding
    await actUntil(merchant, hold, 'captured')
    expect(await scene.chain.balanceOf(hold.payer)).toBe(0n)
  })

  it('can do so where the key that the hold names is not configured any more', async () => {
    const merchant = await open()
    const hold = await merchant.open()
    await merchant.setAtDeadline(hold, 'capture')
    const environment = { EVM_HOLD_AUTHORIZER_KEY: createEoa().privateKey }
    const keyless = await openMerchant({ clock: merchant.clock, environment }, merchant.account)
    merchant.clock.shift(dueMs)
    await keyless.act()
    await keyless.service.core.close()
    expect(await merchant.setAtDeadline(hold, 'nothing')).toMatchObject({ atDeadline: 'nothing' })
  })
})

describe('a capture that is not mined as the deadline comes near', () => {
  it('is replaced from what is kept for urgent work', async () => {
    const proxy = await scene.openProxy()
    const { startSettleWait, end } = createPatience()
    const environment = { SETTLE_WAIT_SECONDS: '4' }
    const merchant = await open({ rpcUrls: [proxy.url], environment, startSettleWait })
    const hold = await merchant.open()
    end()
    await merchant.setAtDeadline(hold, 'capture')
    proxy.setFault('eth_sendRawTransaction', { kind: 'refuse' })
    expect(await merchant.capture(hold, 10_000n)).toMatchObject({ status: 'pending' })
    const readShares = async () => {
      const { rows } = await scene.database.pool().query(
        `select b.urgent_shares from broadcasts b join broadcast_settlements using (network, transaction)
           join settlements s on s.id = settlement_id where s.caller = $1 and s.state = 'pending'`,
        [merchant.account],
      )
      return rows.map(({ urgent_shares }) => urgent_shares)
    }
    merchant.clock.shift(dueMs)
    await merchant.act()
    expect(await readShares()).toEqual([null])
    merchant.clock.shift(900_000)
    await merchant.act()
    await pollUntil(async () => (await readShares())[0] !== null, 'the capture to be marked', readShares)
    expect(await readShares()).toEqual([[{ account: merchant.account, share: 1 }]])
  })
})

describe('a hold whose lowest fee has no recipient', () => {
  it.each(['1.1', '1.0'] as const)('is captured all the same, under version %s', async (version) => {
    const merchant = await open()
    const hold = await merchant.open({ version, extra: { minFeeBps: 100, maxFeeBps: 200 } })
    await merchant.setAtDeadline(hold, 'capture')
    merchant.clock.shift(dueMs)
    await actUntil(merchant, hold, 'captured')
    expect(await scene.chain.balanceOf(hold.payTo)).toBe(10_000n)
  })
})

describe('a request of the account while the job acts', () => {
  /** The job has chosen the hold, and simulates its capture; then `meanwhile` is done by another instance. */
  const actMeanwhile = async (
    meanwhile: (merchant: ReturnType<typeof asMerchant>, hold: Hold) => unknown,
  ) => {
    const proxy = await scene.openProxy()
    const merchant = await open({ rpcUrls: [proxy.url] })
    const { signers } = merchant.service
    const other = await openMerchant({ clock: merchant.clock, signers }, merchant.account)
    const hold = await merchant.open()
    await merchant.setAtDeadline(hold, 'capture')
    merchant.clock.shift(dueMs)
    const release = proxy.hold('eth_call', isSimulation)
    const acting = merchant.act()
    await pollUntil(
      () => proxy.calls.some(({ method, params }) => method === 'eth_call' && isSimulation(params)),
      'the capture to be simulated',
    )
    await Promise.resolve(meanwhile(other, hold)).finally(release)
    await acting
    return { merchant, hold }
  }
  const listMoves = async (merchant: ReturnType<typeof asMerchant>, hold: Hold) =>
    (await merchant.read(hold)).settlements.map(({ type, amount, automatic }) => [type, amount, automatic])

  it('comes first if it is recorded first: the job takes what it leaves', async () => {
    const { merchant, hold } = await actMeanwhile((other, hold) => other.capture(hold, 4_000n))
    await actUntil(merchant, hold, 'captured')
    expect(await listMoves(merchant, hold)).toEqual([
      ['hold', '10000', false],
      ['capture', '4000', false],
      ['capture', '6000', true],
    ])
    expect(await scene.chain.balanceOf(hold.payTo)).toBe(10_000n)
  })

  it('returns the rest that it asked for, of which the job captures nothing', async () => {
    const { merchant, hold } = await actMeanwhile((other, hold) =>
      other.capture(hold, 4_000n, undefined, true),
    )
    await actUntil(merchant, hold, 'voided')
    expect(await scene.chain.balanceOf(hold.payTo)).toBe(4_000n)
    expect(await scene.chain.balanceOf(hold.payer)).toBe(6_000n)
  })

  it('voids the hold, of which the job captures nothing', async () => {
    const { merchant, hold } = await actMeanwhile((other, hold) => other.move(hold, { type: 'void' }))
    await actUntil(merchant, hold, 'voided')
    expect(await listMoves(merchant, hold)).toEqual([
      ['hold', '10000', false],
      ['void', '0', false],
    ])
    expect(await scene.chain.balanceOf(hold.payer)).toBe(10_000n)
  })

  it('states something else, and what was recorded for the job is not sent', async () => {
    const { merchant, hold } = await actMeanwhile((other, hold) => other.setAtDeadline(hold, 'nothing'))
    // The statement forgot when the hold is looked at next.
    await pollUntil(async () => (await readActAt(hold)) > 0, 'the attempt to end')
    const { rows } = await scene.database
      .pool()
      .query(
        "select 1 from settlements where caller = $1 and authorization_id like '%/10000-0' and state <> 'failed'",
        [merchant.account],
      )
    expect(rows).toEqual([])
    merchant.clock.shift(600_000)
    await merchant.act()
    expect(await merchant.read(hold)).toMatchObject({ status: 'held', capturableAmount: '10000' })
    expect(await merchant.setAtDeadline(hold, 'capture')).toMatchObject({ atDeadline: 'capture' })
    await actUntil(merchant, hold, 'captured')
  })
})

describe('many holds that end at once', () => {
  it('leave half of what the account of the operator can have in flight to payments of others', async () => {
    const { control, client } = scene.chain
    const merchant = await open()
    const { signers } = merchant.service
    const second = await openMerchant({ clock: merchant.clock, signers })
    // By its clock the payment has not expired.
    const payments = await scene.open({ signers })
    const holds: Hold[] = []
    for (let count = 0; count < 17; count++) holds.push(await merchant.open())
    for (const hold of holds) await merchant.setAtDeadline(hold, 'capture')
    merchant.clock.shift(dueMs)
    await control.setAutomine(false)
    const address = signers[0]?.address ?? '0x'
    const countInFlight = async () =>
      (await client.getTransactionCount({ address, blockTag: 'pending' })) -
      (await client.getTransactionCount({ address, blockTag: 'latest' }))
    await pollUntil(async () => {
      await merchant.act()
      return (await countInFlight()) >= 8
    }, 'the job to act')
    for (const each of [merchant, second]) await each.act()
    expect(await countInFlight()).toBe(8)
    const { body, payTo } = await scene.plan()
    const settling = payments.settle(body)
    await pollUntil(async () => (await countInFlight()) === 9, 'the payment of another to be sent')
    await control.setAutomine(true)
    await control.mine()
    expect(await settling).toMatchObject({ success: true })
    expect(await scene.countTransfersTo(payTo)).toBe(1)
    for (const hold of holds) await actUntil(merchant, hold, 'captured')
  })
})

describe('an instance whose clock is ahead', () => {
  /** By its clock the deadline is four minutes away when it is half an hour away by that of the merchant. */
  const openAhead = async (environment: Readonly<Record<string, string>> = {}) => {
    const merchant = await open()
    const { signers } = merchant.service
    const clock = shiftedClock()
    clock.shift(dueMs + 1_500_000)
    const ahead = await openMerchant({ clock, signers, environment }, merchant.account)
    return { merchant, ahead, clock }
  }

  it('keeps no other from a hold by the pause after its failure', async () => {
    // Without the key that the hold names it captures nothing.
    const environment = { EVM_HOLD_AUTHORIZER_KEY: createEoa().privateKey }
    const { merchant, ahead, clock } = await openAhead(environment)
    const hold = await merchant.open()
    await merchant.setAtDeadline(hold, 'capture')
    await pollUntil(async () => {
      await ahead.act()
      return (await readActAt(hold)) > clock.now().getTime()
    }, 'the instance to try')
    merchant.clock.shift(dueMs)
    // The pause of the other ends a quarter of an hour later, or more, by this clock.
    expect(await readActAt(hold)).toBeGreaterThan(merchant.clock.now().getTime() + 900_000)
    await merchant.act()
    await pollUntil(
      async () => (await merchant.read(hold)).status === 'captured',
      'the hold to be captured',
      () => merchant.read(hold),
    )
    expect(await scene.countTransfersTo(hold.payTo)).toBe(1)
  })

  it('makes one capture with the others', async () => {
    const { merchant, ahead } = await openAhead()
    const hold = await merchant.open()
    await merchant.setAtDeadline(hold, 'capture')
    merchant.clock.shift(dueMs)
    await Promise.all([ahead.act(), merchant.act(), ahead.act(), merchant.act()])
    await actUntil(merchant, hold, 'captured')
    expect((await merchant.read(hold)).settlements.map(({ type }) => type)).toEqual(['hold', 'capture'])
    expect(await scene.countTransfersTo(hold.payTo)).toBe(1)
  })
})

describe('the gas that others have used up', () => {
  it('lets a hold be captured in the second half of the time before its deadline', async () => {
    const merchant = await open()
    const { signers } = merchant.service
    const environment = gasBudget('1')
    const spent = await openMerchant({ clock: merchant.clock, signers, environment }, merchant.account)
    const hold = await merchant.open()
    await merchant.setAtDeadline(hold, 'capture')
    merchant.clock.shift(dueMs)
    await pollUntil(async () => {
      await spent.act()
      return (await readActAt(hold)) > merchant.clock.now().getTime() + 150_000
    }, 'the first attempt to end')
    expect(await merchant.read(hold)).toMatchObject({ status: 'held', settlements: [{ type: 'hold' }] })
    merchant.clock.shift(900_000)
    await actUntil({ ...merchant, ...spent, clock: merchant.clock }, hold, 'captured')
    expect(await scene.chain.balanceOf(hold.payTo)).toBe(10_000n)
  })

  it('delays it to its deadline where none is kept for what is late: there is no gas without a limit', async () => {
    const merchant = await open()
    const { signers } = merchant.service
    const environment = { ...gasBudget('1'), ...urgentGas('0') }
    const spent = await openMerchant({ clock: merchant.clock, signers, environment }, merchant.account)
    const hold = await merchant.open()
    await merchant.setAtDeadline(hold, 'capture')
    merchant.clock.shift(dueMs + 1_200_000)
    const pausedUntil = merchant.clock.now().getTime() + 4_000
    await pollUntil(async () => {
      await spent.act()
      return (await readActAt(hold)) > pausedUntil
    }, 'the attempt to end')
    expect(await scene.countTransfersTo(hold.payTo)).toBe(0)
    expect(await merchant.read(hold)).toMatchObject({ status: 'held', settlements: [{ type: 'hold' }] })
  })
})

describe('a late capture that fails on the chain', () => {
  it('uses the gas that is kept for such captures once, also where another instance goes on', async () => {
    const proxy = await scene.openProxy()
    const merchant = await open()
    const { signers } = merchant.service
    const environment = { ...gasBudget('1'), ...quickFinality(scene) }
    const openSpent = (rpcUrls: readonly string[]) =>
      openMerchant({ clock: merchant.clock, signers, environment, rpcUrls }, merchant.account)
    const first = await openSpent([proxy.url])
    const hold = await merchant.open()
    await merchant.setAtDeadline(hold, 'capture')
    merchant.clock.shift(dueMs + 960_000)
    const before = proxy.count('eth_sendRawTransaction')
    const release = proxy.hold('eth_sendRawTransaction')
    const acting = first.act()
    await pollUntil(async () => proxy.count('eth_sendRawTransaction') > before, 'the capture to be sent')
    await scene.chain.setBlacklisted(hold.payTo, true).finally(release)
    await acting
    const readStates = async () => {
      const { rows } = await scene.database.pool().query(
        `select s.state, ${newestTransaction('s')} is not null as "isSent" from settlements s
             join hold_moves m on m.authorization_id = s.authorization_id
             join held_payments h on h.id = m.held_payment_id where h.hash = $1 order by s.created_at`,
        [hold.hash.toLowerCase()],
      )
      return rows
    }
    await pollUntil(
      async () => {
        await scene.chain.control.mine()
        await first.service.reconcile()
        return (await readStates())[0]?.state === 'failed'
      },
      'the capture to fail',
      readStates,
    )
    await scene.chain.setBlacklisted(hold.payTo, false)
    const second = await openSpent([scene.chain.url])
    merchant.clock.shift(300_000)
    const pausedUntil = merchant.clock.now().getTime() + 4_000
    await pollUntil(async () => {
      for (const each of [first, second]) await each.act()
      return (await readActAt(hold)) > pausedUntil
    }, 'the second attempt to end')
    expect((await readStates()).filter(({ isSent }) => isSent)).toEqual([{ state: 'failed', isSent: true }])
    // With a budget like any other it is made.
    merchant.clock.shift(60_000)
    await actUntil(merchant, hold, 'captured')
  })
})

describe('what the job cannot do for a hold', () => {
  it('is tried again at the pace of the deadline, and costs other holds nothing', async () => {
    const merchant = await open()
    const { signers } = merchant.service
    const environment = { SETTLES_PER_RECIPIENT_PER_HOUR: '1' }
    const limited = await openMerchant({ clock: merchant.clock, signers, environment }, merchant.account)
    const [payTo, captureDeadline] = [createEoa().address, unixNow() + 4 * 3_600]
    const extra = { captureDeadline, refundDeadline: captureDeadline + 60 }
    const [first, second] = [await merchant.open({ payTo, extra }), await merchant.open({ payTo, extra })]
    const other = await merchant.open({ extra })
    for (const hold of [first, second, other]) await merchant.setAtDeadline(hold, 'capture')
    merchant.clock.shift(2 * 3_600_000 + 60_000)
    const isCaptured = async (hold: Hold) => (await merchant.read(hold)).status === 'captured'
    await pollUntil(async () => {
      await limited.act()
      return (await isCaptured(other)) && ((await isCaptured(first)) || (await isCaptured(second)))
    }, 'two of the three to be captured')
    const refused = (await isCaptured(first)) ? second : first
    // An eighth of the time that is left would be longer than the longest pause.
    await pollUntil(
      async () => (await readActAt(refused)) > merchant.clock.now().getTime() + 200_000,
      'the attempt to end',
    )
    const { rows } = await scene.database
      .pool()
      .query(
        'select count(*)::int as moves from hold_moves m join held_payments h on h.id = held_payment_id where hash = $1',
        [refused.hash.toLowerCase()],
      )
    expect(rows).toEqual([{ moves: 1 }])
    merchant.clock.shift(3_700_000)
    await actUntil({ ...merchant, ...limited, clock: merchant.clock }, refused, 'captured')
    expect(await scene.chain.balanceOf(payTo)).toBe(20_000n)
  })

  it('stops no other hold: of a network, a version of the escrow or a choice that is not known', async () => {
    const merchant = await open()
    const hold = await merchant.open()
    const pool = scene.database.pool()
    const copy = (hash: string, changes: string) =>
      pool.query(
        `insert into held_payments (network, hash, account_id, authorization_id, payer, pay_to, asset, amount, capture_deadline,
           refund_deadline, terms, status, at_deadline, created_at)
         select coalesce(x.network, h.network), $2 || n, account_id, 'x', payer, pay_to, asset, amount,
           capture_deadline - interval '1 minute', refund_deadline, coalesce(x.terms, h.terms), 'held',
           coalesce(x.at_deadline, 'capture'), created_at - interval '1 minute'
         from held_payments h, generate_series(1, 40) n,
           jsonb_to_record($3) as x (network text, terms json, at_deadline text) where hash = $1`,
        [hold.hash.toLowerCase(), hash, changes],
      )
    await merchant.setAtDeadline(hold, 'capture')
    await copy('unserved', JSON.stringify({ network: 'eip155:999996' }))
    await copy('unreadable', JSON.stringify({ terms: { escrow: 'gone' } }))
    await copy('unknown', JSON.stringify({ at_deadline: 'extend' }))
    try {
      merchant.clock.shift(dueMs)
      await actUntil(merchant, hold, 'captured')
      const { rows } = await pool.query(
        "select distinct at_deadline, act_at is null as is_left from held_payments where hash like 'un%' order by 1",
      )
      expect(rows).toContainEqual({ at_deadline: 'extend', is_left: true })
      expect(rows).not.toContainEqual({ at_deadline: 'extend', is_left: false })
    } finally {
      await pool.query("delete from held_payments where hash like 'un%'")
    }
  })
})
