import { randomUUID } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { systemClock } from '../../../../src/platform/clock.js'
import { createPatience } from '../../../support/core.js'
import { randomAddress } from '../../../support/evm/authorization.js'
import { callEscrow, fundRefunds, type Hold } from '../../../support/evm/holds.js'
import { createEoa } from '../../../support/evm/wallets.js'
import { pollUntil } from '../../../support/pollUntil.js'
import { useScene } from '../../../support/useScene.js'
import { openScene, quickFinality, readOneBlockLater, refuseSends, type Service } from '../scene.js'
import { createMerchants } from './merchants.js'
import { prefixed } from './scene.js'

const scene = useScene(() => openScene({ hasAuthCapture: true }))
const agent = createEoa()
const mismatch = prefixed('receiver_authorizer_mismatch')

const { openMerchant, asMerchant } = createMerchants(() => scene, agent)

const countCaptures = async ({ service }: Awaited<ReturnType<typeof openMerchant>>, hold: Hold) =>
  (await asMerchant(service).holds.read(hold)).refundableAmount

describe('a merchant without an authorizer key', () => {
  it('is offered a key of the facilitator, if it has one', async () => {
    const extraOf = ({ core }: Service) =>
      core.useCases.core.listSupported().kinds.find(({ scheme }) => scheme === 'auth-capture')?.extra
    expect(extraOf((await openMerchant()).service)).toMatchObject({ receiverAuthorizer: agent.address })
    expect(extraOf(await scene.open())).not.toHaveProperty('receiverAuthorizer')
  })

  it('keeps its own authorizer in /accepts where it has one', async () => {
    const { service } = await openMerchant()
    const own = createEoa().address
    const complete = async (extra: Record<string, string>) =>
      await service.core.useCases.core.completeAccepts({
        accepts: [
          {
            scheme: 'auth-capture',
            network: scene.chain.network,
            amount: '10000',
            asset: scene.chain.token.verifyingContract,
            payTo: randomAddress(),
            maxTimeoutSeconds: 300,
            extra,
          },
        ],
      })
    expect(await complete({})).toMatchObject({ accepts: [{ extra: { receiverAuthorizer: agent.address } }] })
    expect(await complete({ receiverAuthorizer: own })).toMatchObject({
      accepts: [{ extra: { receiverAuthorizer: own } }],
    })
  })

  it('captures a part, then the rest, and reads what became of it', async () => {
    const merchant = await openMerchant()
    const hold = await merchant.open()
    expect(await merchant.read(hold)).toMatchObject({
      status: 'held',
      amount: '10000',
      capturableAmount: '10000',
      settlements: [{ type: 'hold', status: 'confirmed', amount: '10000' }],
    })
    expect(await merchant.capture(hold, 4_000n)).toMatchObject({
      status: 'confirmed',
      amount: '4000',
      payment: { status: 'held', capturedAmount: '4000', capturableAmount: '6000', refundableAmount: '4000' },
    })
    expect(await merchant.capture(hold, 6_000n)).toMatchObject({
      payment: { status: 'captured', capturedAmount: '10000', voidedAmount: '0' },
    })
    expect(await scene.chain.balanceOf(hold.payTo)).toBe(10_000n)
  })

  it('has the rest returned to the payer after a capture', async () => {
    const merchant = await openMerchant()
    const hold = await merchant.open()
    const repeated = randomUUID()
    const answer = await merchant.capture(hold, 4_000n, repeated, true)
    expect(answer).toMatchObject({
      status: 'confirmed',
      void: { status: 'confirmed' },
      payment: { status: 'voided', capturedAmount: '4000', voidedAmount: '6000' },
    })
    expect(await merchant.capture(hold, 4_000n, repeated, true)).toMatchObject({
      settlementId: answer.settlementId,
      void: { settlementId: answer.void?.settlementId },
    })
    expect(await scene.chain.balanceOf(hold.payer)).toBe(6_000n)
  })

  it('voids a hold once, by whichever request', async () => {
    const merchant = await openMerchant()
    const hold = await merchant.open()
    const first = await merchant.move(hold, { type: 'void' }, null)
    const second = await merchant.move(hold, { type: 'void' })
    expect(first).toMatchObject({ status: 'confirmed', payment: { status: 'voided', voidedAmount: '10000' } })
    expect(second.settlementId).toBe(first.settlementId)
    expect(await scene.chain.balanceOf(hold.payer)).toBe(10_000n)
    await expect(merchant.capture(hold, 1n)).rejects.toMatchObject({ code: 'PAYMENT_REFUSED' })
  })

  it.each(['1.1', '1.0'] as const)(
    'pays the fee of the terms under version %s of the escrow',
    async (version) => {
      const merchant = await openMerchant()
      const feeRecipient = randomAddress()
      const hold = await merchant.open({ version, extra: { feeRecipient, minFeeBps: 100, maxFeeBps: 500 } })
      expect(await merchant.capture(hold, 5_000n)).toMatchObject({ status: 'confirmed' })
      expect(await scene.chain.balanceOf(feeRecipient)).toBe(50n)
      expect(await scene.chain.balanceOf(hold.payTo)).toBe(4_950n)
      const asked = { type: 'capture', amount: 1_000n, feeReceiver: null, voidsRemainder: false } as const
      await expect(merchant.move(hold, { ...asked, fee: 900n })).rejects.toMatchObject({
        code: 'PAYMENT_REFUSED',
        reason: prefixed('fee'),
      })
    },
  )

  it('cannot have a payment charged at once, which only a key of its own signs', async () => {
    const merchant = await openMerchant()
    const { body } = await merchant.plan({ flow: 'authorization' })
    expect(await merchant.service.verify(body, merchant.account)).toMatchObject({
      isValid: false,
      invalidReason: prefixed('unsupported_payment_flow'),
    })
  })
})

describe('a refund for a merchant', () => {
  const refund = { type: 'refund', amount: 1_500n } as const

  it('is paid where the operator lists the recipient with the account', async () => {
    const [payTo, account] = [randomAddress(), randomUUID()]
    const { service } = await openMerchant({ environment: { EVM_REFUND_RECEIVERS: `${payTo}:${account}` } })
    const merchant = asMerchant(service, account)
    await fundRefunds(scene.chain, merchant.holds.operator, 2_000n)
    const hold = await merchant.open({ payTo })
    await merchant.capture(hold, 4_000n)
    expect(await merchant.move(hold, refund)).toMatchObject({
      status: 'confirmed',
      payment: { refundedAmount: '1500', refundableAmount: '2500', capturedAmount: '4000' },
    })
    expect(await scene.chain.balanceOf(hold.payer)).toBe(1_500n)
    await expect(merchant.move(hold, { type: 'refund', amount: 2_501n })).rejects.toMatchObject({
      reason: prefixed('refund_exceeds_capture'),
    })
  })

  it('is not paid to another account that has a hold for the same recipient', async () => {
    const [payTo, account] = [randomAddress(), randomUUID()]
    const listed = `${payTo}:${account}, ${payTo}:${agent.address}`
    const { service } = await openMerchant({ environment: { EVM_REFUND_RECEIVERS: listed } })
    const thief = asMerchant(service)
    await fundRefunds(scene.chain, thief.holds.operator, 2_000n)
    const feeRecipient = randomAddress()
    const hold = await thief.open({ payTo, extra: { feeRecipient, maxFeeBps: 10_000 } })
    const asked = { type: 'capture', amount: 4_000n, feeReceiver: null, voidsRemainder: false } as const
    await thief.move(hold, { ...asked, fee: 4_000n })
    await expect(thief.move(hold, refund)).rejects.toMatchObject({
      reason: prefixed('refund_funding_unavailable'),
    })
  })
})

describe('a hold that a key of the facilitator moves', () => {
  it('is refused without an account, which could never capture it', async () => {
    const merchant = await openMerchant()
    const { body } = await merchant.plan()
    expect(await merchant.service.verify(body)).toMatchObject({ isValid: false, invalidReason: mismatch })
    const { rules } = await merchant.service.explain(body)
    expect(rules.find(({ state }) => state === 'failed')).toMatchObject({
      rule: 'claim_permitted',
      reason: mismatch,
    })
    expect(await merchant.service.settle(body)).toMatchObject({ success: false, errorReason: mismatch })
    expect(await merchant.service.settle(body, merchant.account)).toMatchObject({ success: true })
  })

  it('belongs to the account that had it held: a payer that does so is refused to the merchant', async () => {
    const merchant = await openMerchant()
    const payer = asMerchant(merchant.service)
    const hold = await merchant.plan()
    expect(await merchant.service.settle(hold.body, payer.account)).toMatchObject({ success: true })
    expect(await merchant.service.verify(hold.body, merchant.account)).toMatchObject({ isValid: false })
    const answer = await merchant.service.settle(hold.body, merchant.account)
    expect(answer).toMatchObject({ success: false, errorReason: 'duplicate_settlement' })
    await expect(merchant.capture(hold, 1n)).rejects.toMatchObject({ code: 'NOT_FOUND' })
  })

  it('stays bound to a payer whose settlement failed', async () => {
    const merchant = await openMerchant({ environment: { SETTLE_WAIT_SECONDS: '4' } })
    const payer = asMerchant(merchant.service)
    const hold = await merchant.plan()
    await scene.database.pool().query(
      `insert into held_payments (network, hash, account_id, authorization_id, payer, pay_to, asset, amount,
         capture_deadline, refund_deadline, terms)
       values ($1, $2, $3, 'x', 'x', 'x', 'x', 1, now(), now(), '{}')`,
      [scene.chain.network, hold.hash.toLowerCase(), payer.account],
    )
    expect(await merchant.service.verify(hold.body, merchant.account)).toMatchObject({
      isValid: false,
      invalidReason: mismatch,
    })
    expect(await merchant.service.settle(hold.body, merchant.account)).toMatchObject({
      success: false,
      errorReason: mismatch,
    })
    expect((await merchant.holds.read(hold)).capturableAmount).toBe(0n)
  })

  it('of a recipient that an account has stated as its own is bound to no other', async () => {
    const merchant = await openMerchant()
    const stranger = asMerchant(merchant.service)
    const hold = await merchant.plan()
    await scene.database.pool().query(
      `insert into recipient_statements (network, pay_to, account_id, memo, signed_claim, own_key)
       values ($1, $2, $3, false, false, true)`,
      [scene.chain.network, hold.payTo.toLowerCase(), merchant.account],
    )
    expect(await merchant.service.settle(hold.body, stranger.account)).toMatchObject({
      errorReason: mismatch,
    })
    expect(await merchant.service.settle(hold.body, merchant.account)).toMatchObject({ success: true })
  })

  it('is neither shown to another account nor moved by it', async () => {
    const merchant = await openMerchant()
    const rival = asMerchant(merchant.service)
    const hold = await merchant.open()
    for (const asked of [{ type: 'void' }, { type: 'refund', amount: 1n }] as const) {
      await expect(rival.move(hold, asked)).rejects.toMatchObject({ code: 'NOT_FOUND' })
    }
    await expect(rival.capture(hold, 1n)).rejects.toMatchObject({ code: 'NOT_FOUND' })
    await expect(rival.read(hold)).rejects.toMatchObject({ code: 'NOT_FOUND' })
    const list = (accountId: string) =>
      merchant.service.core.useCases.captures.listHeldPayments({ accountId, limit: 10 })
    expect(await list(rival.account)).toEqual({ payments: [] })
    expect((await list(merchant.account)).payments).toHaveLength(1)
  })

  it('of one account is bound to it, whichever of two instances settles', async () => {
    const merchant = await openMerchant()
    const second = await openMerchant({ signers: merchant.service.signers })
    const rival = asMerchant(second.service)
    const hold = await merchant.plan()
    const answers = await Promise.all([
      merchant.service.settle(hold.body, merchant.account),
      second.service.settle(hold.body, rival.account),
    ])
    expect(answers.filter(({ success }) => success)).toHaveLength(1)
    const owner = answers[0]?.success ? merchant : rival
    const other = answers[0]?.success ? rival : merchant
    expect(await owner.capture(hold, 10_000n)).toMatchObject({ status: 'confirmed' })
    await expect(other.capture(hold, 1n)).rejects.toMatchObject({ code: 'NOT_FOUND' })
  })
})

describe('an Idempotency-Key', () => {
  it('captures once, however often and late it is asked', async () => {
    const merchant = await openMerchant()
    const hold = await merchant.open()
    const repeated = randomUUID()
    const first = await merchant.capture(hold, 2_000n, repeated)
    await merchant.capture(hold, 1_000n)
    const second = await openMerchant({ signers: merchant.service.signers })
    const again = asMerchant(second.service, merchant.account)
    expect(await again.capture(hold, 2_000n, repeated)).toMatchObject({
      status: 'confirmed',
      settlementId: first.settlementId,
      transaction: first.transaction,
    })
    expect(await scene.chain.balanceOf(hold.payTo)).toBe(3_000n)
  })

  it('joins a request that is under way', async () => {
    const merchant = await openMerchant()
    const hold = await merchant.open()
    const repeated = randomUUID()
    const answers = await Promise.all([1, 2, 3].map(() => merchant.capture(hold, 2_000n, repeated)))
    expect(new Set(answers.map(({ settlementId }) => settlementId)).size).toBe(1)
    expect(await scene.chain.balanceOf(hold.payTo)).toBe(2_000n)
  })

  it('belongs to one request: another amount, hold or operation is refused', async () => {
    const merchant = await openMerchant()
    const [hold, other] = [await merchant.open(), await merchant.open()]
    const repeated = randomUUID()
    await merchant.capture(hold, 2_000n, repeated)
    for (const ask of [
      () => merchant.capture(hold, 2_001n, repeated),
      () => merchant.capture(hold, 2_000n, repeated, true),
      () => merchant.capture(other, 2_000n, repeated),
      () => merchant.move(hold, { type: 'void' }, repeated),
    ]) {
      await expect(ask()).rejects.toMatchObject({ code: 'PAYLOAD_MISMATCH' })
    }
    expect(await scene.chain.balanceOf(hold.payTo)).toBe(2_000n)
  })

  it('is not used up by a request that the chain shows to be impossible', async () => {
    const merchant = await openMerchant()
    const hold = await merchant.open()
    const repeated = randomUUID()
    await expect(merchant.capture(hold, 10_001n, repeated)).rejects.toMatchObject({
      code: 'PAYMENT_REFUSED',
      reason: prefixed('insufficient_authorization'),
      message: expect.stringContaining('10000 can be captured'),
    })
    expect(await merchant.capture(hold, 10_000n, repeated)).toMatchObject({ status: 'confirmed' })
  })
})

describe('two captures from one state', () => {
  it('are one capture: the other is told what is left', async () => {
    const merchant = await openMerchant()
    const hold = await merchant.open()
    const [first, second] = await Promise.allSettled([
      merchant.capture(hold, 3_000n),
      merchant.capture(hold, 4_000n),
    ])
    const statuses = [first, second].map((each) => each?.status).sort()
    if (statuses.includes('rejected')) {
      expect(statuses).toEqual(['fulfilled', 'rejected'])
      const lost = [first, second].find((each) => each?.status === 'rejected')
      expect(lost).toMatchObject({ reason: { code: 'PAYMENT_REFUSED' } })
      expect([3_000n, 4_000n]).toContain(await countCaptures(merchant, hold))
    } else {
      // They did not meet: the second one started from the state that the first one left.
      expect(await countCaptures(merchant, hold)).toBe(7_000n)
    }
  })
})

describe('a process that dies', () => {
  it('after it recorded a capture leaves it to the reconciler, and to a repeated request', async () => {
    const proxy = await scene.openProxy()
    const environment = { SETTLE_WAIT_SECONDS: '4', ...quickFinality(scene) }
    const { startSettleWait, end } = createPatience()
    const merchant = await openMerchant({ rpcUrls: [proxy.url], environment, startSettleWait })
    const hold = await merchant.open()
    end()
    proxy.setFault('eth_sendRawTransaction', { kind: 'hang' })
    const repeated = randomUUID()
    const answer = await merchant.capture(hold, 4_000n, repeated, true)
    expect(answer).toMatchObject({ status: 'pending' })
    expect(answer).not.toHaveProperty('void')
    proxy.clearFaults()
    const second = await openMerchant({
      signers: merchant.service.signers,
      environment: quickFinality(scene),
    })
    const again = asMerchant(second.service, merchant.account)
    const { settlementId = '' } = answer
    const sent = {
      success: false,
      transaction: '',
      network: '',
      errorReason: 'settlement_pending',
      settlementId,
    } as const
    expect(await readOneBlockLater(scene, second.service, sent)).toMatchObject({ status: 'confirmed' })
    const settled = await again.capture(hold, 4_000n, repeated, true)
    expect(settled).toMatchObject({ settlementId: answer.settlementId, void: { status: 'confirmed' } })
    expect(await scene.chain.balanceOf(hold.payTo)).toBe(4_000n)
    expect(await scene.chain.balanceOf(hold.payer)).toBe(6_000n)
  })
})

describe('a hold whose block is orphaned', () => {
  it('stays bound, and is captured once it is back', async () => {
    const proxy = await scene.openProxy()
    const merchant = await openMerchant({ rpcUrls: [proxy.url] })
    const rival = asMerchant(merchant.service)
    const hold = await merchant.open()
    refuseSends(proxy)
    await scene.chain.control.reorg(1)
    await expect(merchant.capture(hold, 4_000n)).rejects.toMatchObject({
      code: 'PAYMENT_REFUSED',
      reason: prefixed('unexpected_payment_state'),
    })
    expect(await merchant.service.settle(hold.body, rival.account)).not.toMatchObject({ success: true })
    proxy.clearFaults()
    const stopped = new AbortController().signal
    await pollUntil(
      async () => {
        await merchant.service.core.detectReorgs(stopped)
        await merchant.service.reconcile()
        await scene.chain.control.mine()
        return (await merchant.read(hold)).status === 'held'
      },
      'the hold to be back',
      () => merchant.read(hold),
    )
    expect(await merchant.capture(hold, 4_000n)).toMatchObject({ status: 'confirmed' })
    expect(await scene.chain.balanceOf(hold.payTo)).toBe(4_000n)
  })
})

describe('the capture deadline', () => {
  it('is announced once, and what the payer takes back is noticed', async () => {
    let laterMs = 0
    const clock = { sleep: systemClock.sleep, now: () => new Date(Date.now() + laterMs) }
    const merchant = await openMerchant({ clock })
    const hold = await merchant.open()
    const { watch, listEvents } = merchant
    // The deadline is an hour away, and the warning comes a day before.
    await watch()
    await watch()
    expect(await listEvents()).toEqual(['hold.expiring', 'hold.held'])
    await scene.chain.control.setNextBlockTimestamp(hold.info.authorizationExpiry + 1)
    await scene.chain.fundGas(hold.payer)
    laterMs += 3_700_000
    await watch()
    expect(await merchant.read(hold)).toMatchObject({ status: 'expired', capturableAmount: '10000' })
    await expect(merchant.capture(hold, 4_000n)).rejects.toMatchObject({
      reason: prefixed('capture_deadline_expired'),
    })
    await callEscrow(scene.chain, hold, { functionName: 'reclaim', from: hold.payer })
    laterMs += 3_600_000
    await watch()
    expect(await listEvents()).toEqual(['hold.expired', 'hold.expiring', 'hold.held', 'hold.reclaimed'])
    expect(await merchant.read(hold)).toMatchObject({ status: 'reclaimed', reclaimedAmount: '10000' })
    expect(await scene.chain.balanceOf(hold.payer)).toBe(10_000n)
  })
})
