import { type Address, beginCell, Cell, external, internal, storeMessage } from '@ton/core'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { reconcileUntil } from '../../support/coreClient.js'
import { createMemoryLogger } from '../../support/memoryLogger.js'
import { pollUntil } from '../../support/pollUntil.js'
import {
  clientPaidPayment,
  provenAfterSeconds,
  sponsoredPayment,
  type TonPaymentBody,
} from '../../support/ton/payment.js'
import { randomAddress, randomKeys, type TestWallet } from '../../support/ton/wallets.js'
import { useScene } from '../../support/useScene.js'
import { openScene } from './scene.js'

const scene = useScene(openScene)
afterEach(() => vi.useRealTimers())

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

/** Sends messages of a little TON to an address, each of which is a transaction there. */
const sendMany = async (from: TestWallet, to: Address, count: number) => {
  const message = internal({ to, value: 1_000_000n, bounce: false })
  const body = from.sign({
    seqno: await scene.chain.readSeqno(from),
    validUntil: scene.chain.ledger.now() + 60,
    messages: Array.from({ length: count }, () => message),
    mode: 3,
  })
  const boc = beginCell()
    .store(storeMessage(external({ to: from.address, body })))
    .endCell()
    .toBoc()
  expect(await sendBoc(boc.toString('base64'))).toBe(true)
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
    const validUntil = chain.ledger.now() + 300
    const request = { chain, wallet, payTo, seqno: 0, queryId: 7n, validUntil }
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
    chain.ledger.hold('hop')
    const settling = service.settle(body)
    // Our wallet has sent the message; the payer's has not received it.
    await pollUntil(async () => (await scene.sumRelayBalances()) < before, 'the message to leave')
    chain.ledger.hold(null)
    expect(await useSeqno(wallet)).toBe(true)
    chain.ledger.release()
    const pending = await settling
    expect(pending).toMatchObject({ success: false, errorReason: 'settlement_pending' })
    await chain.ledger.settle()
    expect(before - (await scene.sumRelayBalances())).toBeLessThan(12_000_000n)
    expect(await chain.token.balanceOf(payTo)).toBe(0n)
    // Final only after the message has expired.
    await service.reconcile()
    expect(await service.settle(body)).toMatchObject({ errorReason: 'settlement_pending' })
    chain.ledger.warp(provenAfterSeconds)
    await reconcileUntil(service, pending, 'failed')
    expect(await service.settle(body)).toMatchObject({ success: false, errorReason: 'authorization_expired' })
    // It has cost the relay wallet: the payer is not sponsored again for a day.
    const again = await sponsoredPayment({ chain, wallet, payTo })
    expect(await service.verify(again)).toMatchObject({ invalidReason: 'payer_not_sponsored' })
    expect(await service.verify(again, 'an-account')).toMatchObject({ invalidReason: 'payer_not_sponsored' })
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
    chain.ledger.hold('inclusion')
    const settling = service.settle(body)
    await pollUntil(chain.ledger.isUnderWay, 'the message to be accepted')
    await chain.drain(wallet.address, 150_000_000n)
    chain.ledger.release()
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
    chain.ledger.hold('inclusion')
    const settling = service.settle(body)
    await pollUntil(chain.ledger.isUnderWay, 'the message to be accepted')
    await chain.drain(wallet.address, 150_000_000n)
    chain.ledger.release()
    const pending = await settling
    expect(pending).toMatchObject({ success: false, errorReason: 'settlement_pending' })
    await chain.ledger.settle()
    // Executed without effect: the seqno is not used.
    expect(await chain.readSeqno(wallet)).toBe(0)
    const balanceAfter = await chain.balanceOf(wallet.address)
    await service.reconcile()
    // A retry would cost the payer: it is not sent again.
    expect(await chain.balanceOf(wallet.address)).toBe(balanceAfter)
    await chain.fund(wallet.address, 1_000_000_000n)
    expect(await sendBoc(signedBocOf(body))).toBe(true)
    await reconcileUntil(service, pending, 'confirmed')
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
    chain.ledger.warp(provenAfterSeconds)
    await reconcileUntil(service, answer, 'failed')
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
    const pending = await service.settle(body)
    expect(pending).toMatchObject({ errorReason: 'settlement_pending' })
    chain.ledger.setDropping(false)
    await reconcileUntil(service, pending, 'confirmed')
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

/** What payer and recipient own in nanoTON; the jetton wallets' balances belong to the jetton's code. */
const sumOwned = async (wallet: TestWallet, payTo: Address): Promise<bigint> => {
  const balances = await Promise.all([wallet.address, payTo].map(scene.chain.balanceOf))
  return balances.reduce((sum, balance) => sum + balance, 0n)
}

describe('A46: a payer and a merchant in one hand', () => {
  const most = { TON_MAX_RELAY_NANOTON: '60000000' }

  it.each([
    ['by a forward amount', { nanoTon: 55_000_000n, forwardNanoTon: 10_000_000n, isNamed: true }],
    ['by keeping the excess', { nanoTon: 60_000_000n, forwardNanoTon: 0n, isNamed: false }],
    ['by both', { nanoTon: 60_000_000n, forwardNanoTon: 10_000_000n, isNamed: false }],
  ])('take no TON of the relay wallet %s', async (_, { isNamed, ...amounts }) => {
    const { chain } = scene
    const service = await scene.open({ environment: most })
    const wallet = await chain.createPayer({ nanoTon: 0n })
    const payTo = randomAddress()
    const body = await sponsoredPayment({
      chain,
      wallet,
      payTo,
      ...amounts,
      ...(isNamed ? {} : { responseDestination: null }),
      extra: { forwardTonAmount: amounts.forwardNanoTon.toString() },
    })
    const [before, owned] = [await scene.sumRelayBalances(), await sumOwned(wallet, payTo)]
    expect(await service.verify(body)).toMatchObject({ isValid: false, payer: wallet.address.toRawString() })
    expect(await service.settle(body)).toMatchObject({ success: false, transaction: '' })
    expect(await scene.sumRelayBalances()).toBe(before)
    expect(await sumOwned(wallet, payTo)).toBe(owned)
  })

  it('keep at most the rest of what their wallets need for gas', async () => {
    const { chain } = scene
    const service = await scene.open({ environment: most })
    const wallet = await chain.createPayer({ nanoTon: 0n })
    const payTo = randomAddress()
    const pay = async () =>
      service.settle(await sponsoredPayment({ chain, wallet, payTo, nanoTon: 60_000_000n }))
    expect(await pay()).toMatchObject({ success: true })
    expect(await sumOwned(wallet, payTo)).toBeLessThan(4_000_000n)
  })

  it('may use the form of published clients, which name no response destination, within its limits', async () => {
    const { chain } = scene
    const zeroBit = beginCell().storeBit(0).endCell()
    const extra = {
      areFeesSponsored: true,
      forwardPayload: zeroBit.toBoc().toString('base64'),
      forwardTonAmount: '0',
    }
    const published = async (nanoTon: bigint) => {
      const wallet = await chain.createPayer({ nanoTon: 0n })
      const payment = { chain, wallet, payTo: randomAddress(), nanoTon, queryId: 0n }
      return await sponsoredPayment({ ...payment, responseDestination: null, forwardPayload: zeroBit, extra })
    }
    const byDefault = await scene.open({ environment: { TON_MIN_RELAY_NANOTON: '30000000' } })
    expect(await byDefault.verify(await published(30_000_000n))).toMatchObject({ isValid: true })
    expect(await byDefault.verify(await published(30_000_001n))).toMatchObject({
      invalidReason: 'invalid_exact_tvm_payload_attached_ton_amount_too_high',
    })
    const open = await scene.open({ environment: { TON_MAX_UNRETURNED_NANOTON: '45000000' } })
    expect(await open.settle(await published(45_000_000n))).toMatchObject({ success: true })
    const closed = await scene.open({
      environment: { TON_MIN_RELAY_NANOTON: '30000000', TON_MAX_UNRETURNED_NANOTON: '0' },
    })
    expect(await closed.verify(await published(30_000_000n))).toMatchObject({ isValid: false })
  })

  it('draw the fees of the relay message from the hourly budget beside the attached TON', async () => {
    const { chain } = scene
    // Of which the part for everyone is what one payment attaches.
    const environment = { TON_RELAY_BUDGET_NANOTON_PER_HOUR_testnet: '93333334' }
    const service = await scene.open({ environment })
    const wallet = await chain.createPayer({ nanoTon: 0n })
    const body = await sponsoredPayment({ chain, wallet, payTo: randomAddress(), nanoTon: 50_000_000n })
    const before = await scene.sumRelayBalances()
    await expect(service.settle(body)).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' })
    expect(await scene.sumRelayBalances()).toBe(before)
  })
})

const hasMissedDeadline = (error: unknown): boolean =>
  error instanceof Error && (error.message === 'The deadline passed' || hasMissedDeadline(error.cause))

describe('A46: a wallet that strangers send many transactions to', () => {
  it('stays pending while its transactions are read in bounded steps, and is confirmed by a later one', async () => {
    const { chain } = scene
    const logger = createMemoryLogger()
    const proxy = await scene.openProxy()
    const first = await scene.open({ url: proxy.url, environment: shortWait })
    const wallet = await chain.createPayer()
    const payTo = randomAddress()
    const body = await clientPaidPayment({ chain, wallet, payTo })
    proxy.setFault('getTransactions', { kind: 'error', code: 500, message: 'not now' })
    expect(await first.settle(body)).toMatchObject({ errorReason: 'settlement_pending' })
    await pollUntil(async () => (await chain.token.balanceOf(payTo)) === 1_000_000n, 'the payment to arrive')
    await chain.ledger.settle()
    const stranger = await chain.createPayer()
    for (let sent = 0; sent < 11; sent++) await sendMany(stranger, wallet.address, 5)

    // One transaction a page stands for a wallet with more transactions than one call reads.
    proxy.setFault('getTransactions', {
      kind: 'rewrite',
      change: ([params]) => [{ ...Object(params), limit: 1 }],
    })
    // A process that has read nothing yet.
    const service = await scene.open({ url: proxy.url, environment: shortWait, logger })
    const statusOf = async () => {
      await service.reconcile()
      const { rows } = await scene.database
        .pool()
        .query('select state from settlements where payer = $1', [wallet.address.toRawString()])
      return rows[0]?.state
    }
    proxy.clearCalls()
    // The pause after the first step does not end.
    vi.useFakeTimers({ toFake: ['performance'] })
    expect(await statusOf()).toBe('pending')
    expect(proxy.count('getTransactions')).toBeLessThan(51)
    const read = proxy.count('getTransactions')
    expect(await statusOf()).toBe('pending')
    // A pause between the steps keeps one wallet from using up the rate limit.
    expect(proxy.count('getTransactions')).toBe(read)
    vi.useRealTimers()
    await pollUntil(async () => (await statusOf()) === 'confirmed', 'the payment to be found')
    const failures = logger.lines.filter(({ message }) => message === 'settlement.resolve_failed')
    // A busy machine may not read fifty pages in the time of a round, which reads the last ones again.
    expect(failures.filter(({ fields: { error } }) => !hasMissedDeadline(error))).toEqual([])
    // What was read is not read again.
    if (failures.length === 0) expect(proxy.count('getTransactions')).toBeLessThan(62)
    expect(await service.settle(body)).toMatchObject({ success: true })
  })

  it('is not judged by a list that leaves out one of its transactions', async () => {
    const { chain } = scene
    const proxy = await scene.openProxy()
    const service = await scene.open({ url: proxy.url, environment: shortWait })
    const [wallet, stranger] = [await chain.createPayer(), await chain.createPayer()]
    await sendMany(stranger, wallet.address, 1)
    const payTo = randomAddress()
    const body = await clientPaidPayment({ chain, wallet, payTo })
    // The node leaves out the payment, between a stranger's transaction and the excess that returned.
    proxy.setFault('getTransactions', {
      kind: 'tamper',
      change: (result) => (Array.isArray(result) && result.length > 2 ? result.toSpliced(-2, 1) : result),
    })
    const pending = await service.settle(body)
    expect(pending).toMatchObject({ errorReason: 'settlement_pending' })
    await pollUntil(async () => (await chain.token.balanceOf(payTo)) === 1_000_000n, 'the payment to arrive')
    await chain.ledger.settle()
    chain.ledger.warp(provenAfterSeconds)
    await service.reconcile()
    expect(await isRecorded(wallet)).toBe(true)
    proxy.clearFaults()
    await reconcileUntil(service, pending, 'confirmed')
    expect(await service.settle(body)).toMatchObject({ success: true })
  })
})

describe('A41: a failure that one endpoint reports', () => {
  it('above the cross-check amount needs every endpoint that responds', async () => {
    const { chain } = scene
    const liars = [await scene.openProxy(), await scene.openProxy()]
    const service = await scene.open({
      url: [...liars, chain].map(({ url }) => url).join(','),
      environment: { ...shortWait, TON_CROSS_CHECK_AMOUNT: '1000000' },
    })
    const wallet = await chain.createPayer()
    const payer = wallet.address.toRawString()
    for (const liar of liars) {
      liar.setFault('getAddressInformation', {
        kind: 'tamper',
        change: (result, [params]) =>
          JSON.stringify(params).includes(payer)
            ? { ...Object(result), last_transaction_id: { lt: '0', hash: '' } }
            : result,
      })
    }
    const payTo = randomAddress()
    const body = await clientPaidPayment({ chain, wallet, payTo })
    const pending = await service.settle(body)
    expect(pending).toMatchObject({ errorReason: 'settlement_pending' })
    await pollUntil(async () => (await chain.token.balanceOf(payTo)) === 1_000_000n, 'the payment to arrive')
    await chain.ledger.settle()
    chain.ledger.warp(provenAfterSeconds)
    await service.reconcile()
    expect(await isRecorded(wallet)).toBe(true)
    for (const liar of liars) liar.clearFaults()
    await reconcileUntil(service, pending, 'confirmed')
    expect(await service.settle(body)).toMatchObject({ success: true })
  })
})

describe('A59: what a refusal says', () => {
  const forms = [
    ['client-paid', clientPaidPayment],
    ['relayed', sponsoredPayment],
  ] as const

  it.each(forms)('names the payer of a %s message that holds no single transfer', async (_, sign) => {
    const { chain } = scene
    const service = await scene.open()
    const wallet = await chain.createPayer()
    const body = await sign({ chain, wallet, payTo: randomAddress(), messages: [] })
    const payer = wallet.address.toRawString()
    expect(await service.verify(body)).toMatchObject({ isValid: false, payer })
    expect(await service.settle(body)).toMatchObject({ success: false, payer })
  })

  it.each([
    ['cannot be read', { signedBoc: 'AAAA' }],
    ['is missing', { signedBoc: undefined }],
  ])('names the payer of the authorization when the message %s', async (_, change) => {
    const { chain } = scene
    const service = await scene.open()
    const wallet = await chain.createPayer()
    const body = await clientPaidPayment({ chain, wallet, payTo: randomAddress() })
    const { paymentPayload } = body
    const payload = { ...paymentPayload.payload, ...change }
    const changed = { ...body, paymentPayload: { ...paymentPayload, payload } }
    const payer = wallet.address.toRawString()
    expect(await service.verify(changed)).toMatchObject({ isValid: false, payer })
    expect(await service.settle(changed)).toMatchObject({ success: false, payer })
  })

  it.each(forms)('is duplicate_settlement in verify for a %s payment that was settled', async (_, sign) => {
    const { chain } = scene
    const service = await scene.open()
    const wallet = await chain.createPayer()
    const body = await sign({ chain, wallet, payTo: randomAddress() })
    expect(await service.settle(body)).toMatchObject({ success: true })
    expect(await service.verify(body)).toMatchObject({
      isValid: false,
      invalidReason: 'duplicate_settlement',
      payer: wallet.address.toRawString(),
    })
  })
})

const bodyOf = (settlementBoc: string): Cell => {
  const [body] = Cell.fromBase64(settlementBoc).refs
  if (body === undefined) throw new Error('The body is not in a reference')
  return body
}
