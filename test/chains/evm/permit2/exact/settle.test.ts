import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { approvePermit2, permitPayment } from '../../../../support/evm/permit2.js'
import { deployTestToken } from '../../../../support/evm/testTokens.js'
import { createEoa } from '../../../../support/evm/wallets.js'
import { openScene, type Scene } from '../../scene.js'
import { planPermit } from './scene.js'

let scene: Scene

beforeAll(async () => {
  scene = await openScene()
})
afterEach(() => scene.reset())
afterAll(() => scene.close())

describe('a payment by Permit2', () => {
  it('in USDC is verified and settled, and the recipient is credited', async () => {
    const service = await scene.open()
    const { body, payer, payTo } = await planPermit(scene)
    expect(await service.verify(body)).toMatchObject({ isValid: true, payer })
    expect(await service.settle(body)).toMatchObject({ success: true, payer, network: scene.chain.network })
    expect(await scene.chain.balanceOf(payTo)).toBe(10_000n)
    expect(await scene.chain.balanceOf(payer)).toBe(0n)
  })

  it('in a token without EIP-3009 whose functions return nothing is settled', async () => {
    const { chain } = scene
    const token = await deployTestToken(chain, 'NoReturnToken')
    const service = await scene.open({
      environment: { [`EVM_TOKENS_${chain.chainId}`]: token.address },
    })
    const wallet = createEoa()
    const payTo = createEoa().address
    await token.mint(wallet.address, 10_000n)
    await approvePermit2(chain, wallet, token.address)
    const body = await permitPayment({ chain: token, wallet, payTo })
    expect(await service.verify(body)).toMatchObject({ isValid: true })
    expect(await service.settle(body)).toMatchObject({ success: true })
    expect(await token.balanceOf(payTo)).toBe(10_000n)
  })
})
