import type { Address } from '@ton/core'
import { describe, expect, it } from 'vitest'
import { reconcileUntil } from '../../support/coreClient.js'
import { clientPaidPayment, provenAfterSeconds, sponsoredPayment } from '../../support/ton/payment.js'
import { randomAddress } from '../../support/ton/wallets.js'
import { useScene } from '../../support/useScene.js'
import { openScene } from './scene.js'

const scene = useScene(openScene)

const createPayer = () => scene.chain.createPayer({ nanoTon: 0n })
const open = (environment: Readonly<Record<string, string>> = {}) =>
  scene.open({ environment: { SPONSORED_RECIPIENTS: '', ...environment } })

const pay = async (payTo: Address, amount = 1n) =>
  await sponsoredPayment({ chain: scene.chain, wallet: await createPayer(), payTo, amount })

const account = 'an-account'
const notSponsored = 'recipient_not_sponsored'

describe('a relayed payment whose caller has no API key', () => {
  it('is refused for a new recipient, by verify and by settle, at no cost', async () => {
    const service = await open()
    const payTo = randomAddress()
    const body = await pay(payTo)
    const before = await scene.sumRelayBalances()
    expect(await service.verify(body)).toMatchObject({
      isValid: false,
      invalidReason: notSponsored,
      retryable: false,
      payer: expect.stringMatching(/^0:[0-9a-f]{64}$/),
    })
    expect(await service.settle(body)).toMatchObject({
      success: false,
      errorReason: notSponsored,
      transaction: '',
    })
    await scene.chain.ledger.settle()
    expect(await scene.sumRelayBalances()).toBe(before)
    expect(await scene.chain.token.balanceOf(payTo)).toBe(0n)
  })

  it('is relayed to a recipient that a caller with a key has paid, in every instance', async () => {
    const [service, other] = [await open(), await open()]
    const payTo = randomAddress()
    expect(await service.verify(await pay(payTo))).toMatchObject({ invalidReason: notSponsored })
    expect(await service.settle(await pay(payTo), account)).toMatchObject({ success: true })
    expect(await service.settle(await pay(payTo))).toMatchObject({ success: true })
    expect(await other.settle(await pay(payTo))).toMatchObject({ success: true })
    expect(await scene.chain.token.balanceOf(payTo)).toBe(3n)
  })

  it('is refused after a payment of another network, and after one that failed', async () => {
    const service = await open({ TON_MIN_RELAY_NANOTON: '0' })
    const { chain, database } = scene
    const payTo = randomAddress()
    const wallet = await createPayer()
    const failing = await sponsoredPayment({ chain, wallet, payTo, nanoTon: 21_000_000n })
    expect(await service.settle(failing, account)).toMatchObject({ errorReason: 'transaction_failed' })
    expect(await service.verify(await pay(payTo))).toMatchObject({ invalidReason: notSponsored })
    const elsewhere = randomAddress()
    expect(await service.settle(await pay(elsewhere), account)).toMatchObject({ success: true })
    await database
      .pool()
      .query(`update settlements set network = 'ton:mainnet' where payee_wallet = $1`, [
        elsewhere.toRawString(),
      ])
    expect(await service.verify(await pay(elsewhere))).toMatchObject({ invalidReason: notSponsored })
  })

  it.each([
    ['in friendly form', (payTo: Address) => payTo.toString({ bounceable: false })],
    ['in raw form', (payTo: Address) => payTo.toRawString().toUpperCase()],
  ])('is relayed to a recipient that the operator lists %s', async (_, write) => {
    const listed = randomAddress()
    const service = await open({ SPONSORED_RECIPIENTS: `${write(listed)}, ${write(randomAddress())}` })
    expect(await service.settle(await pay(listed))).toMatchObject({ success: true })
    expect(await service.settle(await pay(randomAddress()))).toMatchObject({ errorReason: notSponsored })
  })

  it('needs no sponsoring where the wallet of the payer pays', async () => {
    const { chain } = scene
    const service = await open()
    const body = await clientPaidPayment({ chain, wallet: await chain.createPayer(), payTo: randomAddress() })
    expect(await service.settle(body)).toMatchObject({ success: true })
  })
})

describe('a payer whose relayed payment failed', () => {
  it('is not sponsored for a day, with a key or without, and pays for itself; others are sponsored', async () => {
    const { chain, database } = scene
    const service = await open({ SPONSORED_RECIPIENTS: '*', TON_MIN_RELAY_NANOTON: '0' })
    const wallet = await chain.createPayer()
    const payTo = randomAddress()
    // Too little for the jetton wallet of the recipient.
    const failing = await sponsoredPayment({ chain, wallet, payTo, nanoTon: 21_000_000n })
    expect(await service.settle(failing)).toMatchObject({ errorReason: 'transaction_failed' })

    const before = await scene.sumRelayBalances()
    const again = await sponsoredPayment({ chain, wallet, payTo, maxTimeoutSeconds: 200 })
    const refused = { errorReason: 'payer_not_sponsored', retryable: false, transaction: '' }
    expect(await service.verify(again)).toMatchObject({ invalidReason: 'payer_not_sponsored' })
    expect(await service.settle(again)).toMatchObject(refused)
    expect(await service.settle(again, account)).toMatchObject(refused)
    await chain.ledger.settle()
    expect(await scene.sumRelayBalances()).toBe(before)
    const own = await clientPaidPayment({ chain, wallet, payTo })
    expect(await service.verify(own)).toMatchObject({ isValid: true })
    expect(await service.settle(await pay(payTo))).toMatchObject({ success: true })

    const age = (interval: string) =>
      database
        .pool()
        .query(
          `update settlements set closed_at = now() - $2::interval where payer = $1 and state = 'failed'`,
          [wallet.address.toRawString(), interval],
        )
    await age('23 hours')
    expect(await service.verify(again)).toMatchObject({ invalidReason: 'payer_not_sponsored' })
    await age('25 hours')
    expect(await service.settle(again)).toMatchObject({ success: true })
  })

  it('waits for no payment that its own wallet paid for', async () => {
    const { chain } = scene
    const service = await open({ SPONSORED_RECIPIENTS: '*' })
    const wallet = await chain.createPayer()
    const failing = await clientPaidPayment({ chain, wallet, payTo: randomAddress(), nanoTon: 21_000_000n })
    expect(await service.settle(failing)).toMatchObject({ errorReason: 'transaction_failed' })
    const body = await sponsoredPayment({ chain, wallet, payTo: randomAddress() })
    expect(await service.settle(body)).toMatchObject({ success: true })
  })

  it('waits for no message that never reached its wallet', async () => {
    const { chain } = scene
    const service = await open({ SPONSORED_RECIPIENTS: '*', SETTLE_WAIT_SECONDS: '2' })
    const wallet = await createPayer()
    const lost = await sponsoredPayment({ chain, wallet, payTo: randomAddress() })
    chain.ledger.setDropping(true)
    const pending = await service.settle(lost)
    expect(pending).toMatchObject({ errorReason: 'settlement_pending' })
    chain.ledger.warp(provenAfterSeconds)
    await reconcileUntil(service, pending, 'failed')
    chain.ledger.setDropping(false)
    const { rows } = await scene.database
      .pool()
      .query(`select state, reason, details from settlements where payer = $1`, [
        wallet.address.toRawString(),
      ])
    expect(rows).toMatchObject([
      { state: 'failed', reason: 'authorization_expired_unsettled', details: { sponsored: true } },
    ])
    const body = await sponsoredPayment({ chain, wallet, payTo: randomAddress() })
    expect(await service.verify(body)).toMatchObject({ isValid: true })
  })
})

it('starts only with addresses in SPONSORED_RECIPIENTS', async () => {
  const damaged = `${randomAddress().toString().slice(0, -2)}zz`
  await expect(open({ SPONSORED_RECIPIENTS: damaged })).rejects.toThrow(
    `SPONSORED_RECIPIENTS: ${damaged} is not an address of ton:testnet`,
  )
})
