import { describe, expect, it } from 'vitest'
import { pollUntil } from '../../support/pollUntil.js'
import { createTronKey, type TronKey } from '../../support/tron/keys.js'
import { tronPayment } from '../../support/tron/payment.js'
import { useScene } from '../../support/useScene.js'
import { openScene } from './scene.js'

const scene = useScene(openScene)

/** Delegates energy. */
const open = async (environment: Readonly<Record<string, string>> = {}) => {
  const sponsor = createTronKey()
  scene.chain.fund(sponsor.address, 100_000_000)
  scene.chain.stake(sponsor.address, 100_000_000_000)
  const service = await scene.open({
    environment: {
      TRON_PRIVATE_KEY: sponsor.privateKey,
      TRON_SPONSOR_ENERGY: 'true',
      SPONSORED_RECIPIENTS: '',
      ...environment,
    },
  })
  return { service, readSponsor: () => ({ ...accountOf(sponsor) }) }
}

const accountOf = ({ hexAddress }: TronKey) => scene.chain.ledger.accounts().get(hexAddress)

interface Plan {
  readonly payTo?: string
  readonly payer?: TronKey
  /** Of the payer. */
  readonly sun?: number
}

const plan = async ({ payTo = createTronKey().address, payer = createTronKey(), sun = 0 }: Plan = {}) => {
  const { chain, token } = scene
  chain.fund(payer.address, sun)
  await chain.mint(token, payer.address, 25_000n)
  return await tronPayment({ chain, payer, payTo, token, amount: 1n })
}

const countBroadcasts = () => scene.chain.requests.filter((path) => path.endsWith('/broadcasthex')).length
const balanceOf = (owner: string) => scene.chain.balanceOf(scene.token, owner)

const account = 'an-account'
const notSponsored = 'recipient_not_sponsored'

describe('a payment that needs energy, whose caller has no API key', () => {
  it('is refused for a new recipient, by verify and by settle, and delegates nothing', async () => {
    const { service, readSponsor } = await open()
    const payer = createTronKey()
    const body = await plan({ payer })
    const [before, broadcasts] = [readSponsor(), countBroadcasts()]
    expect(await service.verify(body)).toMatchObject({
      isValid: false,
      invalidReason: notSponsored,
      retryable: false,
      payer: payer.address,
    })
    expect(await service.settle(body)).toMatchObject({
      success: false,
      errorReason: notSponsored,
      transaction: '',
    })
    expect(countBroadcasts()).toBe(broadcasts)
    expect(readSponsor()).toEqual(before)
  })

  it('is sponsored to a recipient that a caller with a key has paid, in every instance', async () => {
    const { service } = await open()
    const { service: other } = await open()
    const payTo = createTronKey().address
    expect(await service.verify(await plan({ payTo }))).toMatchObject({ invalidReason: notSponsored })
    expect(await service.settle(await plan({ payTo }), account)).toMatchObject({ success: true })
    expect(await service.settle(await plan({ payTo }))).toMatchObject({ success: true })
    expect(await other.settle(await plan({ payTo }))).toMatchObject({ success: true })
    expect(await balanceOf(payTo)).toBe(3n)
  })

  it('is sponsored to a recipient that the operator lists', async () => {
    const payTo = createTronKey().address
    const { service } = await open({ SPONSORED_RECIPIENTS: `${createTronKey().address},${payTo}` })
    expect(await service.settle(await plan({ payTo }))).toMatchObject({ success: true })
    expect(await service.settle(await plan())).toMatchObject({ errorReason: notSponsored })
  })

  it('is settled with the energy or the TRX of the payer, without ours', async () => {
    const { service, readSponsor } = await open()
    const before = readSponsor()
    const burning = createTronKey()
    expect(await service.settle(await plan({ payer: burning, sun: 100_000_000 }))).toMatchObject({
      success: true,
    })
    expect(accountOf(burning)?.balance).toBeLessThan(100_000_000)
    const staking = createTronKey()
    scene.chain.stake(staking.address, 100_000_000_000)
    expect(await service.settle(await plan({ payer: staking }))).toMatchObject({ success: true })
    expect(readSponsor()).toEqual(before)
  })
})

describe('a payer whose sponsored payment failed', () => {
  it('is not sponsored for a day, with a key or without; others are', async () => {
    const { service } = await open({ SPONSORED_RECIPIENTS: '*' })
    const { chain, database } = scene
    const payer = createTronKey()
    const payTo = createTronKey().address
    const body = await plan({ payer, payTo })
    chain.pause()
    const settling = service.settle(body)
    await pollUntil(() => chain.ledger.countWaiting() > 0, 'the delegation to be pending')
    await chain.mine(1)
    await pollUntil(() => chain.ledger.countWaiting() > 0, 'the transfer to be pending')
    // As after a transfer of its own.
    const known = accountOf(payer)
    if (known !== undefined) known.energyUsed = 100_000_000
    chain.resume()
    expect(await settling).toMatchObject({ success: false, errorReason: 'transaction_failed' })
    if (known !== undefined) Object.assign(known, { energyUsed: 0, bandwidthUsed: 0 })

    const again = await plan({ payer, payTo })
    const broadcasts = countBroadcasts()
    const refused = { errorReason: 'payer_not_sponsored', retryable: false, transaction: '' }
    expect(await service.verify(again)).toMatchObject({ invalidReason: 'payer_not_sponsored' })
    expect(await service.settle(again)).toMatchObject(refused)
    expect(await service.settle(again, account)).toMatchObject(refused)
    expect(countBroadcasts()).toBe(broadcasts)
    expect(await service.settle(await plan({ payTo }))).toMatchObject({ success: true })

    const age = (interval: string) =>
      database
        .pool()
        .query(
          `update settlements set closed_at = now() - $2::interval where payer = $1 and state = 'failed'`,
          [payer.address, interval],
        )
    await age('23 hours')
    expect(await service.verify(await plan({ payer }))).toMatchObject({
      invalidReason: 'payer_not_sponsored',
    })
    await age('25 hours')
    expect(await service.verify(await plan({ payer }))).toMatchObject({ isValid: true })
    await age('1 hour')
    const own = await plan({ payer, payTo, sun: 100_000_000 })
    expect(await service.settle(own)).toMatchObject({ success: true })
  })
})

it('starts only with addresses in SPONSORED_RECIPIENTS', async () => {
  const { address } = createTronKey()
  const damaged = `${address.slice(0, -1)}${address.endsWith('1') ? '2' : '1'}`
  await expect(open({ SPONSORED_RECIPIENTS: damaged })).rejects.toThrow(
    `SPONSORED_RECIPIENTS: ${damaged} is not an address of tron:nile`,
  )
})
