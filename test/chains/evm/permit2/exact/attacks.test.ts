import { type Address, encodeFunctionData, erc20Abi, type Hex, maxUint256, multicall3Abi } from 'viem'
import { describe, expect, it } from 'vitest'
import { reconcileUntil } from '../../../../support/coreClient.js'
import { randomAddress, unixNow } from '../../../../support/evm/authorization.js'
import { multicall3Address } from '../../../../support/evm/localChain.js'
import { exactPayment } from '../../../../support/evm/payment.js'
import {
  approvePermit2,
  encodeSettle,
  exactProxyAddress,
  isNonceUsed,
  type PermitPaymentBody,
  permit2Abi,
  permit2Address,
  permitPayment,
  setUsdcAllowance,
  spendNonceElsewhere,
} from '../../../../support/evm/permit2.js'
import { toCompact, toHighS, toParityV } from '../../../../support/evm/signatureForms.js'
import { deployTestToken, lies } from '../../../../support/evm/testTokens.js'
import {
  createDelegatedEoa,
  createEoa,
  createMoodyWallet,
  createSoladyWallet,
  deployWallet,
  type EoaWallet,
} from '../../../../support/evm/wallets.js'
import { standingClock } from '../../../../support/shiftedClock.js'
import { useScene } from '../../../../support/useScene.js'
import { openScene, openSlow, quickFinality, readOneBlockLater } from '../../scene.js'
import { countSent, expectRefused, funded, sendAsStranger, sweep, withSignature } from '../../strangers.js'
import { planPermit } from './scene.js'

const scene = useScene(openScene)

const impatient = { SETTLE_WAIT_SECONDS: '4' }

/** Executes a payment from another account; returns the transaction hash. */
const frontRun = (body: PermitPaymentBody) =>
  sendAsStranger(scene, { to: exactProxyAddress, data: encodeSettle(body) })

/** Executes payments through Multicall3; one that reverts does not revert the others. */
const settleNested = async (bodies: readonly PermitPaymentBody[]): Promise<Hex> => {
  const proxy: Address = exactProxyAddress
  const { account } = await funded(scene)
  const data = encodeFunctionData({
    abi: multicall3Abi,
    functionName: 'aggregate3',
    args: [bodies.map((body) => ({ target: proxy, allowFailure: true, callData: encodeSettle(body) }))],
  })
  return (await scene.chain.send({ account, to: multicall3Address, data, gas: 1_000_000n })).transactionHash
}

const invalidate = async (wallet: EoaWallet, body: PermitPaymentBody): Promise<void> => {
  const nonce = BigInt(body.paymentPayload.payload.permit2Authorization.nonce)
  const { account } = await funded(scene, wallet)
  const data = encodeFunctionData({
    abi: permit2Abi,
    functionName: 'invalidateUnorderedNonces',
    args: [nonce >> 8n, 1n << (nonce & 0xffn)],
  })
  expect((await scene.chain.send({ account, to: permit2Address, data })).status).toBe('success')
}

describe('A1: a permit that was not signed for this payment', () => {
  const uptoProxy = '0x4020A4f3b7b90ccA423B9fabCc0CE57C6C240002'

  it.each([
    ['an unknown spender', randomAddress()],
    ['a contract that anyone may call', multicall3Address],
    ["x402's proxy for upto", uptoProxy],
  ] as const)('is refused for %s', async (_what, spender) => {
    const service = await scene.open()
    const { body } = await planPermit(scene, { permit: { spender } })
    await expectRefused(scene, service, body, 'invalid_permit2_spender')
  })

  it('is refused for a witness with another recipient', async () => {
    const service = await scene.open()
    const { body } = await planPermit(scene, {
      permit: { witness: { to: randomAddress(), validAfter: '0' } },
    })
    await expectRefused(scene, service, body, 'invalid_permit2_recipient_mismatch')
  })

  it.each(['9999', '10001'])('is refused for another amount: %s instead of 10000', async (amount) => {
    const service = await scene.open()
    const permitted = { token: scene.chain.token.verifyingContract, amount }
    const { body } = await planPermit(scene, { balance: 50_000n, permit: { permitted } })
    await expectRefused(scene, service, body, 'permit2_amount_mismatch')
  })

  it('is refused for another token', async () => {
    const service = await scene.open()
    const permitted = { token: randomAddress(), amount: '10000' }
    const { body } = await planPermit(scene, { permit: { permitted } })
    await expectRefused(scene, service, body, 'permit2_token_mismatch')
  })

  it('is refused when any field differs from what was signed', async () => {
    const service = await scene.open()
    const { body } = await planPermit(scene)
    const { permit2Authorization: permit } = body.paymentPayload.payload
    for (const change of [
      { nonce: '1' },
      { deadline: String(Number(permit.deadline) + 1) },
      { witness: { ...permit.witness, validAfter: '1' } },
    ]) {
      const payload = { ...body.paymentPayload.payload, permit2Authorization: { ...permit, ...change } }
      const forged = { ...body, paymentPayload: { ...body.paymentPayload, payload } }
      await expectRefused(scene, service, forged, 'invalid_permit2_signature')
    }
  })

  it('is refused when payer and recipient are the same', async () => {
    const service = await scene.open()
    const wallet = createEoa()
    const { body } = await planPermit(scene, { wallet, payTo: wallet.address })
    await expectRefused(scene, service, body, 'self_payment')
  })
})

describe('a permit of another asset transfer method', () => {
  it('is no EIP-3009 payment, and an EIP-3009 payment is no permit', async () => {
    const service = await scene.open()
    const { chain } = scene
    const { body, wallet, payTo } = await planPermit(scene)
    const { assetTransferMethod: _, ...domain } = body.paymentRequirements.extra
    const asked = { ...body.paymentRequirements, extra: { ...domain, assetTransferMethod: 'eip3009' } }
    const asEip3009 = {
      ...body,
      paymentPayload: { ...body.paymentPayload, accepted: asked },
      paymentRequirements: asked,
    }
    await expectRefused(scene, service, asEip3009, 'invalid_payload_structure')

    const transfer = await exactPayment({ chain, wallet, payTo, requirements: body.paymentRequirements })
    await expectRefused(scene, service, transfer, 'invalid_payload_structure')
  })

  it('is settled by its form when the requirements name no method', async () => {
    const service = await scene.open()
    const { name, version } = scene.chain.token
    const { body, payTo } = await planPermit(scene, { requirements: { extra: { name, version } } })
    expect(await service.settle(body)).toMatchObject({ success: true })
    expect(await scene.chain.balanceOf(payTo)).toBe(10_000n)
  })

  it('cannot be replayed under the other name of the same payment', async () => {
    const service = await scene.open()
    const { name, version } = scene.chain.token
    const { body, payTo } = await planPermit(scene, { balance: 50_000n })
    expect(await service.settle(body)).toMatchObject({ success: true })
    const asked = { ...body.paymentRequirements, extra: { name, version } }
    const replay = {
      ...body,
      paymentPayload: { ...body.paymentPayload, accepted: asked },
      paymentRequirements: asked,
    }
    expect(await service.settle(replay)).toMatchObject({
      success: false,
      errorReason: 'duplicate_settlement',
    })
    expect(await scene.chain.balanceOf(payTo)).toBe(10_000n)
  })

  it('is settled beside an EIP-3009 payment of the same payer, recipient and amount', async () => {
    const service = await scene.open()
    const { chain } = scene
    const { body, wallet, payTo } = await planPermit(scene, { balance: 20_000n })
    const transfer = await exactPayment({ chain, wallet, payTo })
    const answers = await Promise.all([service.settle(body), service.settle(transfer)])
    expect(answers).toMatchObject([{ success: true }, { success: true }])
    expect(await chain.balanceOf(payTo)).toBe(20_000n)
    expect(answers[0].transaction).not.toBe(answers[1].transaction)
  })

  it('earns one success when the balance covers only one of both', async () => {
    const service = await scene.open({ environment: quickFinality(scene) })
    const { chain } = scene
    const { body, wallet, payTo } = await planPermit(scene)
    const transfer = await exactPayment({ chain, wallet, payTo })
    const answers = await Promise.all([service.settle(body), service.settle(transfer)])
    expect(answers.filter(({ success }) => success)).toHaveLength(1)
    expect(await chain.balanceOf(payTo)).toBe(10_000n)
  })
})

describe('A4: concurrent settlements of one permit', () => {
  it('earn one success across resources and callers', async () => {
    const service = await scene.open()
    const { body, payTo } = await planPermit(scene, { balance: 100_000n })
    const requests = Array.from({ length: 8 }, (_, index) => {
      const resource = { ...body.paymentPayload.resource, url: `https://merchant.example/${index}` }
      const other = { ...body, paymentPayload: { ...body.paymentPayload, resource } }
      return service.settle(other, `caller-${index % 3}`)
    })
    const answers = await Promise.all(requests)
    expect(answers.filter(({ success }) => success)).toHaveLength(1)
    expect(await scene.chain.balanceOf(payTo)).toBe(10_000n)
  })
})

describe('A5: a payer who revokes the payment', () => {
  it.each<[string, string, (wallet: EoaWallet, body: PermitPaymentBody) => Promise<unknown>]>([
    ['by invalidating the nonce', 'permit2_invalid_nonce', invalidate],
    [
      'by revoking the allowance',
      'permit2_allowance_required',
      ({ address }) => setUsdcAllowance(scene.chain, address, 0n),
    ],
    ['by moving the balance', 'insufficient_funds', (wallet) => sweep(scene, wallet, 1n)],
  ])('%s between verify and settle is refused as %s', async (_how, reason, revoke) => {
    const service = await scene.open()
    const { body, wallet } = await planPermit(scene)
    expect(await service.verify(body)).toMatchObject({ isValid: true })
    await revoke(wallet, body)
    await expectRefused(scene, service, body, reason)
  })

  it('by invalidating the nonce before our transaction is mined fails, with proof', async () => {
    const { settleAfter, service } = await openSlow(scene)
    const { body, wallet, payTo } = await planPermit(scene)
    const answer = await settleAfter(body, () => invalidate(wallet, body))
    expect(await readOneBlockLater(scene, service, answer)).toMatchObject({
      errorReason: 'permit2_invalid_nonce',
      status: 'failed',
    })
    expect(await scene.chain.balanceOf(payTo)).toBe(0n)
  })

  it.each<[string, { readonly amount?: bigint; readonly to?: Address }]>([
    ['on other terms', {}],
    // Neither Permit2 nor the token says whose transfer it is; x402's proxy did not make it.
    ['on equal terms, but not by the proxy', { amount: 10_000n }],
  ])('by spending the nonce %s fails in a final block, although no event shows it', async (_what, change) => {
    const { proxy, service } = await openSlow(scene, impatient)
    const { body, wallet, payTo } = await planPermit(scene, { balance: 50_000n })
    proxy.setFault('eth_sendRawTransaction', { kind: 'refuse' })
    const pending = await service.settle(body)
    expect(pending).toMatchObject({ errorReason: 'settlement_pending' })
    const to = change.amount === undefined ? randomAddress() : payTo
    await spendNonceElsewhere(scene.chain, wallet, body.paymentPayload.payload.permit2Authorization, {
      ...change,
      to,
    })
    const read = () => service.core.useCases.core.getSettlement(pending.settlementId ?? '')
    await service.reconcile()
    expect(await read()).toMatchObject({ status: 'pending' })
    expect(await readOneBlockLater(scene, service, pending)).toMatchObject({
      errorReason: 'permit2_invalid_nonce',
      status: 'failed',
    })
  })

  it('by revoking the allowance before our transaction is mined fails', async () => {
    const { settleAfter, service } = await openSlow(scene)
    const { body, payer, payTo } = await planPermit(scene)
    const answer = await settleAfter(body, () => setUsdcAllowance(scene.chain, payer, 0n))
    expect(await readOneBlockLater(scene, service, answer)).toMatchObject({
      errorReason: 'invalid_exact_evm_transaction_failed',
      status: 'failed',
    })
    expect(await scene.chain.balanceOf(payTo)).toBe(0n)
  })
})

describe('a payer who has not approved Permit2', () => {
  it('is refused as permit2_allowance_required until the approval covers the amount', async () => {
    const service = await scene.open()
    const { body, wallet } = await planPermit(scene, { allowance: 9_999n })
    await expectRefused(scene, service, body, 'permit2_allowance_required')
    await approvePermit2(scene.chain, wallet, scene.chain.token.verifyingContract, 10_000n)
    expect(await service.settle(body)).toMatchObject({ success: true })
  })
})

describe('A10: a token that does not pay the permitted amount', () => {
  const plan = async (name: 'LyingToken' | 'FeeOnTransferToken', args: readonly unknown[] = []) => {
    const token = await deployTestToken(scene.chain, name, args)
    const wallet = createEoa()
    const payTo = createEoa().address
    await token.mint(wallet.address, 10_000n)
    await approvePermit2(scene.chain, wallet, token.address)
    return { token, payTo, body: await permitPayment({ chain: token, wallet, payTo }) }
  }
  const listing = (address: string) => ({ [`EVM_TOKENS_${scene.chain.chainId}`]: address })

  it.each(lies)('is refused where any token is accepted: lies, %s', async (lie) => {
    const service = await scene.open({ environment: listing('*') })
    const { body } = await plan('LyingToken', [lies.indexOf(lie)])
    await expectRefused(scene, service, body, 'invalid_exact_evm_transfer_event_mismatch')
  })

  it.each(['saysNothing', 'saysWrongValue', 'saysWrongRecipient'] as const)(
    'earns no success although the operator listed it: lies, %s',
    async (lie) => {
      const { token, body, payTo } = await plan('LyingToken', [lies.indexOf(lie)])
      const service = await scene.open({
        environment: { ...quickFinality(scene), ...listing(token.address) },
      })
      expect(await readOneBlockLater(scene, service, await service.settle(body))).toMatchObject({
        errorReason: 'invalid_exact_evm_transfer_event_mismatch',
        status: 'failed',
      })
      expect(await token.balanceOf(payTo)).toBeLessThan(10_000n)
    },
  )

  it('earns no success with an undisclosed transfer fee', async () => {
    const { token, body } = await plan('FeeOnTransferToken')
    const service = await scene.open({ environment: { ...quickFinality(scene), ...listing(token.address) } })
    expect(await readOneBlockLater(scene, service, await service.settle(body))).toMatchObject({
      errorReason: 'invalid_exact_evm_transfer_event_mismatch',
      status: 'failed',
    })
  })
})

describe('A15: a stranger who calls the proxy with the permit', () => {
  it('between verify and settle: refused as used', async () => {
    const service = await scene.open()
    const { body } = await planPermit(scene, { balance: 50_000n })
    expect(await service.verify(body)).toMatchObject({ isValid: true })
    await frontRun(body)
    await expectRefused(scene, service, body, 'permit2_invalid_nonce')
  })

  it("before our transaction is mined: success once, with the stranger's transaction", async () => {
    const { settleAfter, service } = await openSlow(scene)
    const { body, payTo } = await planPermit(scene, { balance: 50_000n })
    let theirs = ''
    const answer = await settleAfter(body, async () => {
      theirs = await frontRun(body)
    })
    expect(answer).toMatchObject({ success: true, transaction: theirs, status: 'confirmed' })
    expect(await scene.chain.balanceOf(payTo)).toBe(10_000n)
    expect(await service.settle(body)).toMatchObject({ success: false, errorReason: 'duplicate_settlement' })
  })

  it('is found by another process, from the journal row alone, also inside another contract', async () => {
    for (const execute of [frontRun, (body: PermitPaymentBody) => settleNested([body])]) {
      const service = await scene.open({ environment: impatient })
      // An older payment with equal terms must not be taken for this one.
      const { body: older, wallet, payTo } = await planPermit(scene, { balance: 50_000n })
      await frontRun(older)
      const { body } = await planPermit(scene, { wallet, payTo })
      await scene.chain.control.setAutomine(false)
      const pending = await service.settle(body)
      expect(pending).toMatchObject({ errorReason: 'settlement_pending' })
      await service.core.close()
      await scene.chain.control.dropAllTransactions()
      await scene.chain.control.setAutomine(true)
      const theirs = await execute(body)
      const next = await scene.open()
      await reconcileUntil(next, pending, 'confirmed')
      expect(await next.settle(body)).toMatchObject({ success: true, transaction: theirs })
      expect(await scene.chain.balanceOf(payTo)).toBe(20_000n)
    }
  })

  it('earns no success by a plain transfer beside a permit of another token with the same nonce', async () => {
    const { settleAfter, service } = await openSlow(scene, impatient)
    const { body, wallet, payer, payTo } = await planPermit(scene, { balance: 20_000n })
    const { nonce } = body.paymentPayload.payload.permit2Authorization
    const worthless = await deployTestToken(scene.chain, 'No3009Token')
    await worthless.mint(payer, 1n)
    await approvePermit2(scene.chain, wallet, worthless.address)
    const using = await permitPayment({ chain: worthless, wallet, amount: 1n, permit: { nonce } })
    const usdc = scene.chain.token.verifyingContract
    const { account } = await funded(scene, wallet)
    const approve = { abi: erc20Abi, functionName: 'approve', args: [multicall3Address, 10_000n] } as const
    await scene.chain.send({ account, to: usdc, data: encodeFunctionData(approve) })
    const transfer = { abi: erc20Abi, functionName: 'transferFrom', args: [payer, payTo, 10_000n] } as const
    const calls = [
      { target: usdc, allowFailure: false, callData: encodeFunctionData(transfer) },
      { target: exactProxyAddress, allowFailure: false, callData: encodeSettle(using) },
      // Reverts, and brings the words of the permit into the calldata.
      { target: exactProxyAddress, allowFailure: true, callData: encodeSettle(body) },
    ] as const
    const answer = await settleAfter(body, async () => {
      const data = encodeFunctionData({ abi: multicall3Abi, functionName: 'aggregate3', args: [calls] })
      const { status } = await scene.chain.send({ account, to: multicall3Address, data, gas: 1_000_000n })
      expect(status).toBe('success')
    })
    expect(await isNonceUsed(scene.chain, body)).toBe(true)
    expect(await scene.chain.balanceOf(payTo)).toBe(10_000n)
    expect(answer).toMatchObject({ success: false })
    await scene.chain.control.mine()
    await service.reconcile()
    expect(await service.settle(body)).not.toMatchObject({ success: true })
  })

  it('with one payment for two permits in one transaction earns no second success', async () => {
    const { settleAfter, service } = await openSlow(scene, impatient)
    // Enough for one of the two: the other reverts inside Multicall3, and its nonce is invalidated.
    const { body: paid, wallet, payTo } = await planPermit(scene)
    const other = await permitPayment({ chain: scene.chain, wallet, payTo })
    await scene.chain.mint(wallet.address, 10_000n)
    const answer = await settleAfter(other, async () => {
      await sweep(scene, wallet, 10_000n)
      await invalidate(wallet, other)
      await settleNested([paid, other])
    })
    expect(await isNonceUsed(scene.chain, paid)).toBe(true)
    expect(await scene.chain.balanceOf(payTo)).toBe(10_000n)
    expect(answer).toMatchObject({ success: false })
    await service.reconcile()
    expect(await service.settle(other)).not.toMatchObject({ success: true })
  })
})

describe('after a crash', () => {
  it('a recorded permit that no node received is sent again, from the journal row alone', async () => {
    const proxy = await scene.openProxy()
    const service = await scene.open({ rpcUrls: [proxy.url], environment: impatient })
    const { body, payTo } = await planPermit(scene)
    proxy.setFault('eth_sendRawTransaction', { kind: 'refuse' })
    const pending = await service.settle(body)
    expect(pending).toMatchObject({ errorReason: 'settlement_pending' })
    await service.core.close()
    const next = await scene.open()
    await reconcileUntil(next, pending, 'confirmed')
    expect(await next.settle(body)).toMatchObject({ success: true, transaction: pending.transaction })
    expect(await scene.chain.balanceOf(payTo)).toBe(10_000n)
  })
})

describe('A18: a permit at the edge of its time', () => {
  it('that expires within seconds is valid, but not settled', async () => {
    const clock = standingClock()
    const service = await scene.open({ clock })
    const now = Math.floor(clock.now().getTime() / 1_000)
    const { body } = await planPermit(scene, { permit: { deadline: String(now + 4) } })
    expect(await service.verify(body)).toMatchObject({ isValid: true })
    expect(await service.settle(body)).toMatchObject({
      success: false,
      errorReason: 'permit2_deadline_expired',
    })
    expect(await countSent(scene, service)).toBe(0)
  })

  it('that has expired or has not begun is refused', async () => {
    const service = await scene.open()
    const late = await planPermit(scene, { permit: { deadline: String(unixNow() - 1) } })
    await expectRefused(scene, service, late.body, 'permit2_deadline_expired')
    const witness = { to: late.payTo, validAfter: String(unixNow() + 3_600) }
    const early = await planPermit(scene, { payTo: late.payTo, permit: { witness } })
    await expectRefused(scene, service, early.body, 'permit2_not_yet_valid')
  })

  it('whose times fill 256 bits is settled', async () => {
    const service = await scene.open()
    const { body } = await planPermit(scene, { permit: { deadline: String(maxUint256) } })
    expect(await service.settle(body)).toMatchObject({ success: true })
  })
})

describe('A19: another encoding of a permit', () => {
  it.each([
    ['v as 0 or 1', toParityV],
    ['EIP-2098', toCompact],
  ])('settles: %s', async (_what, change) => {
    const service = await scene.open()
    const { body, payTo } = await planPermit(scene)
    expect(await service.settle(withSignature(body, change))).toMatchObject({ success: true })
    expect(await scene.chain.balanceOf(payTo)).toBe(10_000n)
    expect(await service.settle(body)).not.toMatchObject({ success: true, settlementId: '' })
  })

  it('with a high s is refused, although Permit2 takes it', async () => {
    const service = await scene.open()
    const { body } = await planPermit(scene)
    await expectRefused(scene, service, withSignature(body, toHighS), 'invalid_permit2_signature')
  })

  it('with an oversized signature is refused before anything reads it', async () => {
    const service = await scene.open()
    const { body } = await planPermit(scene)
    const oversized = withSignature(body, () => `0x${'11'.repeat(16_385)}`)
    await expectRefused(scene, service, oversized, 'invalid_payload_structure')
  })

  it('with a signature of no known form by a key is refused', async () => {
    const service = await scene.open()
    const { body } = await planPermit(scene)
    for (const signature of ['0x11', `0x${'11'.repeat(65)}`, `0x${'11'.repeat(500)}`] as const) {
      await expectRefused(
        scene,
        service,
        withSignature(body, () => signature),
        'invalid_permit2_signature',
      )
    }
  })
})

describe('a payment by Permit2', () => {
  it('in a token without EIP-3009 whose functions return nothing is settled', async () => {
    const { chain } = scene
    const token = await deployTestToken(chain, 'NoReturnToken')
    const service = await scene.open({
      environment: { [`EVM_TOKENS_${chain.chainId}`]: token.address },
    })
    const wallet = createEoa()
    const payTo = createEoa().address
    await token.mint(wallet.address, 10_000n)
    await approvePermit2(chain, wallet, token.address)
    const body = await permitPayment({ chain: token, wallet, payTo })
    expect(await service.verify(body)).toMatchObject({ isValid: true })
    expect(await service.settle(body)).toMatchObject({ success: true })
    expect(await token.balanceOf(payTo)).toBe(10_000n)
  })
})

describe('wallets', () => {
  it('a deployed contract wallet pays by EIP-1271', async () => {
    const service = await scene.open()
    const wallet = await createSoladyWallet(scene.chain)
    await deployWallet(scene.chain, wallet)
    const payTo = createEoa().address
    await scene.chain.mint(wallet.address, 10_000n)
    await setUsdcAllowance(scene.chain, wallet.address)
    const body = await permitPayment({ chain: scene.chain, wallet, payTo })
    expect(await service.verify(body)).toMatchObject({ isValid: true })
    expect(await service.settle(body)).toMatchObject({ success: true })
    expect(await scene.chain.balanceOf(payTo)).toBe(10_000n)
  })

  it('a wallet that refuses the signature is refused', async () => {
    const service = await scene.open()
    const wallet = await createMoodyWallet(scene.chain, 'refusesAll')
    await scene.chain.mint(wallet.address, 10_000n)
    await setUsdcAllowance(scene.chain, wallet.address)
    const body = await permitPayment({ chain: scene.chain, wallet })
    await expectRefused(scene, service, body, 'invalid_permit2_signature')
  })

  it('an account that delegates (EIP-7702) pays with code that checks its key, and is refused without', async () => {
    const service = await scene.open()
    for (const checksSignatures of [true, false]) {
      const wallet = await createDelegatedEoa(scene.chain, { checksSignatures })
      await scene.chain.mint(wallet.address, 10_000n)
      await setUsdcAllowance(scene.chain, wallet.address)
      const body = await permitPayment({ chain: scene.chain, wallet })
      expect(await service.verify(body)).toMatchObject({ isValid: checksSignatures })
      expect(await service.settle(body)).toMatchObject({ success: checksSignatures })
    }
    expect(await countSent(scene, service)).toBe(1)
  })
})
