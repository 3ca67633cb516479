import { type Address, zeroAddress } from 'viem'
import { beforeEach, describe, expect, it } from 'vitest'
import { createPatience } from '../../../support/core.js'
import { randomAddress } from '../../../support/evm/authorization.js'
import {
  type CaptureBody,
  callEscrow,
  fundRefunds,
  type Hold,
  signCapture,
  signCharge,
  signRefund,
  signVoid,
} from '../../../support/evm/holds.js'
import { createEoa, createSoladyWallet, deployWallet } from '../../../support/evm/wallets.js'
import { useScene } from '../../../support/useScene.js'
import { openScene, openSlow, quickFinality, readOneBlockLater } from '../scene.js'
import { countSent } from '../strangers.js'
import { createHolds, type Holds, prefixed, untouched } from './scene.js'

/* Holds, charges, captures, voids and refunds on a local chain with contracts that keep the rules of the published ones. */

const scene = useScene(() => openScene({ hasAuthCapture: true }))
let holds: Holds

beforeEach(async () => {
  holds = createHolds(scene, await scene.open())
})

const chainOf = () => ({ chainId: scene.chain.chainId })
const balanceOf = (owner: Address) => scene.chain.balanceOf(owner)

const forms = (['1.1', '1.0'] as const).flatMap((version) =>
  (['eip3009', 'permit2'] as const).map((method) => ({ version, method })),
)

describe('a hold', () => {
  it.each(forms)('by $method in the escrow $version takes the funds, and pays nobody yet', async (form) => {
    const hold = await holds.plan(form)
    expect(await holds.service.verify(hold.body)).toEqual({ isValid: true, payer: hold.payer })
    expect(await holds.service.settle(hold.body)).toMatchObject({
      success: true,
      amount: '0',
      maxAmount: '10000',
      payer: hold.payer,
    })
    expect(await holds.read(hold)).toEqual({
      hasCollectedPayment: true,
      capturableAmount: 10_000n,
      refundableAmount: 0n,
    })
    expect(await balanceOf(hold.payer)).toBe(0n)
    expect(await balanceOf(hold.payTo)).toBe(0n)
  })

  it('is made by a deployed wallet', async () => {
    const wallet = await createSoladyWallet(scene.chain)
    await deployWallet(scene.chain, wallet)
    expect(await holds.read(await holds.open({ wallet }))).toMatchObject({ capturableAmount: 10_000n })
  })

  it('is made once: the same payment is a duplicate of another request', async () => {
    const hold = await holds.open()
    const before = await countSent(scene, holds.service)
    expect(await holds.service.settle(hold.body)).toMatchObject({
      success: false,
      errorReason: 'duplicate_settlement',
    })
    expect(await countSent(scene, holds.service)).toBe(before)
  })

  it('is refused where the balance is short', async () => {
    const { body } = await holds.plan({ balance: 9_999n })
    expect(await holds.service.verify(body)).toMatchObject({
      invalidReason: prefixed('insufficient_balance'),
    })
  })
})

describe('a charge', () => {
  it.each(forms)(
    'by $method in the escrow $version pays what was used, less the fee, and returns the rest',
    async (form) => {
      const [feeReceiver, fee] = [randomAddress(), form.version === '1.1' ? 50n : 100n]
      const hold = await holds.plan({ ...form, flow: 'authorization', extra: { maxFeeBps: 100 } })
      expect(await holds.service.verify(hold.body)).toMatchObject({ isValid: true })
      const body = await signCharge(hold, { ...chainOf(), amount: 5_000n, fee, feeReceiver })
      expect(await holds.service.settle(body)).toMatchObject({
        success: true,
        amount: '4950',
        maxAmount: '10000',
      })
      expect(await balanceOf(hold.payTo)).toBe(4_950n)
      expect(await balanceOf(feeReceiver)).toBe(50n)
      expect(await balanceOf(hold.payer)).toBe(5_000n)
    },
  )
})

describe('a capture', () => {
  it.each(forms)('of a hold by $method in the escrow $version pays the receiver', async (form) => {
    const hold = await holds.open(form)
    const body = await holds.capture(hold, 4_000n)
    expect(await holds.service.verify(body)).toMatchObject({ isValid: true })
    expect(await holds.service.settle(body)).toMatchObject({ success: true, amount: '4000' })
    expect(await balanceOf(hold.payTo)).toBe(4_000n)
    expect(await holds.read(hold)).toMatchObject({ capturableAmount: 6_000n, refundableAmount: 4_000n })
  })

  it.each(['1.1', '1.0'] as const)(
    'under version %s counts what reached the receiver, without the fee',
    async (version) => {
      const hold = await holds.open({ version, extra: { maxFeeBps: 100 } })
      const [feeReceiver, fee] = [randomAddress(), version === '1.1' ? 39n : 100n]
      const body = await signCapture(hold, untouched, { ...chainOf(), amount: 3_999n, fee, feeReceiver })
      expect(await holds.service.settle(body)).toMatchObject({
        success: true,
        amount: '3960',
        maxAmount: '3999',
      })
      expect(await balanceOf(hold.payTo)).toBe(3_960n)
    },
  )

  it('is made once: replayed, it moves nothing', async () => {
    const hold = await holds.open()
    const body = await holds.capture(hold, 4_000n)
    expect(await holds.service.settle(body)).toMatchObject({ success: true })
    expect(await holds.service.settle(body)).toMatchObject({
      success: false,
      errorReason: 'duplicate_settlement',
    })
    const other = await scene.open({ signers: holds.service.signers })
    expect(await other.settle(body, 'another')).toMatchObject({ success: false })
    expect(await balanceOf(hold.payTo)).toBe(4_000n)
  })

  it('of equal amounts is made again by a new signature over the new balances', async () => {
    const hold = await holds.open()
    const states = [
      { capturable: 10_000n, refundable: 0n },
      { capturable: 6_000n, refundable: 4_000n },
    ]
    for (const state of states) {
      const body = await holds.capture(hold, 4_000n, state)
      expect(await holds.service.settle(body)).toMatchObject({ success: true, amount: '4000' })
    }
    expect(await balanceOf(hold.payTo)).toBe(8_000n)
  })

  it('from one state is made once, whichever of two amounts comes first', async () => {
    const hold = await holds.open()
    const state = { capturable: 10_000n, refundable: 0n }
    const bodies = [await holds.capture(hold, 3_000n, state), await holds.capture(hold, 4_000n, state)]
    const answers = await Promise.all(bodies.map((body) => holds.service.settle(body)))
    expect(answers.filter(({ success }) => success)).toHaveLength(1)
    expect([3_000n, 4_000n]).toContain(await balanceOf(hold.payTo))
  })

  it.each([
    ['another state', 'unexpected_payment_state', { capturable: 9_999n, refundable: 0n }, 1n],
    ['more than is held', 'amount_mismatch', { capturable: 10_000n, refundable: 0n }, 10_001n],
    ['nothing', 'amount_mismatch', { capturable: 10_000n, refundable: 0n }, 0n],
  ] as const)('of %s is refused as %s', async (_what, reason, state, amount) => {
    const hold = await holds.open()
    const body = await holds.capture(hold, amount, state)
    expect(await holds.service.settle(body)).toMatchObject({ errorReason: prefixed(reason), transaction: '' })
  })

  it('of a payment that was not collected is refused', async () => {
    const body = await holds.capture(await holds.plan(), 1n, { capturable: 0n, refundable: 0n })
    expect(await holds.service.settle(body)).toMatchObject({
      errorReason: prefixed('unexpected_payment_state'),
    })
  })

  it('that another program made in its place is the one that was asked for, and is made once', async () => {
    const { startSettleWait, end } = createPatience()
    const { service, settleAfter } = await openSlow(scene, { SETTLE_WAIT_SECONDS: '10' }, { startSettleWait })
    const slow = createHolds(scene, service)
    const hold = await slow.open()
    end()
    const body = await slow.capture(hold, 4_000n)
    // With the nonce of the service's account, which displaces the service's own transaction.
    const takeNonce = () =>
      callEscrow(scene.chain, hold, { functionName: 'capture', args: [4_000n, 0n, zeroAddress] })
    const answer = await settleAfter(body, takeNonce)
    const settlement = await readOneBlockLater(scene, service, answer)
    expect(settlement).toMatchObject({ status: 'confirmed', amount: '4000' })
    await scene.chain.control.mine(40)
    await service.reconcile()
    expect(await service.settle(body)).toMatchObject({ success: true })
    expect(await service.settle(body)).toMatchObject({ success: false, errorReason: 'duplicate_settlement' })
    expect(await balanceOf(hold.payTo)).toBe(4_000n)
  })

  it.each([
    ['is shown by its event', [4_000n], { status: 'confirmed', amount: '4000' }],
    ['is distinguished from an equal one beside it', [1_000n, 4_000n, 5_000n], { status: 'failed' }],
  ] as const)(
    'that another program made %s, without the state of its block',
    async (_what, amounts, outcome) => {
      const { startSettleWait, end } = createPatience()
      const { service, settleAfter } = await openSlow(
        scene,
        { SETTLE_WAIT_SECONDS: '10' },
        { startSettleWait },
      )
      const slow = createHolds(scene, service)
      const hold = await slow.open()
      end()
      const body = await slow.capture(hold, 4_000n)
      const answer = await settleAfter(body, async () => {
        for (const amount of amounts) {
          await callEscrow(scene.chain, hold, { functionName: 'capture', args: [amount, 0n, zeroAddress] })
        }
        // Test chains have the state of the last 64 blocks.
        await scene.chain.control.mine(70)
      })
      expect(await readOneBlockLater(scene, service, answer)).toMatchObject(outcome)
      expect(await balanceOf(hold.payTo)).toBe(amounts.reduce((sum, amount) => sum + amount, 0n))
    },
  )

  it('fails, proven, when the hold is gone before it is mined', async () => {
    const { startSettleWait, end } = createPatience()
    const slow = await openSlow(scene, { SETTLE_WAIT_SECONDS: '10' }, { startSettleWait })
    const hold = await createHolds(scene, slow.service).open()
    end()
    const body = await holds.capture(hold, 4_000n)
    const answer = await slow.settleAfter(body, () =>
      // The funds leave the hold outside this service.
      callEscrow(scene.chain, hold, { functionName: 'void' }),
    )
    expect(await readOneBlockLater(scene, slow.service, answer)).toMatchObject({
      status: 'failed',
      errorReason: prefixed('unexpected_payment_state'),
    })
    expect(await balanceOf(hold.payTo)).toBe(0n)
  })
})

describe('a void', () => {
  it.each(forms)(
    'of a hold by $method in the escrow $version returns the rest to the payer, once',
    async (form) => {
      const hold = await holds.open(form)
      const capture = await holds.capture(hold, 4_000n)
      expect(await holds.service.settle(capture)).toMatchObject({ success: true })
      const body = await signVoid(hold, chainOf())
      expect(await holds.service.settle(body)).toMatchObject({ success: true, amount: '0' })
      expect(await balanceOf(hold.payer)).toBe(6_000n)
      expect(await holds.service.settle(body)).toMatchObject({
        success: false,
        errorReason: 'duplicate_settlement',
      })
    },
  )

  it('of nothing is refused', async () => {
    const hold = await holds.open()
    const all = await holds.capture(hold, 10_000n)
    expect(await holds.service.settle(all)).toMatchObject({ success: true })
    expect(await holds.service.settle(await signVoid(hold, chainOf()))).toMatchObject({
      errorReason: prefixed('zero_authorization'),
    })
  })
})

describe('a refund', () => {
  const capturedHold = async (): Promise<Hold> => {
    const hold = await holds.open()
    const body = await holds.capture(hold, 4_000n)
    expect(await holds.service.settle(body)).toMatchObject({ success: true })
    return hold
  }
  const state = { capturable: 6_000n, refundable: 4_000n }

  it('of more than was captured is refused', async () => {
    const body = await signRefund(await capturedHold(), state, { ...chainOf(), amount: 4_001n })
    expect(await holds.service.settle(body)).toMatchObject({
      errorReason: prefixed('refund_exceeds_capture'),
    })
  })

  it('is refused where the operator has not agreed to pay it', async () => {
    const body = await signRefund(await capturedHold(), state, { ...chainOf(), amount: 4_000n })
    expect(await holds.service.settle(body)).toMatchObject({
      errorReason: prefixed('refund_funding_unavailable'),
    })
  })

  it('is paid from what the operator holds and has approved, for a receiver that it lists', async () => {
    const [payTo, authorizer] = [randomAddress(), createEoa()]
    const environment = { EVM_REFUND_RECEIVERS: `${payTo}:${authorizer.address}` }
    holds = createHolds(scene, await scene.open({ environment }))
    const { operator } = holds
    // Before the hold, whose settlement notices the nonce that this uses.
    await fundRefunds(scene.chain, operator, 2_000n)
    const hold = await holds.open({ payTo, authorizer })
    const capture = await holds.capture(hold, 4_000n)
    expect(await holds.service.settle(capture)).toMatchObject({ success: true })
    const body = await signRefund(hold, state, { ...chainOf(), amount: 1_500n })
    expect(await holds.service.settle(body)).toMatchObject({ success: true, amount: '0', maxAmount: '1500' })
    expect(await balanceOf(hold.payer)).toBe(1_500n)
    expect(await holds.read(hold)).toMatchObject({ capturableAmount: 6_000n, refundableAmount: 2_500n })
  })
})

describe('a process that dies', () => {
  it.each(['hold', 'capture', 'void'] as const)(
    'after it recorded a %s leaves it to the reconciler',
    async (kind) => {
      const proxy = await scene.openProxy()
      const environment = { SETTLE_WAIT_SECONDS: '4', ...quickFinality(scene) }
      const { startSettleWait, end } = createPatience()
      holds = createHolds(scene, await scene.open({ rpcUrls: [proxy.url], environment, startSettleWait }))
      const hold = await (kind === 'hold' ? holds.plan() : holds.open())
      end()
      const bodies: Readonly<Record<typeof kind, () => Promise<CaptureBody>>> = {
        hold: async () => hold.body,
        capture: () => holds.capture(hold, 4_000n),
        void: () => signVoid(hold, chainOf()),
      }
      proxy.setFault('eth_getTransactionReceipt', { kind: 'refuse' })
      const answer = await holds.service.settle(await bodies[kind]())
      expect(answer).toMatchObject({ errorReason: 'settlement_pending' })
      proxy.clearFaults()
      expect(await readOneBlockLater(scene, holds.service, answer)).toMatchObject({
        status: 'confirmed',
        amount: kind === 'capture' ? '4000' : '0',
      })
      expect(await balanceOf(hold.payTo)).toBe(kind === 'capture' ? 4_000n : 0n)
    },
  )
})
