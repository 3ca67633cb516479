import { randomUUID } from 'node:crypto'
import { encodeFunctionData, parseAbi } from 'viem'
import { describe, expect, it } from 'vitest'
import { systemClock } from '../../../../src/platform/clock.js'
import { heldPaymentPage, movedHold } from '../../../../src/protocol/heldPayments.js'
import { wirePaymentRequest } from '../../../../src/protocol/wire.js'
import { createPatience } from '../../../support/core.js'
import { randomAddress } from '../../../support/evm/authorization.js'
import { fundRefunds, type Hold, published } from '../../../support/evm/holds.js'
import { createEoa } from '../../../support/evm/wallets.js'
import { pollUntil } from '../../../support/pollUntil.js'
import { useScene } from '../../../support/useScene.js'
import { eventually, openScene, quickFinality, refuseSends } from '../scene.js'
import { createMerchants } from './merchants.js'
import { prefixed } from './scene.js'

/* What payers, rivals and mishaps try on holds that a key of the facilitator moves. */

const scene = useScene(() => openScene({ hasAuthCapture: true }))
const agent = createEoa()
const { openMerchant } = createMerchants(() => scene, agent)

/** Ahead of the machine's. */
const createClock = (startMs = 0) => {
  let laterMs = startMs
  return {
    sleep: systemClock.sleep,
    now: () => new Date(Date.now() + laterMs),
    advance: (ms: number) => {
      laterMs += ms
    },
  }
}

const stateCall = ({ version, hash }: Hold) => ({
  to: published[version].escrow,
  data: encodeFunctionData({
    abi: parseAbi(['function paymentState(bytes32)']),
    functionName: 'paymentState',
    args: [hash],
  }),
})

describe('a request that was refused', () => {
  it('has no part in what another one of the same state moves', async () => {
    const merchant = await openMerchant()
    const hold = await merchant.open()
    await merchant.capture(hold, 4_000n)
    await expect(merchant.move(hold, { type: 'refund', amount: 1_000n })).rejects.toMatchObject({
      reason: prefixed('refund_funding_unavailable'),
    })
    const { payment } = await merchant.capture(hold, 2_000n)
    expect(payment).toMatchObject({ status: 'held', capturedAmount: '6000', refundedAmount: '0' })
    expect(payment?.settlements.map(({ type }) => type)).toEqual(['hold', 'capture', 'capture'])
  })

  it('hides none that were made, however many there were', async () => {
    const merchant = await openMerchant()
    const hold = await merchant.open()
    await merchant.capture(hold, 4_000n)
    await scene.database.pool().query(
      `insert into hold_moves (account_id, idempotency_key, part, held_payment_id, authorization_id, fingerprint, move)
       select account_id, 'refused-' || n, 'request', id, authorization_id || '/0-' || n, 'x', '{"type":"refund"}'
       from held_payments, generate_series(1, 600) n where hash = $1`,
      [hold.hash.toLowerCase()],
    )
    const { settlements } = await merchant.read(hold)
    expect(settlements.map(({ type }) => type)).toEqual(['hold', 'capture'])
  })
})

describe('what was asked for of holds', () => {
  const purge = async ({ service }: Awaited<ReturnType<typeof openMerchant>>) => {
    for (const { name, run } of service.core.jobs) {
      if (name === 'purgeHoldMoves') await run(new AbortController().signal)
    }
  }
  const listKeys = async (account: string) => {
    const { rows } = await scene.database
      .pool()
      .query('select idempotency_key as key, part from hold_moves where account_id = $1 order by 1, 2', [
        account,
      ])
    return rows.map(({ key, part }) => `${key} ${part}`)
  }
  const age = (account: string) =>
    scene.database
      .pool()
      .query("update hold_moves set asked_at = asked_at - interval '25 hours' where account_id = $1", [
        account,
      ])

  it('is forgotten a day after it was asked for last, unless it moved something', async () => {
    const merchant = await openMerchant()
    const [hold, voided] = [await merchant.open(), await merchant.open()]
    await merchant.capture(hold, 4_000n, 'captured', true)
    const fee = {
      type: 'capture',
      amount: 1_000n,
      fee: 900n,
      feeReceiver: null,
      voidsRemainder: false,
    } as const
    for (const key of ['refused', 'asked-again']) {
      await expect(merchant.move(voided, fee, key)).rejects.toMatchObject({ code: 'PAYMENT_REFUSED' })
    }
    for (const key of ['first-void', 'later-void']) await merchant.move(voided, { type: 'void' }, key)
    const all = await listKeys(merchant.account)
    expect(all).toHaveLength(6)
    await purge(merchant)
    expect(await listKeys(merchant.account)).toEqual(all)
    await age(merchant.account)
    await expect(merchant.move(voided, fee, 'asked-again')).rejects.toMatchObject({ code: 'PAYMENT_REFUSED' })
    await purge(merchant)
    const kept = ['asked-again request', 'captured remainder', 'captured request', 'first-void request']
    expect(await listKeys(merchant.account)).toEqual(kept)
    // A repeated request is still the same request.
    expect(await merchant.capture(hold, 4_000n, 'captured', true)).toMatchObject({ status: 'confirmed' })
    expect(await scene.chain.balanceOf(hold.payTo)).toBe(4_000n)
    await age(merchant.account)
    await purge(merchant)
    expect(await listKeys(merchant.account)).toEqual(kept.slice(1))
  })

  it('is kept where the settlement is gone and its authorization is consumed', async () => {
    const merchant = await openMerchant()
    const hold = await merchant.open()
    const { settlementId } = await merchant.capture(hold, 4_000n, 'archived')
    await merchant.capture(hold, 1_000n, 'open')
    const pool = scene.database.pool()
    await pool.query("update settlements set authorization_id = authorization_id || '-gone' where id = $1", [
      settlementId,
    ])
    await age(merchant.account)
    await purge(merchant)
    expect(await listKeys(merchant.account)).toEqual(['archived request', 'open request'])
  })
})

describe('what a payer does meanwhile', () => {
  it('does not exhaust what the capture of its hold needs', async () => {
    const merchant = await openMerchant({ environment: { SETTLES_PER_PAYER_PER_HOUR: '1' } })
    const hold = await merchant.open()
    expect(await merchant.capture(hold, 4_000n)).toMatchObject({ status: 'confirmed' })
    await expect(merchant.capture(hold, 1_000n)).rejects.toMatchObject({ code: 'RATE_LIMITED' })
  })

  it('does not occupy the place that the capture of its hold needs', async () => {
    const proxy = await scene.openProxy()
    const environment = { SETTLES_AT_ONCE_PER_PAYER: '1' }
    const merchant = await openMerchant({ rpcUrls: [proxy.url], environment })
    const wallet = createEoa()
    const hold = await merchant.open({ wallet })
    const { body } = await scene.plan({ wallet })
    const isSent = async (count: number) => (proxy.count('eth_sendRawTransaction') >= count ? true : null)
    const before = proxy.count('eth_sendRawTransaction')
    const release = proxy.hold('eth_sendRawTransaction')
    const settling = merchant.service.settle(body)
    await eventually(() => isSent(before + 1))
    const capturing = merchant.capture(hold, 4_000n)
    await Promise.race([capturing, eventually(() => isSent(before + 2))]).finally(release)
    expect(await capturing).toMatchObject({ status: 'confirmed' })
    expect(await settling).toMatchObject({ success: true })
  })
})

describe('a quota that is used up', () => {
  it('refuses the account a hold, and not the capture of one', async () => {
    const merchant = await openMerchant()
    const quota = { accountId: merchant.account, tier: { monthlyQuota: 1, feeRate: 0 } }
    const { useCases } = merchant.service.core
    const settle = async ({ body }: Hold) =>
      await useCases.core.settlePayment({
        body: wirePaymentRequest.parse(body),
        caller: merchant.account,
        quota,
        idempotencyKey: null,
      })
    const hold = await merchant.plan()
    expect(await settle(hold)).toMatchObject({ result: { success: true } })
    await expect(settle(await merchant.plan())).rejects.toMatchObject({ code: 'QUOTA_EXCEEDED' })

    const captured = await useCases.captures.moveHold({
      accountId: merchant.account,
      network: scene.chain.network,
      paymentInfoHash: hold.hash.toLowerCase(),
      quota,
      idempotencyKey: randomUUID(),
      asked: { type: 'capture', amount: 10_000n, fee: null, feeReceiver: null, voidsRemainder: false },
    })
    expect(captured).toMatchObject({ status: 'confirmed', payment: { status: 'captured' } })
    const { rows } = await scene.database
      .pool()
      .query('select used from quota_uses where account_id = $1', [merchant.account])
    expect(rows).toEqual([{ used: '2' }])
  })
})

describe('a hold until the last second that the escrow can count', () => {
  it('is captured, shown and listed', async () => {
    const merchant = await openMerchant()
    const latest = 2 ** 48 - 1
    const hold = await merchant.open({ extra: { captureDeadline: latest, refundDeadline: latest } })
    // The response is written by these shapes: what they do not know is an internal error after the capture.
    expect(movedHold.safeParse(await merchant.capture(hold, 4_000n))).toMatchObject({ success: true })
    expect(heldPaymentPage.safeParse(await merchant.list())).toMatchObject({ success: true })
  })
})

describe('the job that looks at holds', () => {
  it('reaches those of one network and account behind any number of others', async () => {
    const merchant = await openMerchant()
    await merchant.open()
    const unserved = 'eip155:999999'
    const pool = scene.database.pool()
    await pool.query(
      `insert into held_payments (network, hash, account_id, authorization_id, payer, pay_to, asset, amount,
         capture_deadline, refund_deadline, terms, look_at)
       select $1, n::text, 'account ' || n, 'x', 'x', 'x', 'x', 1, now(), now(), '{}', now() - interval '1 day'
       from generate_series(1, 5000) n`,
      [unserved],
    )
    await merchant.watch()
    await pool.query('delete from held_payments where network = $1', [unserved])
    expect(await merchant.listEvents()).toEqual(['hold.expiring', 'hold.held'])
  })
})

describe('a capture whose process dies before it is mined', () => {
  /** Sent, settled by another instance, and never asked for again. `meanwhile` gets its key once it is mined. */
  const captureAndDie = async (
    amount: bigint,
    voidsRemainder: boolean,
    meanwhile?: (key: string) => Promise<unknown>,
  ) => {
    const key = randomUUID()
    const proxy = await scene.openProxy()
    const environment = { SETTLE_WAIT_SECONDS: '4', ...quickFinality(scene) }
    const { startSettleWait, end } = createPatience()
    const first = await openMerchant({ rpcUrls: [proxy.url], environment, startSettleWait })
    const hold = await first.open()
    end()
    // As after the first look.
    await first.watch()
    proxy.setFault('eth_sendRawTransaction', { kind: 'hang' })
    const { settlementId = '' } = await first.capture(hold, amount, key, voidsRemainder)
    const sent = await first.service.core.useCases.core.getSettlement(settlementId)
    expect(sent).toMatchObject({ status: 'pending' })
    proxy.clearFaults()
    // The round in which the instance is gone.
    const clock = createClock(60_000)
    const { signers } = first.service
    const second = await openMerchant({ signers, clock, environment: quickFinality(scene) }, first.account)
    await pollUntil(
      async () => {
        await second.service.reconcile()
        await scene.chain.control.mine()
        const settlement = await second.service.core.useCases.core.getSettlement(settlementId)
        return settlement?.status === 'confirmed'
      },
      'the capture',
      () => null,
    )
    await meanwhile?.(key)
    await second.watch()
    return { hold, merchant: second }
  }

  it('is announced, and listed as captured', async () => {
    const { merchant } = await captureAndDie(10_000n, false)
    expect(await merchant.listEvents()).toContain('hold.captured')
    expect(await merchant.list()).toMatchObject({ payments: [{ status: 'captured' }] })
  })

  it('is followed by the void of the rest that it asked for, and by none that it did not', async () => {
    const { hold, merchant } = await captureAndDie(4_000n, true)
    expect(await merchant.list()).toMatchObject({ payments: [{ status: 'voided', voidedAmount: '6000' }] })
    expect(await scene.chain.balanceOf(hold.payer)).toBe(6_000n)
    const other = await captureAndDie(4_000n, false)
    expect(await other.merchant.read(other.hold)).toMatchObject({ status: 'held', capturableAmount: '6000' })
  })

  it('is followed by that void also where an equal request was refused', async () => {
    const pool = scene.database.pool()
    const { merchant } = await captureAndDie(4_000n, true, async (key) => {
      await pool.query(
        `update settlements s set consumed_by = 'key:' || m.account_id || ':' || m.idempotency_key
         from hold_moves m where m.idempotency_key = $1 and s.authorization_id = m.authorization_id`,
        [key],
      )
      await pool.query(
        `insert into hold_moves (account_id, idempotency_key, part, held_payment_id, authorization_id, fingerprint, move)
         select account_id, 'refused', part, held_payment_id, authorization_id, fingerprint, move
         from hold_moves where idempotency_key = $1`,
        [key],
      )
    })
    expect(await merchant.list()).toMatchObject({ payments: [{ status: 'voided' }] })
  })
})

describe('a capture whose block is dropped', () => {
  it('does not stay listed as captured', async () => {
    const [proxy, clock] = [await scene.openProxy(), createClock()]
    const merchant = await openMerchant({ clock, rpcUrls: [proxy.url] })
    const hold = await merchant.open()
    await scene.chain.control.mine()
    expect(await merchant.capture(hold, 10_000n)).toMatchObject({ payment: { status: 'captured' } })
    refuseSends(proxy)
    await scene.chain.control.reorg(1)
    clock.advance(700_000)
    await merchant.watch()
    expect(await merchant.list()).toMatchObject({ payments: [{ status: 'held' }] })
  })
})

describe('a hold whose settlements were archived', () => {
  /** Rows that the archive takes leave the journal. */
  const archive = async (hold: Hold) =>
    await scene.database
      .pool()
      .query('delete from settlements where authorization_id like $1', [`%/${hold.hash.toLowerCase()}%`])

  it.each([
    ['voided', { capturedAmount: '4000', voidedAmount: '6000', refundedAmount: '0' }],
    ['captured', { capturedAmount: '10000', voidedAmount: '0', refundedAmount: '3000' }],
  ] as const)('stays what it was: %s', async (status, amounts) => {
    const clock = createClock()
    const [payTo, account] = [randomAddress(), randomUUID()]
    const environment = { EVM_REFUND_RECEIVERS: `${payTo}:${account}` }
    const merchant = await openMerchant({ clock, environment }, account)
    await fundRefunds(scene.chain, merchant.holds.operator, 3_000n)
    const hold = await merchant.open({ payTo })
    if (status === 'voided') await merchant.capture(hold, 4_000n, randomUUID(), true)
    else {
      await merchant.capture(hold, 10_000n)
      await merchant.move(hold, { type: 'refund', amount: 3_000n })
    }
    const known = { status, ...amounts }
    expect(await merchant.read(hold)).toMatchObject(known)
    const events = await merchant.listEvents()
    await archive(hold)
    clock.advance(8_000_000)
    expect(await merchant.read(hold)).toMatchObject(known)
    expect(await merchant.listEvents()).toEqual(events)
  })
})

describe('a hold that is as large as two nodes must confirm', () => {
  it('is captured after the operator has lost one of them', async () => {
    const before = await openMerchant()
    const hold = await before.open()
    const { signers } = before.service
    const environment = { EVM_CROSS_CHECK_AMOUNT: '5000' }
    const merchant = await openMerchant({ signers, environment }, before.account)
    const { body } = await merchant.plan()
    expect(await merchant.service.settle(body, merchant.account)).toMatchObject({
      errorReason: 'cross_check_unavailable',
    })
    expect(await merchant.capture(hold, 6_000n)).toMatchObject({ status: 'confirmed' })
  })
})

describe('a node that is behind', () => {
  it('does not hide for long what was captured', async () => {
    const [proxy, clock] = [await scene.openProxy(), createClock()]
    const merchant = await openMerchant({ clock })
    const { signers } = merchant.service
    const behind = await openMerchant({ signers, rpcUrls: [proxy.url] }, merchant.account)
    const hold = await merchant.open()
    const held = await scene.chain.client.call(stateCall(hold))
    expect(await merchant.capture(hold, 10_000n)).toMatchObject({ payment: { status: 'captured' } })
    const isAsked = (params: readonly unknown[]) => JSON.stringify(params).includes(stateCall(hold).data)
    proxy.setFault('eth_call', {
      kind: 'tamper',
      change: (result, params) => (isAsked(params) ? held.data : result),
    })
    expect(await behind.read(hold)).toMatchObject({ status: 'held', capturedAmount: '0' })
    clock.advance(700_000)
    await merchant.watch()
    expect(await merchant.list()).toMatchObject({ payments: [{ status: 'captured' }] })
  })
})
