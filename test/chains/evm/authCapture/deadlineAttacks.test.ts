import { describe, expect, it } from 'vitest'
import { systemClock } from '../../../../src/platform/clock.js'
import type { Hold } from '../../../support/evm/holds.js'
import { createEoa } from '../../../support/evm/wallets.js'
import { pollUntil } from '../../../support/pollUntil.js'
import { useScene } from '../../../support/useScene.js'
import { openScene, type ServiceOptions } from '../scene.js'
import { createMerchants } from './merchants.js'

/* What accounts, instances and mishaps do to each other around the job that acts before deadlines. */

const scene = useScene(() => openScene({ hasAuthCapture: true }))
const agent = createEoa()
const { openMerchant, asMerchant } = createMerchants(() => scene, agent)

/** Holds live for an hour: after half of it they are acted on. */
const dueMs = 1_860_000

const createClock = (startMs = 0) => {
  let laterMs = startMs
  return {
    sleep: systemClock.sleep,
    now: () => new Date(Date.now() + laterMs),
    advance: (ms: number) => {
      laterMs += ms
    },
  }
}

const open = async (options: ServiceOptions = {}) => {
  const clock = createClock()
  const merchant = await openMerchant({ clock, ...options })
  await merchant.register()
  return { ...merchant, clock }
}

/** When the job may look at the hold again. */
const readActAt = async ({ hash }: Hold): Promise<number> => {
  const { rows } = await scene.database
    .pool()
    .query('select act_at from held_payments where hash = $1', [hash.toLowerCase()])
  return rows[0].act_at?.getTime() ?? 0
}

/** Only simulations name a sender. */
const isSimulation = ([call]: readonly unknown[]): boolean =>
  typeof call === 'object' && call !== null && 'from' in call

/** Rounds until the hold has the status. */
const actUntil = (merchant: Awaited<ReturnType<typeof open>>, hold: Hold, status: string) =>
  pollUntil(
    async () => {
      await merchant.act()
      await merchant.service.reconcile()
      merchant.clock.advance(60_000)
      return (await merchant.read(hold)).status === status
    },
    `the hold to be ${status}`,
    () => merchant.read(hold),
  )

describe('an account that changes its mind while the job acts', () => {
  it('has done what it was told last, although another instance acts on what it asked for before', async () => {
    const [slow, stalled] = [await scene.openProxy(), await scene.openProxy()]
    const merchant = await open({ rpcUrls: [slow.url] })
    const { signers } = merchant.service
    const options = { clock: merchant.clock, signers, rpcUrls: [stalled.url] }
    const other = await openMerchant(options, merchant.account)
    const elsewhere = asMerchant((await openMerchant()).service, merchant.account)
    const hold = await merchant.open()
    await merchant.setAtDeadline(hold, 'capture')
    merchant.clock.advance(dueMs)
    const read = slow.count('eth_call')
    const releaseRead = slow.hold('eth_call')
    const capturing = merchant.act()
    await pollUntil(() => slow.count('eth_call') > read, 'the first instance to look at the hold')
    await elsewhere.setAtDeadline(hold, 'void')
    const releaseVoid = stalled.hold('eth_call', isSimulation)
    const voiding = other.act()
    await pollUntil(
      () => stalled.calls.some(({ method, params }) => method === 'eth_call' && isSimulation(params)),
      'the void to be simulated',
    )
    releaseRead()
    await capturing
    await pollUntil(
      async () => (await readActAt(hold)) > merchant.clock.now().getTime() + 70_000,
      'the first instance to end its attempt',
    )
    await elsewhere.setAtDeadline(hold, 'capture').finally(releaseVoid)
    await voiding
    await actUntil(merchant, hold, 'captured')
    expect(await scene.chain.balanceOf(hold.payer)).toBe(0n)
  })

  it('can do so where the key that the hold names is not configured any more', async () => {
    const merchant = await open()
    const hold = await merchant.open()
    await merchant.setAtDeadline(hold, 'capture')
    const environment = { EVM_HOLD_AUTHORIZER_KEY: createEoa().privateKey }
    const keyless = await openMerchant({ clock: merchant.clock, environment }, merchant.account)
    merchant.clock.advance(dueMs)
    await keyless.act()
    await keyless.service.core.close()
    expect(await merchant.setAtDeadline(hold, 'nothing')).toMatchObject({ atDeadline: 'nothing' })
  })
})

describe('a hold whose lowest fee has no recipient', () => {
  it.each(['1.1', '1.0'] as const)('is captured all the same, under version %s', async (version) => {
    const merchant = await open()
    const hold = await merchant.open({ version, extra: { minFeeBps: 100, maxFeeBps: 200 } })
    await merchant.setAtDeadline(hold, 'capture')
    merchant.clock.advance(dueMs)
    await actUntil(merchant, hold, 'captured')
    expect(await scene.chain.balanceOf(hold.payTo)).toBe(10_000n)
  })
})
