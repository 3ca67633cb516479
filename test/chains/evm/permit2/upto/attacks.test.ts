import { type Hex, maxUint256 } from 'viem'
import { afterEach, beforeAll, describe, expect, it } from 'vitest'
import { randomAddress } from '../../../../support/evm/authorization.js'
import {
  exactProxyAddress,
  permit2Address,
  setUsdcAllowance,
  spendNonceElsewhere,
  uptoProxyAddress,
} from '../../../../support/evm/permit2.js'
import { deployTestToken } from '../../../../support/evm/testTokens.js'
import {
  chargeOnly,
  encodeCharge,
  type UptoPaymentBody,
  uptoPayment,
} from '../../../../support/evm/uptoPermit2.js'
import { createEoa, createSoladyWallet, deployWallet } from '../../../../support/evm/wallets.js'
import { standingClock } from '../../../../support/shiftedClock.js'
import { useScene } from '../../../../support/useScene.js'
import { createSigner } from '../../engineScene.js'
import { openScene, quickFinality } from '../../scene.js'
import { countSent } from '../../strangers.js'
import { deployRouter, openUpto, planCharge, type UptoOptions, type UptoScene } from './uptoScene.js'

const scene = useScene(openScene)
let router: Hex
const opened: UptoScene[] = []

beforeAll(async () => {
  router = await deployRouter(scene)
})
afterEach(async () => {
  for (const each of opened.splice(0)) await each.close()
})

const open = async (options: UptoOptions = {}): Promise<UptoScene> => {
  const upto = await openUpto(scene, { router, environment: quickFinality(scene), ...options })
  opened.push(upto)
  return upto
}

const plan = (change: Partial<Parameters<typeof planCharge>[1]> = {}) =>
  planCharge(scene.chain, { facilitator: router, ...change })

/** Verify and settle refuse with this reason, and nothing is sent. */
const expectRefused = async (upto: UptoScene, body: unknown, reason: string): Promise<void> => {
  const before = await countSent(scene, upto)
  expect(await upto.verify(body)).toMatchObject({ isValid: false, reason })
  expect(await upto.settle(body)).toMatchObject({ outcome: { state: 'failed', reason }, settlementId: null })
  expect(await countSent(scene, upto)).toBe(before)
}

const withPermit = (body: UptoPaymentBody, change: object): UptoPaymentBody => {
  const { payload } = body.paymentPayload
  const permit2Authorization = { ...payload.permit2Authorization, ...change }
  return {
    ...body,
    paymentPayload: { ...body.paymentPayload, payload: { ...payload, permit2Authorization } },
  }
}

const withMinimum = (body: UptoPaymentBody, minAmount: string): object => ({
  ...body,
  paymentRequirements: { ...body.paymentRequirements, minAmount },
})

describe('the charge', () => {
  it("is requirements.amount at settle, as x402's servers put it", async () => {
    const upto = await open()
    const { body, payTo, payer } = await plan()
    expect(await upto.verify(body)).toMatchObject({ isValid: true, amount: 10_000n })
    const { outcome } = await upto.settle(chargeOnly(body, 1_234n))
    expect(outcome).toMatchObject({ state: 'confirmed', settledAmount: 1_234n })
    expect(await scene.chain.balanceOf(payTo)).toBe(1_234n)
    expect(await scene.chain.balanceOf(payer)).toBe(8_766n)
  })

  it('is settleAmount where it is stated, and requirements.amount is the maximum then', async () => {
    const upto = await open()
    const { body, payTo } = await plan()
    expect((await upto.settle({ ...body, settleAmount: '77' })).outcome).toMatchObject({ state: 'confirmed' })
    expect(await scene.chain.balanceOf(payTo)).toBe(77n)
  })

  it('cannot be in the place of the maximum where settleAmount is stated', async () => {
    const upto = await open()
    const { body } = await plan()
    await expectRefused(upto, { ...chargeOnly(body, 100n), settleAmount: '77' }, 'permit2_amount_mismatch')
  })

  it('is not known at verify: the amount must be the permitted maximum', async () => {
    const upto = await open()
    const { body } = await plan()
    const verification = await upto.verify(chargeOnly(body, 9_999n))
    expect(verification).toMatchObject({ isValid: false, reason: 'permit2_amount_mismatch' })
  })

  it('above the permitted maximum is refused', async () => {
    const upto = await open()
    const { body } = await plan({ balance: 50_000n })
    const reason = 'invalid_upto_evm_payload_settlement_exceeds_amount'
    expect(await upto.settle(chargeOnly(withPermit(body, {}), 10_000n))).toMatchObject({
      outcome: { state: 'confirmed' },
    })
    const { body: second } = await plan({ balance: 50_000n })
    const { payload } = second.paymentPayload
    const raised = {
      ...second,
      paymentPayload: {
        ...second.paymentPayload,
        accepted: { ...second.paymentPayload.accepted, amount: '10001' },
        payload,
      },
      paymentRequirements: { ...second.paymentRequirements, amount: '10001' },
    }
    expect((await upto.settle(raised)).outcome).toEqual({ state: 'failed', reason })
    await expect(upto.settle({ ...second, settleAmount: '10001' })).resolves.toMatchObject({
      outcome: { state: 'failed', reason },
    })
  })

  it('below minAmount is refused, except 0', async () => {
    const upto = await open()
    const { body, payTo } = await plan()
    const reason = 'settle_amount_below_minimum'
    await expectRefused(upto, { ...withMinimum(body, '500'), settleAmount: '499' }, reason)
    const { outcome } = await upto.settle({ ...withMinimum(body, '500'), settleAmount: '0' })
    expect(outcome).toEqual({ state: 'confirmed', transaction: '', settledAmount: 0n })
    expect(await scene.chain.balanceOf(payTo)).toBe(0n)
  })
})

describe('a charge of 0', () => {
  it('sends nothing, and uses up the authorization in the journal', async () => {
    const upto = await open()
    const before = await countSent(scene, upto)
    const { body, payTo } = await plan()
    const { outcome, settlementId } = await upto.settle(chargeOnly(body, 0n))
    expect(outcome).toEqual({ state: 'confirmed', transaction: '', settledAmount: 0n })
    expect(await countSent(scene, upto)).toBe(before)
    expect(await upto.journal.find(settlementId ?? '')).toMatchObject({
      state: 'confirmed',
      settledAmount: 0n,
      broadcasts: [],
    })
    await expect(upto.settle(body)).rejects.toThrow('used up')
    expect(await scene.chain.balanceOf(payTo)).toBe(0n)
    expect(await upto.resolve(settlementId ?? '')).toEqual(outcome)
  })

  it('needs neither balance nor allowance any more', async () => {
    const upto = await open()
    const { body, payer } = await plan()
    await setUsdcAllowance(scene.chain, payer, 0n)
    expect((await upto.settle(chargeOnly(body, 0n))).outcome).toMatchObject({ state: 'confirmed' })
  })
})

describe('the facilitator of the witness', () => {
  it('that is not ours is refused', async () => {
    const upto = await open()
    for (const facilitator of [randomAddress(), uptoProxyAddress, permit2Address] as const) {
      await expectRefused(upto, (await plan({ facilitator })).body, 'upto_facilitator_mismatch')
    }
  })

  it('cannot be replaced: the payer signed it', async () => {
    const upto = await open()
    const { body } = await plan({ facilitator: randomAddress() })
    const { witness } = body.paymentPayload.payload.permit2Authorization
    const forged = withPermit(body, { witness: { ...witness, facilitator: router } })
    await expectRefused(upto, forged, 'invalid_permit2_signature')
  })

  it('that is one of our accounts sends it itself', async () => {
    const signers = [await createSigner(scene), await createSigner(scene), await createSigner(scene)]
    const upto = await open({ signers })
    for (const { address } of signers) {
      const { body, payTo } = await plan({ facilitator: address })
      const { outcome } = await upto.settle(chargeOnly(body, 5n))
      if (outcome.state !== 'confirmed') throw new Error(`It is ${outcome.state}`)
      const sent = await scene.chain.client.getTransaction({ hash: `0x${outcome.transaction.slice(2)}` })
      expect(sent).toMatchObject({ from: address.toLowerCase(), to: uptoProxyAddress.toLowerCase() })
      expect(await scene.chain.balanceOf(payTo)).toBe(5n)
    }
  })

  it('that is the router is called by any of our accounts', async () => {
    const { signers } = await open()
    expect(signers).toHaveLength(2)
    for (const { address } of signers) {
      const upto = await open({ canPay: (each) => each === address })
      const { outcome } = await upto.settle((await plan()).body)
      if (outcome.state !== 'confirmed') throw new Error(`It is ${outcome.state}`)
      const sent = await scene.chain.client.getTransaction({ hash: `0x${outcome.transaction.slice(2)}` })
      expect(sent).toMatchObject({ from: address.toLowerCase(), to: router.toLowerCase() })
    }
  })

  it('that is a router without code is refused: a call of it would succeed', async () => {
    const missing = randomAddress()
    const upto = await open({ router: missing })
    await expectRefused(upto, (await plan({ facilitator: missing })).body, 'router_not_deployed')
  })
})

describe('A1: a permit that was not signed for this payment', () => {
  it.each([
    ['for exact payments', exactProxyAddress],
    ['that anyone may call', randomAddress()],
  ] as const)('is refused for a spender %s', async (_what, spender) => {
    const upto = await open()
    await expectRefused(upto, (await plan({ permit: { spender } })).body, 'invalid_permit2_spender')
  })

  it('is refused for another recipient, token or oneself', async () => {
    const upto = await open()
    const { verifyingContract: token } = scene.chain.token
    const witness = { to: randomAddress(), facilitator: router, validAfter: '0' }
    await expectRefused(
      upto,
      (await plan({ permit: { witness } })).body,
      'invalid_permit2_recipient_mismatch',
    )
    const permitted = { token: randomAddress(), amount: '10000' }
    await expectRefused(upto, (await plan({ permit: { permitted } })).body, 'permit2_token_mismatch')
    const wallet = createEoa()
    await expectRefused(upto, (await plan({ wallet, payTo: wallet.address })).body, 'self_payment')
    const nothing = { permitted: { token, amount: '0' } }
    const zero = await plan({ permit: nothing, requirements: { amount: '0' } })
    expect(await upto.verify(zero.body)).toMatchObject({ reason: 'invalid_payment_amount' })
  })

  it('is refused when any field differs from what was signed', async () => {
    const upto = await open()
    const { body } = await plan()
    const { deadline, witness, permitted } = body.paymentPayload.payload.permit2Authorization
    for (const change of [
      { nonce: '1' },
      { deadline: String(Number(deadline) + 1) },
      { witness: { ...witness, validAfter: '1' } },
    ]) {
      await expectRefused(upto, withPermit(body, change), 'invalid_permit2_signature')
    }
    // A higher maximum than was signed, for a charge within it.
    const raised = withPermit(body, { permitted: { ...permitted, amount: '20000' } })
    const { outcome } = await upto.settle(chargeOnly(raised, 10_000n))
    expect(outcome).toEqual({ state: 'failed', reason: 'invalid_permit2_signature' })
  })

  it('is refused outside its time', async () => {
    const clock = standingClock()
    const upto = await open({ clock })
    const now = Math.floor(clock.now().getTime() / 1_000)
    const late = await plan({ permit: { deadline: String(now - 1) } })
    await expectRefused(upto, late.body, 'permit2_deadline_expired')
    const witness = { to: late.payTo, facilitator: router, validAfter: String(now + 60) }
    const early = await plan({ payTo: late.payTo, permit: { witness } })
    await expectRefused(upto, early.body, 'permit2_not_yet_valid')
    const soon = await plan({ permit: { deadline: String(now + 4) } })
    expect(await upto.verify(soon.body)).toMatchObject({ isValid: true })
    expect((await upto.settle(soon.body)).outcome).toMatchObject({ reason: 'permit2_deadline_expired' })
    const ever = await plan({ permit: { deadline: String(maxUint256) } })
    expect((await upto.settle(ever.body)).outcome).toMatchObject({ state: 'confirmed' })
  })
})

describe('what the payer must keep until the settlement', () => {
  it('is stated with what there is', async () => {
    const upto = await open()
    const { body } = await plan({ balance: 25_000n, allowance: 30_000n })
    expect(await upto.verify(body)).toMatchObject({
      authorizedAmount: 10_000n,
      hold: { spender: permit2Address, balance: 25_000n, allowance: 30_000n },
    })
  })

  it('is refused where it does not cover the maximum', async () => {
    const upto = await open()
    await expectRefused(upto, (await plan({ allowance: 9_999n })).body, 'permit2_allowance_required')
    await expectRefused(upto, (await plan({ balance: 9_999n })).body, 'insufficient_funds')
  })

  it('need only cover the charge at settle', async () => {
    const upto = await open()
    const { body, payer } = await plan({ balance: 50n })
    await setUsdcAllowance(scene.chain, payer, 50n)
    expect((await upto.settle(chargeOnly(body, 50n))).outcome).toMatchObject({ state: 'confirmed' })
  })
})

describe('a token that the operator did not list', () => {
  it('is refused: what it credits cannot be simulated', async () => {
    const { chain } = scene
    const token = await deployTestToken(chain, 'FeeOnTransferToken')
    const environment = { ...quickFinality(scene), [`EVM_TOKENS_${chain.chainId}`]: '*' }
    const upto = await open({ environment })
    const permitted = { token: token.address, amount: '10000' }
    const { body } = await plan({ permit: { permitted }, requirements: { asset: token.address } })
    await expectRefused(upto, body, 'unsupported_asset')
  })
})

describe('wallets', () => {
  it('a deployed contract wallet pays by EIP-1271, through the router', async () => {
    const { chain } = scene
    const upto = await open()
    const wallet = await createSoladyWallet(chain)
    await deployWallet(chain, wallet)
    await chain.mint(wallet.address, 10_000n)
    await setUsdcAllowance(chain, wallet.address)
    const payTo = createEoa().address
    const body = await uptoPayment({ chain, wallet, payTo, facilitator: router })
    expect((await upto.settle(chargeOnly(body, 9n))).outcome).toMatchObject({ state: 'confirmed' })
    expect(await chain.balanceOf(payTo)).toBe(9n)
  })
})

describe('A15: a stranger with the permit', () => {
  it('cannot execute it, and the payment is settled', async () => {
    const upto = await open()
    const { body, payTo } = await plan()
    const stranger = createEoa()
    await scene.chain.fundGas(stranger.address)
    const { status } = await scene.chain.send({
      account: stranger.account,
      to: uptoProxyAddress,
      data: encodeCharge(body, 10_000n),
      gas: 500_000n,
    })
    expect(status).toBe('reverted')
    expect((await upto.settle(chargeOnly(body, 3n))).outcome).toMatchObject({ state: 'confirmed' })
    expect(await scene.chain.balanceOf(payTo)).toBe(3n)
  })
})

describe('after a crash', () => {
  it.each(['the router', 'an account'])('a recorded charge is sent again, by %s', async (what) => {
    const upto = await open()
    const facilitator = what === 'the router' ? router : upto.signers[0]?.address
    if (facilitator === undefined) throw new Error('There is no signer')
    const { body, payTo } = await plan({ facilitator })
    const id = await upto.recordOnly(chargeOnly(body, 42n))
    expect(await upto.resolve(id)).toMatchObject({ state: 'pending' })
    await scene.chain.control.waitForAutomine()
    expect(await upto.resolve(id)).toMatchObject({ state: 'confirmed', settledAmount: 42n })
    expect(await scene.chain.balanceOf(payTo)).toBe(42n)
  })

  it.each(['the router', 'an account'])(
    'fails, once final, when the payer spent the nonce on other terms: %s',
    async (what) => {
      const upto = await open()
      const facilitator = what === 'the router' ? router : upto.signers[0]?.address
      if (facilitator === undefined) throw new Error('There is no signer')
      const { body, wallet, payTo } = await plan({ facilitator })
      const id = await upto.recordOnly(body)
      await spendNonceElsewhere(scene.chain, wallet, body.paymentPayload.payload.permit2Authorization)
      expect(await upto.resolve(id)).toMatchObject({ state: 'pending' })
      await scene.chain.control.mine()
      expect(await upto.resolve(id)).toMatchObject({ state: 'failed', reason: 'permit2_invalid_nonce' })
      expect(await scene.chain.balanceOf(payTo)).toBe(0n)
    },
  )
})
