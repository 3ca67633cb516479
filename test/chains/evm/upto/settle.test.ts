import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { openScene, type Scene } from '../scene.js'
import { openUpto } from './scene.js'

let scene: Scene

beforeAll(async () => {
  scene = await openScene()
})
afterEach(() => scene.reset())
afterAll(() => scene.close())

describe('a payment by permit', () => {
  it.each([
    ['of the recipient', true],
    ['that is shared', false],
  ])('for the router %s moves what was used, and no more', async (_, isBound) => {
    const service = await openUpto(scene)
    const { body, payer, payTo } = await service.plan({ isBound })
    expect(await service.verify(body)).toMatchObject({ isValid: true, payer })
    const settled = await service.settle({ ...body, settleAmount: '2500' })
    expect(settled).toMatchObject({ success: true, payer, amount: '2500' })
    expect(await scene.chain.balanceOf(payTo)).toBe(2_500n)
    expect(await scene.chain.balanceOf(payer)).toBe(7_500n)
  })
})
