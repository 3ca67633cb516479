import fc from 'fast-check'
import {
  type Address,
  concatHex,
  encodeAbiParameters,
  type Hex,
  keccak256,
  parseAbi,
  toFunctionSelector,
} from 'viem'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { findRecipientRouter, locateUptoRouter } from '../../../../../src/chains/evm/contracts/routers.js'
import { uptoRouter } from '../../../../../src/chains/evm/contracts/uptoRouter.js'
import { uptoRouterAbi } from '../../../../../src/chains/evm/contracts/uptoRouterAbi.js'
import { randomAddress } from '../../../../support/evm/authorization.js'
import { type LocalChain, startLocalChain } from '../../../../support/evm/localChain.js'
import { createTestRouter, readRefusal, type TestRouter } from '../../../../support/evm/uptoRouter.js'
import { createEoa } from '../../../../support/evm/wallets.js'

/* Where the router and the routers of recipients are, and what their code is. */

let chain: LocalChain
let router: TestRouter

beforeAll(async () => {
  chain = await startLocalChain()
  router = await createTestRouter(chain)
})
afterAll(() => chain.stop())

const read = (functionName: 'isFacilitator' | 'routerOf', account: Address) =>
  chain.client.readContract({ address: router.address, abi: uptoRouterAbi, functionName, args: [account] })
const codeAt = async (address: Address): Promise<Hex> => (await chain.client.getCode({ address })) ?? '0x'

describe('the router', () => {
  it('has the published code with any facilitators', async () => {
    expect(keccak256(await codeAt(router.address))).toBe(uptoRouter.codeHash)
  })

  it('is at one address for a set of signers, in any order, letter case and repetition', () => {
    const [first, second, third] = [randomAddress(), randomAddress(), randomAddress()]
    const { address } = locateUptoRouter([first, second, third])
    const upper: Hex = `0x${third.slice(2).toUpperCase()}`
    expect(locateUptoRouter([upper, first, second, third]).address).toBe(address)
    expect(locateUptoRouter([first, second]).address).not.toBe(address)
  })

  it('knows its facilitators and no other account', async () => {
    for (const { address } of chain.facilitators) expect(await read('isFacilitator', address)).toBe(true)
    for (const address of [createEoa().address, router.address, `0x${'00'.repeat(20)}`] as const)
      expect(await read('isFacilitator', address)).toBe(false)
  })

  const [low, high]: readonly [Address, Address] = [`0x${'11'.repeat(20)}`, `0x${'22'.repeat(20)}`]
  it.each<[string, readonly Address[]]>([
    ['none', []],
    ['the zero address', [`0x${'00'.repeat(20)}`, low]],
    ['a repetition', [low, low]],
    ['another order', [high, low]],
  ])('cannot be deployed with facilitators that are not ascending: %s', async (_what, facilitators) => {
    const data = concatHex([
      uptoRouter.creationCode,
      encodeAbiParameters([{ type: 'address[]' }], [facilitators]),
    ])
    await expect(chain.client.call({ data })).rejects.toThrow(toFunctionSelector('InvalidFacilitators()'))
    const sorted = concatHex([
      uptoRouter.creationCode,
      encodeAbiParameters([{ type: 'address[]' }], [[low, high]]),
    ])
    expect((await chain.client.call({ data: sorted })).data).toBe(await codeAt(router.address))
  })

  it('accepts no native coin', async () => {
    for (const data of ['0x', '0x00000000'] as const) {
      const { account } = router.facilitator
      const { status } = await chain.send({ account, to: router.address, value: 1n, data, gas: 100_000n })
      expect(status).toBe('reverted')
    }
  })
})

describe('the router of a recipient', () => {
  it('is where the router says, for every recipient', async () => {
    const addresses = fc
      .uint8Array({ minLength: 20, maxLength: 20 })
      .map((bytes): Hex => `0x${Buffer.from(bytes).toString('hex')}`)
    await fc.assert(
      fc.asyncProperty(addresses, async (recipient) => {
        expect(findRecipientRouter(router.address, recipient)).toBe(await read('routerOf', recipient))
      }),
      { numRuns: 30 },
    )
  })

  it('is a clone by EIP-1167 that ends with its recipient', async () => {
    const wallet = createEoa()
    await chain.mint(wallet.address, 1_000n)
    const payment = await router.sign({ wallet, isBound: true })
    await router.settle(payment)
    const code = await codeAt(router.routerOf(payment.to))
    expect(code).toMatch(
      new RegExp(`^0x363d3d373d3d3d363d73[0-9a-f]{40}5af43d82803e903d91602b57fd5bf3${payment.to.slice(2)}$`),
    )
  })

  it('obeys its router only, as does the code that it is a clone of', async () => {
    const wallet = createEoa()
    await chain.mint(wallet.address, 1_000n)
    const payment = await router.sign({ wallet, isBound: true, amount: 1n })
    await router.settle(payment)
    const clone = router.routerOf(payment.to)
    const implementation: Hex = `0x${(await codeAt(clone)).slice(22, 62)}`
    expect(await router.allowanceOf(payment.token, wallet.address, clone)).toBe(999n)
    const abi = parseAbi([
      'function pull(address token, address owner, uint256 amount)',
      'error NotRouter(address caller)',
    ])
    for (const address of [clone, implementation])
      for (const account of [router.facilitator.address, payment.to, wallet.address, clone]) {
        const args = [payment.token, wallet.address, 1n] as const
        const call = chain.client.simulateContract({ address, abi, functionName: 'pull', args, account })
        expect(await readRefusal(call)).toBe('NotRouter')
      }
    expect(await codeAt(implementation)).not.toBe('0x')
  })
})
