import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { pollUntil } from '../../../support/pollUntil.js'
import { refusal } from '../../../support/refusal.js'
import { shiftedClock } from '../../../support/shiftedClock.js'
import { createTronKey, type TronKey } from '../../../support/tron/keys.js'
import { openScene, type Scene } from '../scene.js'

let scene: Scene

beforeAll(async () => {
  scene = await openScene()
})
afterEach(async () => {
  scene.chain.resume()
  await scene.reset()
})
afterAll(() => scene.close())

const stakedSun = 100_000_000_000

/** A facilitator's account with staked TRX. */
const createLender = (staked = stakedSun): TronKey => {
  const lender = createTronKey()
  scene.chain.fund(lender.address, 100_000_000)
  scene.chain.stake(lender.address, staked)
  return lender
}

const openSponsor = (lender: TronKey, environment: Readonly<Record<string, string>> = {}) =>
  scene.open({
    environment: { TRON_PRIVATE_KEY: lender.privateKey, TRON_SPONSOR_ENERGY: 'true', ...environment },
  })

const balanceOf = (owner: string) => scene.chain.balanceOf(scene.token, owner)
const lentTo = ({ hexAddress }: TronKey) =>
  [...(scene.chain.ledger.accounts().get(hexAddress)?.borrowed.values() ?? [])].reduce(
    (sum, sun) => sum + sun,
    0,
  )
const accountOf = ({ hexAddress }: TronKey) => scene.chain.ledger.accounts().get(hexAddress)
const countBroadcasts = () => scene.chain.requests.filter((path) => path.endsWith('/broadcasthex')).length

/** A payer who has an account and not one TRX in it. */
const penniless = { sun: 0 }
const openAccountOf = (payer: TronKey) => scene.chain.fund(payer.address, 0)

const planPenniless = async () => {
  const payer = createTronKey()
  openAccountOf(payer)
  return await scene.plan({ ...penniless, payer })
}

describe('a payer without energy and without TRX', () => {
  it('is refused where nobody lends: insufficient_energy', async () => {
    const service = await scene.open()
    const { body } = await planPenniless()
    expect(await service.verify(body)).toMatchObject({ invalidReason: 'insufficient_energy' })
  })

  it('pays with energy that is lent, and taken back afterwards', async () => {
    const lender = createLender()
    const service = await openSponsor(lender)
    const { body, payer, payTo } = await planPenniless()
    expect(await service.verify(body)).toMatchObject({ isValid: true })
    expect(await service.settle(body)).toMatchObject({ success: true })
    expect(await balanceOf(payTo)).toBe(10_000n)
    await pollUntil(() => lentTo(payer) === 0, 'the energy to come back')
    expect(accountOf(payer)?.balance).toBe(0)
    expect(accountOf(lender)?.staked).toBe(stakedSun)
  })

  it('gets no more than what the transfer needs', async () => {
    const lender = createLender()
    const service = await openSponsor(lender)
    const { body, payer } = await planPenniless()
    scene.chain.pause()
    const settling = service.settle(body)
    await pollUntil(() => scene.chain.ledger.countWaiting() > 0, 'the loan on its way')
    await scene.chain.mine(1)
    // Ten energy for each TRX, and a transfer to a new holder takes some tens of thousands.
    expect(lentTo(payer)).toBeGreaterThan(1_000_000_000)
    expect(lentTo(payer)).toBeLessThan(15_000_000_000)
    scene.chain.resume()
    expect(await settling).toMatchObject({ success: true })
  })

  it('is helped by two instances at once only once', async () => {
    const lender = createLender()
    const [one, other] = [await openSponsor(lender), await openSponsor(lender)]
    const { body, payer, payTo } = await planPenniless()
    const answers = await Promise.all([one, other].map((service) => service.settle(body)))
    expect(answers.filter(({ success }) => success)).toHaveLength(1)
    expect(await balanceOf(payTo)).toBe(10_000n)
    await pollUntil(() => lentTo(payer) === 0, 'the energy to come back')
  })
})

describe('what is lent', () => {
  it('is nothing to a payer who has energy', async () => {
    const service = await openSponsor(createLender())
    const payer = createTronKey()
    scene.chain.stake(payer.address, stakedSun)
    const { body } = await scene.plan({ ...penniless, payer })
    const before = countBroadcasts()
    expect(await service.settle(body)).toMatchObject({ success: true })
    expect(countBroadcasts() - before).toBe(1)
  })

  it('stays within the hour’s budget, and nothing is recorded for a payment beyond it', async () => {
    const service = await openSponsor(createLender(), { TRON_SPONSOR_ENERGY_PER_HOUR: '1000' })
    const { body, payer } = await planPenniless()
    expect(await refusal(service.settle(body))).toMatchObject({ code: 'SERVICE_UNAVAILABLE' })
    expect(lentTo(payer)).toBe(0)
    const { rows } = await scene.database
      .pool()
      .query('select state from settlements where payer = $1', [payer.address])
    expect(rows.filter(({ state }) => state !== 'failed')).toEqual([])
  })

  it('is nothing where nothing is staked', async () => {
    const service = await openSponsor(createLender(0))
    const { body } = await planPenniless()
    expect(await service.verify(body)).toMatchObject({ invalidReason: 'insufficient_energy' })
  })

  it('comes back although the process that lent it died', async () => {
    const lender = createLender()
    const service = await openSponsor(lender)
    const { body, payer } = await planPenniless()
    scene.chain.pause()
    const settling = service.settle(body)
    await pollUntil(() => scene.chain.ledger.countWaiting() > 0, 'the loan on its way')
    await scene.chain.mine(1)
    expect(lentTo(payer)).toBeGreaterThan(0)
    await pollUntil(() => scene.chain.ledger.countWaiting() > 0, 'the payment on its way')
    scene.chain.ledger.dropWaiting()
    // What is on its way keeps its energy, and then the process ends.
    expect(await settling).toMatchObject({ errorReason: 'settlement_pending' })
    await scene.reset()
    await scene.chain.mine(1)
    expect(lentTo(payer)).toBeGreaterThan(0)

    scene.chain.resume()
    const clock = shiftedClock()
    const later = await scene.open({
      clock,
      environment: { TRON_PRIVATE_KEY: lender.privateKey, TRON_SPONSOR_ENERGY: 'true' },
    })
    expect(later.core.listNetworks()).toHaveLength(1)
    clock.shift(200_000)
    await pollUntil(() => lentTo(payer) === 0, 'a later round to take it back')
  })

  it('is named in /supported, and its account among the signers', async () => {
    const lender = createLender()
    const service = await openSponsor(lender)
    const { kinds, signers } = service.core.useCases.core.listSupported()
    expect(kinds[0]?.extra).toMatchObject({ defaultAsset: scene.token, gasSponsor: lender.address })
    expect(JSON.stringify(signers)).toContain(lender.address)
  })
})
