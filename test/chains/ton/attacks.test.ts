import { beginCell, Cell, external, internal, storeMessage } from '@ton/core'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { pollUntil } from '../../support/pollUntil.js'
import { clientPaidPayment, sponsoredPayment, type TonPaymentBody } from '../../support/ton/payment.js'
import { randomAddress, randomKeys, type TestWallet } from '../../support/ton/wallets.js'
import { openScene, type Scene } from './scene.js'

let scene: Scene

beforeAll(async () => {
  scene = await openScene()
})
afterEach(() => scene.reset())
afterAll(() => scene.close())

const shortWait = { SETTLE_WAIT_SECONDS: '2' }

/** Sends a message without the facilitator. */
const sendBoc = async (boc: unknown) => {
  const response = await fetch(scene.chain.url, {
    method: 'POST',
    body: JSON.stringify({ id: 1, method: 'sendBoc', params: { boc } }),
  })
  return response.ok
}

/** The wallet sends another message, which uses its seqno. */
const useSeqno = async (wallet: TestWallet, isInternal = false) => {
  const seqno = await scene.chain.readSeqno(wallet)
  const body = wallet.sign({
    seqno,
    validUntil: scene.chain.ledger.now() + 60,
    messages: [internal({ to: wallet.address, value: 1n, bounce: false })],
    mode: 3,
    isInternal,
  })
  const message = external({ to: wallet.address, body })
  return await sendBoc(beginCell().store(storeMessage(message)).endCell().toBoc().toString('base64'))
}

const isRecorded = async ({ address }: TestWallet): Promise<boolean> => {
  const { rowCount } = await scene.database
    .pool()
    .query(`select 1 from settlements where payer = $1 and state = 'pending'`, [address.toRawString()])
  return (rowCount ?? 0) > 0
}

const signedBocOf = ({ paymentPayload }: TonPaymentBody) => paymentPayload.payload.signedBoc

describe('a relayed payment', () => {
  it('with a wrong signature is refused before anything is sent', async () => {
    const { chain } = scene
    const proxy = await scene.openProxy()
    const service = await scene.open({ url: proxy.url })
    for (const isDeployed of [true, false]) {
      const wallet = await chain.createPayer({ nanoTon: 0n, isDeployed })
      const body = await sponsoredPayment({ chain, wallet, payTo: randomAddress(), signer: randomKeys() })
      const before = await scene.sumRelayBalances()
      expect(await service.settle(body)).toMatchObject({
        success: false,
        errorReason: 'message_verification_failed',
        transaction: '',
      })
      expect(await scene.sumRelayBalances()).toBe(before)
    }
    expect(proxy.count('sendBoc')).toBe(0)
  })

  it('earns one success for any caller, however the message is signed', async () => {
    const { chain } = scene
    const service = await scene.open()
    const wallet = await chain.createPayer({ nanoTon: 0n })
    const payTo = randomAddress()
    const request = { chain, wallet, payTo, seqno: 0, queryId: 7n, validUntil: chain.ledger.now() + 60 }
    const body = await sponsoredPayment(request)
    // The same authorization with other signature bytes.
    const resigned = await sponsoredPayment({ ...request, signer: randomKeys() })
    expect(resigned.paymentPayload.payload).not.toEqual(body.paymentPayload.payload)
    expect(await service.settle(body)).toMatchObject({ success: true })
    const balanceAfter = await scene.sumRelayBalances()
    for (const again of [body, resigned]) {
      expect(await service.settle(again)).toMatchObject({
        success: false,
        errorReason: 'duplicate_settlement',
      })
    }
    expect(await scene.sumRelayBalances()).toBe(balanceAfter)
    expect(await chain.token.balanceOf(payTo)).toBe(1_000_000n)
    expect(await service.verify(body)).toMatchObject({ isValid: false })
  })

  it('is refused without cost when the wallet used its seqno between verify and settle', async () => {
    const { chain } = scene
    const service = await scene.open()
    const wallet = await chain.createPayer()
    const body = await sponsoredPayment({ chain, wallet, payTo: randomAddress() })
    expect(await service.verify(body)).toMatchObject({ isValid: true })
    expect(await useSeqno(wallet)).toBe(true)
    const before = await scene.sumRelayBalances()
    expect(await service.settle(body)).toMatchObject({ success: false, errorReason: 'seqno_already_used' })
    expect(await scene.sumRelayBalances()).toBe(before)
  })

  it('is never a success when the wallet uses its seqno while our message is in flight', async () => {
    const { chain } = scene
    const service = await scene.open({ environment: shortWait })
    const wallet = await chain.createPayer()
    const payTo = randomAddress()
    const body = await sponsoredPayment({ chain, wallet, payTo })
    const before = await scene.sumRelayBalances()
    chain.ledger.setDelays({ inclusionMs: 0, hopMs: 400 })
    const settling = service.settle(body)
    // Our wallet has sent the message; the payer's has not received it.
    await pollUntil(async () => (await scene.sumRelayBalances()) < before, 'the message to leave')
    chain.ledger.setDelays({ inclusionMs: 0, hopMs: 0 })
    expect(await useSeqno(wallet)).toBe(true)
    expect(await settling).toMatchObject({ success: false, errorReason: 'settlement_pending' })
    await chain.ledger.settle()
    expect(before - (await scene.sumRelayBalances())).toBeLessThan(12_000_000n)
    expect(await chain.token.balanceOf(payTo)).toBe(0n)
    // Final only after the message has expired.
    await service.reconcile()
    expect(await service.settle(body)).toMatchObject({ errorReason: 'settlement_pending' })
    chain.ledger.warp(130)
    await service.reconcile()
    expect(await service.settle(body)).toMatchObject({ success: false, errorReason: 'authorization_expired' })
  })

  it('succeeds once when another relayer sends it first', async () => {
    const { chain } = scene
    const service = await scene.open()
    const wallet = await chain.createPayer({ nanoTon: 0n })
    const otherRelayer = await chain.createPayer({ kind: 'v4r2' })
    const payTo = randomAddress()
    const body = await sponsoredPayment({ chain, wallet, payTo })
    chain.ledger.setDelays({ inclusionMs: 300, hopMs: 0 })
    const settling = service.settle(body)
    const { settlementBoc } = body.paymentPayload.payload
    await pollUntil(() => isRecorded(wallet), 'the message to be recorded')
    const relayed = otherRelayer.sign({
      seqno: 0,
      validUntil: chain.ledger.now() + 60,
      messages: [
        internal({
          to: wallet.address,
          value: 100_000_000n,
          bounce: true,
          body: bodyOf(String(settlementBoc)),
        }),
      ],
      mode: 3,
    })
    const outer = external({ to: otherRelayer.address, body: relayed })
    expect(await sendBoc(beginCell().store(storeMessage(outer)).endCell().toBoc().toString('base64'))).toBe(
      true,
    )
    expect(await settling).toMatchObject({ success: true })
    await chain.ledger.settle()
    expect(await chain.token.balanceOf(payTo)).toBe(1_000_000n)
    expect(await service.settle(body)).toMatchObject({ errorReason: 'duplicate_settlement' })
  })
})

describe('a client-paid payment', () => {
  it('fails when the seqno is used but nothing was sent', async () => {
    const { chain } = scene
    const service = await scene.open()
    const wallet = await chain.createPayer({ kind: 'v5r1', nanoTon: 200_000_000n })
    const payTo = randomAddress()
    const body = await clientPaidPayment({ chain, wallet, payTo, mode: 3 })
    chain.ledger.setDelays({ inclusionMs: 200, hopMs: 0 })
    const settling = service.settle(body)
    await pollUntil(() => isRecorded(wallet), 'the message to be recorded')
    await chain.drain(wallet.address, 150_000_000n)
    expect(await settling).toMatchObject({ success: false, errorReason: 'transaction_failed' })
    expect(await chain.readSeqno(wallet)).toBe(1)
    expect(await chain.token.balanceOf(payTo)).toBe(0n)
  })

  it('stays pending while a v4 wallet may still accept the same message', async () => {
    const { chain } = scene
    const service = await scene.open({ environment: shortWait })
    const wallet = await chain.createPayer({ kind: 'v4r2', nanoTon: 200_000_000n })
    const payTo = randomAddress()
    const body = await clientPaidPayment({ chain, wallet, payTo, mode: 1 })
    chain.ledger.setDelays({ inclusionMs: 200, hopMs: 0 })
    const settling = service.settle(body)
    await pollUntil(() => isRecorded(wallet), 'the message to be recorded')
    await chain.drain(wallet.address, 150_000_000n)
    expect(await settling).toMatchObject({ success: false, errorReason: 'settlement_pending' })
    chain.ledger.setDelays({ inclusionMs: 0, hopMs: 0 })
    // Executed without effect: the seqno is not used.
    expect(await chain.readSeqno(wallet)).toBe(0)
    const balanceAfter = await chain.balanceOf(wallet.address)
    await service.reconcile()
    // A retry would cost the payer: it is not sent again.
    expect(await chain.balanceOf(wallet.address)).toBe(balanceAfter)
    await chain.fund(wallet.address, 1_000_000_000n)
    expect(await sendBoc(signedBocOf(body))).toBe(true)
    await service.reconcile()
    expect(await chain.token.balanceOf(payTo)).toBe(1_000_000n)
    expect(await service.settle(body)).toMatchObject({ success: true })
    expect(await service.settle(body)).toMatchObject({ errorReason: 'duplicate_settlement' })
  })

  it('fails once the message has expired without effect', async () => {
    const { chain } = scene
    const service = await scene.open({ environment: shortWait })
    const wallet = await chain.createPayer({ kind: 'v4r2' })
    const payTo = randomAddress()
    const body = await clientPaidPayment({ chain, wallet, payTo })
    chain.ledger.setDropping(true)
    const answer = await service.settle(body)
    expect(answer).toMatchObject({ success: false, errorReason: 'settlement_pending' })
    await service.reconcile()
    chain.ledger.setDropping(false)
    chain.ledger.warp(130)
    await service.reconcile()
    const { transaction } = answer
    const { getSettlementByTransaction } = service.core.useCases.core
    expect(await getSettlementByTransaction({ network: chain.network, transaction })).toMatchObject({
      status: 'failed',
      errorReason: 'authorization_expired_unsettled',
    })
    expect(await sendBoc(signedBocOf(body))).toBe(false)
    expect(await chain.token.balanceOf(payTo)).toBe(0n)
  })

  it('is sent again after the nodes lost its message', async () => {
    const { chain } = scene
    const service = await scene.open({ environment: shortWait })
    const wallet = await chain.createPayer({ kind: 'v3r2' })
    const payTo = randomAddress()
    const body = await clientPaidPayment({ chain, wallet, payTo })
    chain.ledger.setDropping(true)
    expect(await service.settle(body)).toMatchObject({ errorReason: 'settlement_pending' })
    chain.ledger.setDropping(false)
    await service.reconcile()
    await service.reconcile()
    expect(await service.settle(body)).toMatchObject({ success: true })
    expect(await chain.token.balanceOf(payTo)).toBe(1_000_000n)
  })

  it('fails when the jetton wallet of the recipient rejects, and the payer keeps the jettons', async () => {
    const { chain } = scene
    const service = await scene.open()
    const wallet = await chain.createPayer()
    const payTo = randomAddress()
    await chain.deployRejecting(chain.token.walletOf(payTo))
    const body = await clientPaidPayment({ chain, wallet, payTo })
    expect(await service.settle(body)).toMatchObject({ success: false, errorReason: 'transaction_failed' })
    expect(await chain.token.balanceOf(wallet.address)).toBe(10_000_000n)
  })

  it('fails when the attached TON is not enough for the jetton wallet', async () => {
    const { chain } = scene
    const service = await scene.open()
    const wallet = await chain.createPayer()
    const payTo = randomAddress()
    const body = await clientPaidPayment({ chain, wallet, payTo, nanoTon: 21_000_000n })
    expect(await service.settle(body)).toMatchObject({ success: false, errorReason: 'transaction_failed' })
    expect(await chain.token.balanceOf(payTo)).toBe(0n)
    expect(await chain.token.balanceOf(wallet.address)).toBe(10_000_000n)
  })
})

const bodyOf = (settlementBoc: string): Cell => {
  const [body] = Cell.fromBase64(settlementBoc).refs
  if (body === undefined) throw new Error('The body is not in a reference')
  return body
}
