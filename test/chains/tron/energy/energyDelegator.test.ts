import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { createManualWait } from '../../../support/core.js'
import type { CoreClient } from '../../../support/coreClient.js'
import { pollUntil } from '../../../support/pollUntil.js'
import { rejectionOf } from '../../../support/rejectionOf.js'
import type { RpcProxy } from '../../../support/rpcProxy.js'
import { shiftedClock } from '../../../support/shiftedClock.js'
import { createTronKey, type TronKey } from '../../../support/tron/keys.js'
import { useScene } from '../../../support/useScene.js'
import { openScene, type PlannedPayment, type Scene } from '../scene.js'

const scene = useScene(openScene)

const stakedSun = 100_000_000_000

const createSponsorAccount = (staked = stakedSun): TronKey => {
  const sponsor = createTronKey()
  scene.chain.fund(sponsor.address, 100_000_000)
  scene.chain.stake(sponsor.address, staked)
  return sponsor
}

const openSponsor = (sponsor: TronKey, { environment = {}, ...options }: Parameters<Scene['open']>[0] = {}) =>
  scene.open({
    ...options,
    environment: { TRON_PRIVATE_KEY: sponsor.privateKey, TRON_SPONSOR_ENERGY: 'true', ...environment },
  })

const balanceOf = (owner: string) => scene.chain.balanceOf(scene.token, owner)
const delegatedTo = ({ hexAddress }: TronKey, { chain } = scene) =>
  [...(chain.ledger.accounts().get(hexAddress)?.delegatedFrom.values() ?? [])].reduce(
    (sum, sun) => sum + sun,
    0,
  )
const accountOf = ({ hexAddress }: TronKey) => scene.chain.ledger.accounts().get(hexAddress)

/** An existing account without TRX. */
const withoutTrx = { sun: 0 }
const openAccountOf = (payer: TronKey) => scene.chain.fund(payer.address, 0)

const planWithoutTrx = async () => {
  const payer = createTronKey()
  openAccountOf(payer)
  return await scene.plan({ ...withoutTrx, payer })
}

describe('a payer without energy and TRX', () => {
  it('is refused as insufficient_energy without sponsoring', async () => {
    const service = await scene.open()
    const { body } = await planWithoutTrx()
    expect(await service.verify(body)).toMatchObject({ invalidReason: 'insufficient_energy' })
  })

  it('pays with delegated energy, which is undelegated afterwards', async () => {
    const sponsor = createSponsorAccount()
    const service = await openSponsor(sponsor)
    const { body, payer, payTo } = await planWithoutTrx()
    expect(await service.verify(body)).toMatchObject({ isValid: true })
    expect(await service.settle(body)).toMatchObject({ success: true })
    expect(await balanceOf(payTo)).toBe(10_000n)
    await pollUntil(() => delegatedTo(payer) === 0, 'the energy to be undelegated')
    expect(accountOf(payer)?.balance).toBe(0)
    expect(accountOf(sponsor)?.staked).toBe(stakedSun)
  })

  it('receives no more energy than the transfer needs', async () => {
    const sponsor = createSponsorAccount()
    const service = await openSponsor(sponsor)
    const { body, payer } = await planWithoutTrx()
    scene.chain.pause()
    const settling = service.settle(body)
    await pollUntil(() => scene.chain.ledger.countWaiting() > 0, 'the delegation to be pending')
    await scene.chain.mine(1)
    // 10 energy per TRX; a transfer to a new holder needs tens of thousands.
    expect(delegatedTo(payer)).toBeGreaterThan(1_000_000_000)
    expect(delegatedTo(payer)).toBeLessThan(15_000_000_000)
    scene.chain.resume()
    expect(await settling).toMatchObject({ success: true })
  })

  it('receives energy for one of two concurrent settlements', async () => {
    const sponsor = createSponsorAccount()
    const [one, other] = [await openSponsor(sponsor), await openSponsor(sponsor)]
    const { body, payer, payTo } = await planWithoutTrx()
    const answers = await Promise.all([one, other].map((service) => service.settle(body)))
    expect(answers.filter(({ success }) => success)).toHaveLength(1)
    expect(await balanceOf(payTo)).toBe(10_000n)
    await pollUntil(() => delegatedTo(payer) === 0, 'the energy to be undelegated')
  })
})

describe('energy delegation', () => {
  it('is skipped for a payer with energy', async () => {
    const proxy = await scene.openProxy()
    const service = await openSponsor(createSponsorAccount(), { url: proxy.url })
    const payer = createTronKey()
    scene.chain.stake(payer.address, stakedSun)
    const { body } = await scene.plan({ ...withoutTrx, payer })
    expect(await service.settle(body)).toMatchObject({ success: true })
    const sent = proxy.calls.filter(({ method }) => method === '/wallet/broadcasthex')
    // Only the payment was sent, which may happen more than once.
    expect(new Set(sent.map(({ params }) => JSON.stringify(params))).size).toBe(1)
  })

  it('stays within the hourly budget, and records nothing beyond it', async () => {
    const service = await openSponsor(createSponsorAccount(), {
      environment: { TRON_SPONSOR_ENERGY_PER_HOUR: '1000' },
    })
    const { body, payer } = await planWithoutTrx()
    expect(await rejectionOf(service.settle(body))).toMatchObject({ code: 'SERVICE_UNAVAILABLE' })
    expect(delegatedTo(payer)).toBe(0)
    const { rows } = await scene.database
      .pool()
      .query('select state from settlements where payer = $1', [payer.address])
    expect(rows.filter(({ state }) => state !== 'failed')).toEqual([])
  })

  it('is not available without staked TRX', async () => {
    const service = await openSponsor(createSponsorAccount(0))
    const { body } = await planWithoutTrx()
    expect(await service.verify(body)).toMatchObject({ invalidReason: 'insufficient_energy' })
  })

  it('is revoked by a later process after the delegating one ended', async () => {
    const sponsor = createSponsorAccount()
    const wait = createManualWait()
    const service = await openSponsor(sponsor, { startSettleWait: wait.startSettleWait })
    const { body, payer } = await planWithoutTrx()
    scene.chain.pause()
    const settling = service.settle(body)
    await pollUntil(() => scene.chain.ledger.countWaiting() > 0, 'the delegation to be pending')
    await scene.chain.mine(1)
    expect(delegatedTo(payer)).toBeGreaterThan(0)
    await pollUntil(() => scene.chain.ledger.countWaiting() > 0, 'the payment to be pending')
    scene.chain.ledger.dropWaiting()
    wait.end()
    // A pending transaction keeps its energy when the process ends.
    expect(await settling).toMatchObject({ errorReason: 'settlement_pending' })
    await scene.reset()
    await scene.chain.mine(1)
    expect(delegatedTo(payer)).toBeGreaterThan(0)

    scene.chain.resume()
    const clock = shiftedClock()
    const later = await scene.open({
      clock,
      environment: { TRON_PRIVATE_KEY: sponsor.privateKey, TRON_SPONSOR_ENERGY: 'true' },
    })
    expect(later.core.listNetworks()).toHaveLength(1)
    clock.shift(200_000)
    await pollUntil(() => delegatedTo(payer) === 0, 'a later check to undelegate it')
  })

  it('is announced in /supported, with its account among the signers', async () => {
    const sponsor = createSponsorAccount()
    const service = await openSponsor(sponsor)
    const { kinds, signers } = service.core.useCases.core.listSupported()
    expect(kinds[0]?.extra).toMatchObject({ defaultAsset: scene.token, gasSponsor: sponsor.address })
    expect(JSON.stringify(signers)).toContain(sponsor.address)
  })
})

describe('a payer that spends the energy on a transfer of its own', () => {
  /** No block is solid: a failure stays pending. */
  let slow: Scene
  beforeAll(async () => {
    slow = await openScene({ solidAfter: 1_000_000 })
  })
  afterEach(async () => {
    slow.chain.resume()
    await slow.reset()
  })
  afterAll(() => slow.close())

  const wait = createManualWait()
  const openSlow = async (options: Parameters<Scene['open']>[0] = {}) => {
    const sponsor = createTronKey()
    slow.chain.fund(sponsor.address, 100_000_000)
    slow.chain.stake(sponsor.address, stakedSun)
    return await slow.open({
      ...options,
      startSettleWait: wait.startSettleWait,
      environment: {
        TRON_PRIVATE_KEY: sponsor.privateKey,
        TRON_SPONSOR_ENERGY: 'true',
        ...options.environment,
      },
    })
  }
  const planAs = (payer: TronKey, lifetimeMs = 300_000) => {
    slow.chain.fund(payer.address, 0)
    return slow.plan({ ...withoutTrx, payer, signed: { lifetimeMs } })
  }
  const hexOf = ({ body }: PlannedPayment) => body.paymentPayload.payload.signedTransaction
  const countWaiting = () => slow.chain.ledger.countWaiting()

  it('loses it as soon as our transfer has a receipt, although its failure is not final', async () => {
    const service = await openSlow()
    const payer = createTronKey()
    const [ours, own] = [await planAs(payer), await planAs(payer)]
    slow.chain.pause()
    const settling = service.settle(ours.body)
    await pollUntil(() => countWaiting() > 0, 'the delegation to be pending')
    await slow.chain.mine(1)
    expect(delegatedTo(payer, slow)).toBeGreaterThan(0)
    expect(slow.chain.ledger.submit(hexOf(own)).refusal).toBeNull()
    await pollUntil(() => countWaiting() === 2, 'both transfers to be pending')
    await slow.chain.mine(1)
    expect(await slow.chain.balanceOf(slow.token, own.payTo)).toBe(10_000n)
    await pollUntil(async () => {
      await slow.chain.mine(1)
      return delegatedTo(payer, slow) === 0
    }, 'the energy to be undelegated')
    wait.end()
    expect(await settling).toMatchObject({ success: false, errorReason: 'settlement_pending' })
  })

  /** A settlement whose transfer no node takes; its wait ends after an attempt. */
  const settleUntaken = async (service: CoreClient, proxy: RpcProxy, { body }: PlannedPayment) => {
    let isTried = false
    proxy.setFault('/wallet/broadcasthex', {
      kind: 'errorFor',
      findError: ([sent]) => {
        if (Object(sent).transaction !== body.paymentPayload.payload.signedTransaction) return null
        isTried = true
        return 'busy'
      },
    })
    const settling = service.settle(body)
    await pollUntil(() => isTried, 'an attempt to send the transfer')
    wait.end()
    expect(await settling).toMatchObject({ errorReason: 'settlement_pending' })
  }

  /** The payer uses the energy of a settlement whose transfer no node takes. */
  const spendEnergy = async (service: CoreClient, proxy: RpcProxy, payer: TronKey, lifetimeMs?: number) => {
    const [ours, own] = [await planAs(payer, lifetimeMs), await planAs(payer)]
    // Each transfer takes most of what an account has per day.
    const account = slow.chain.ledger.accounts().get(payer.hexAddress)
    if (account !== undefined) account.bandwidthUsed = 0
    const before = delegatedTo(payer, slow)
    await settleUntaken(service, proxy, ours)
    const delegated = delegatedTo(payer, slow) - before
    expect(delegated).toBeGreaterThan(0)
    expect(slow.chain.ledger.submit(hexOf(own)).refusal).toBeNull()
    await pollUntil(
      async () => (await slow.chain.balanceOf(slow.token, own.payTo)) === 10_000n,
      "the payer's own transfer",
    )
    return delegated
  }

  it('makes no earlier delegation younger by a later one', async () => {
    const clock = shiftedClock()
    const proxy = await slow.openProxy()
    const service = await openSlow({ url: proxy.url, clock })
    const payer = createTronKey()
    await spendEnergy(service, proxy, payer)
    clock.shift(100_000)
    const second = await spendEnergy(service, proxy, payer, 400_000)
    clock.shift(100_000)
    await pollUntil(() => delegatedTo(payer, slow) === second, 'the first delegation to be undelegated')
  })

  it('makes no earlier delegation of another instance younger', async () => {
    const clock = shiftedClock()
    const sponsor = createTronKey()
    const environment = { TRON_PRIVATE_KEY: sponsor.privateKey }
    slow.chain.fund(sponsor.address, 100_000_000)
    slow.chain.stake(sponsor.address, stakedSun)
    const payer = createTronKey()
    const before = await slow.openProxy()
    await spendEnergy(await openSlow({ url: before.url, clock, environment }), before, payer)
    await slow.reset()

    const proxy = await slow.openProxy()
    const service = await openSlow({ url: proxy.url, clock, environment })
    clock.shift(100_000)
    const second = await spendEnergy(service, proxy, payer, 400_000)
    clock.shift(100_000)
    await pollUntil(() => delegatedTo(payer, slow) === second, 'the first delegation to be undelegated')
  })

  it('is undelegated when the settlement is resolved', async () => {
    const proxy = await slow.openProxy()
    const service = await openSlow({ url: proxy.url })
    const payer = createTronKey()
    const ours = await planAs(payer)
    await settleUntaken(service, proxy, ours)
    expect(delegatedTo(payer, slow)).toBeGreaterThan(0)
    proxy.clearFaults()
    await pollUntil(async () => {
      await service.reconcile()
      return delegatedTo(payer, slow) === 0
    }, 'the energy to be undelegated')
    expect(await slow.chain.balanceOf(slow.token, ours.payTo)).toBe(10_000n)
  })
})
