import { afterAll, afterEach, beforeAll, expect, it } from 'vitest'
import { eventually, openScene, type Scene } from './scene.js'

/* A sale whose first answer was settlement_pending: real chain and database. */

let scene: Scene
beforeAll(async () => {
  scene = await openScene()
})
afterEach(() => scene.reset())
afterAll(() => scene.close())

it.each(['shop', 'anonymous'])('is success to exactly one later settle of %s', async (caller) => {
  const { settle, core } = await scene.open({ environment: { SETTLE_WAIT_SECONDS: '1' } })
  const { body } = await scene.plan()
  await scene.chain.control.setAutomine(false)
  const first = await settle(body, caller)
  expect(first).toMatchObject({ success: false, status: 'pending', errorReason: 'settlement_pending' })
  expect(await settle(body, 'thief')).toMatchObject({ errorReason: 'duplicate_settlement' })
  await scene.chain.control.setAutomine(true)
  await scene.chain.control.mine()
  await eventually(async () => {
    await core.reconcileSettlements()
    const { status } = await core.useCases.core.getSettlement(first.settlementId ?? '')
    return status === 'confirmed' ? true : null
  })
  expect(await settle(body, 'thief')).toMatchObject({ errorReason: 'duplicate_settlement' })
  const later = await Promise.all([1, 2, 3, 4].map(() => settle(body, caller)))
  expect(later.filter(({ success }) => success)).toMatchObject([
    { transaction: first.transaction, settlementId: first.settlementId, status: 'confirmed' },
  ])
  expect(await settle(body, caller)).toMatchObject({ errorReason: 'duplicate_settlement' })
})
