import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { unixNow } from '../../support/evm/authorization.js'
import { eventually, openScene, refusal, type Scene, type Service, shiftedClock } from './scene.js'

/*
 * What only the keeper's rounds bring about. A round comes every five seconds, so these tests run side by side
 * and share nothing but a chain whose state they leave alone.
 */

let scene: Scene

beforeAll(async () => {
  scene = await openScene()
})
afterAll(() => scene.close())

const twoRoundsMs = 12_000
const isOffered = (service: Service) => service.listNetworks().includes(scene.chain.network)
const untilOffered = (service: Service, expected: boolean) =>
  eventually(() => (isOffered(service) === expected ? true : null), twoRoundsMs)

describe.concurrent('a network', () => {
  it('whose node is down at the start is not offered until it is there', async () => {
    const proxy = await scene.openProxy()
    proxy.setFault('*', { kind: 'refuse' })
    const service = await scene.open({ rpcUrls: [proxy.url] })
    const { body } = await scene.plan()
    expect(isOffered(service)).toBe(false)
    expect(await refusal(service.settle(body))).toMatchObject({ code: 'SERVICE_UNAVAILABLE' })
    expect(await service.core.useCases.core.checkReadiness()).toMatchObject({
      status: 'unready',
      checks: { rpc: 'unreachable' },
    })
    proxy.clearFaults()
    await untilOffered(service, true)
    expect(await service.settle(body)).toMatchObject({ success: true })
  })

  it('whose gas wallet runs empty is not offered and judges nothing until it is filled', async () => {
    const service = await scene.open()
    const address = service.signers[0]?.address ?? '0x'
    expect(isOffered(service)).toBe(true)
    await scene.chain.fundGas(address, 1n)
    const { body } = await scene.plan()
    const refused = { code: 'SERVICE_UNAVAILABLE', operationalCode: 'SVC-4001' }
    // Before the keeper knows as well as after: the payer is not to blame.
    expect(await refusal(service.verify(body))).toMatchObject(refused)
    await untilOffered(service, false)
    expect(await refusal(service.verify(body))).toMatchObject(refused)
    expect(await refusal(service.settle(body))).toMatchObject(refused)
    await scene.chain.fundGas(address)
    await untilOffered(service, true)
    expect(await service.settle(body)).toMatchObject({ success: true })
  })

  it('with one empty wallet of two settles with the other', async () => {
    const service = await scene.open({ signerCount: 2 })
    await scene.chain.fundGas(service.signers[0]?.address ?? '0x', 1n)
    await new Promise((resolve) => setTimeout(resolve, 6_000))
    expect(isOffered(service)).toBe(true)
    const plans = await Promise.all(Array.from({ length: 6 }, () => scene.plan()))
    for (const { body } of plans) expect(await service.settle(body)).toMatchObject({ success: true })
  })

  it('whose chain lets an authorization expire says failed no sooner than the chain does, and goes on', async () => {
    const own = await openScene()
    try {
      const clock = shiftedClock()
      const service = await own.open({ clock, environment: { SETTLE_WAIT_SECONDS: '1' } })
      const { control } = own.chain
      const validBefore = unixNow() + 20
      const slack = 30
      const { body, payTo } = await own.plan({ authorization: { validBefore: String(validBefore) } })
      await control.setAutomine(false)
      const pending = await service.settle(body)
      expect(pending).toMatchObject({ errorReason: 'settlement_pending' })
      const statusAt = async (chainTime: number) => {
        await control.dropAllTransactions()
        await control.setNextBlockTimestamp(chainTime)
        await control.mine()
        await service.core.reconcileSettlements()
        const view = await service.core.useCases.core.getSettlement(pending.settlementId ?? '')
        return view.status === 'failed' ? view.errorReason : view.status
      }
      clock.shift(60_000)
      expect(await statusAt(validBefore - 1)).toBe('pending')
      expect(await statusAt(validBefore)).toBe('pending')
      expect(await statusAt(validBefore + slack - 1)).toBe('pending')
      clock.shift(-60_000)
      // The node's word on the time is not enough: our own clock must agree that it is over.
      expect(await statusAt(validBefore + slack)).toBe('pending')
      clock.shift(60_000)
      expect(await statusAt(validBefore + slack + 1)).toBe('authorization_expired_unsettled')
      expect(await own.chain.balanceOf(payTo)).toBe(0n)

      // Its number is still open: what comes after it in the lane waits until the keeper has filled the hole.
      await control.setAutomine(true)
      const next = await own.plan({ now: validBefore + slack })
      await service.settle(next.body)
      await eventually(
        async () => ((await own.chain.balanceOf(next.payTo)) === 10_000n ? true : null),
        twoRoundsMs,
      )
      await service.core.reconcileSettlements()
      expect(await own.chain.balanceOf(payTo)).toBe(0n)
    } finally {
      await own.close()
    }
  }, 40_000)
})
