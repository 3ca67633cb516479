import { x402ExactPermit2ProxyABI, x402UptoPermit2ProxyABI } from '@x402/evm'
import {
  type Address,
  encodeFunctionData,
  erc20Abi,
  getAddress,
  type Hex,
  parseAbi,
  parseEventLogs,
  type TransactionReceipt,
  toFunctionSelector,
  zeroHash,
} from 'viem'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { uptoRouterAbi } from '../../../../../src/chains/evm/contracts/uptoRouterAbi.js'
import { getArtifact } from '../../../../support/contracts/artifacts.js'
import { randomAddress, randomHex } from '../../../../support/evm/authorization.js'
import { type LocalChain, startLocalChain } from '../../../../support/evm/localChain.js'
import { exactPayment } from '../../../../support/evm/payment.js'
import {
  encodeSettle,
  exactProxyAddress,
  permit2Address,
  permitPayment,
  setUsdcAllowance,
} from '../../../../support/evm/permit2.js'
import { encodeTransfer } from '../../../../support/evm/transfer.js'
import {
  createTestRouter,
  encodeRouterSettle,
  type RouterCall,
  type RouterPaymentOptions,
  type TestRouter,
} from '../../../../support/evm/uptoRouter.js'
import { createEoa } from '../../../../support/evm/wallets.js'

/* The router as a batch contract: what it calls, what a failure affects, and what it refuses to call. */

const uptoProxyAddress = '0x4020A4f3b7b90ccA423B9fabCc0CE57C6C240002'

let chain: LocalChain
let router: TestRouter
let usdc: Address

beforeAll(async () => {
  chain = await startLocalChain()
  router = await createTestRouter(chain)
  usdc = chain.token.verifyingContract
})
afterAll(() => chain.stop())

interface PlannedCall {
  readonly call: RouterCall
  readonly payTo: Address
}

const callOf = (target: Address, data: Hex, id: Hex = randomHex(32)): RouterCall => ({ target, id, data })

const fundedEoa = async (amount = 10_000n) => {
  const wallet = createEoa()
  await chain.mint(wallet.address, amount)
  return wallet
}

const planPermit = async (options: Partial<RouterPaymentOptions> = {}): Promise<PlannedCall> => {
  const payment = await router.sign({ wallet: await fundedEoa(), ...options })
  return { call: callOf(router.address, encodeRouterSettle(payment)), payTo: payment.to }
}
const planTransfer = async (form: 'vrs' | 'bytes'): Promise<PlannedCall> => {
  const payTo = randomAddress()
  const body = await exactPayment({ chain, wallet: await fundedEoa(), payTo, amount: 600n })
  const { to, data } = encodeTransfer(body, form)
  return { call: callOf(to, data), payTo }
}
const planPermit2 = async (): Promise<PlannedCall> => {
  const payTo = randomAddress()
  const wallet = await fundedEoa()
  await setUsdcAllowance(chain, wallet.address)
  const body = await permitPayment({ chain, wallet, payTo, amount: 600n })
  return { call: callOf(exactProxyAddress, encodeSettle(body)), payTo }
}

const executedIds = ({ logs }: TransactionReceipt): readonly Hex[] =>
  parseEventLogs({ abi: uptoRouterAbi, eventName: 'Executed', logs }).map(({ args }) => args.id)
const readExecuted = async (calls: readonly RouterCall[]): Promise<bigint> => {
  const { result } = await chain.client.simulateContract({
    address: router.address,
    abi: uptoRouterAbi,
    functionName: 'execute',
    args: [calls],
    account: router.facilitator.address,
  })
  return result
}
const refusalOf = (calls: readonly RouterCall[]): Promise<string> =>
  router.refusalOf({ functionName: 'execute', args: [calls] })
const refusalOfOne = (call: RouterCall): Promise<string> =>
  router.refusalOf({ functionName: 'executeOne', args: [call] })

describe('a batch', () => {
  it('settles permits, EIP-3009 and Permit2 together, whatever becomes of one of them', async () => {
    const poor = await fundedEoa(599n)
    const plans = [
      await planPermit(),
      await planPermit({ wallet: poor }),
      await planPermit({ isBound: true }),
      await planTransfer('vrs'),
      await planTransfer('bytes'),
      await planPermit2(),
    ]
    const calls = plans.map(({ call }) => call)
    expect(await readExecuted(calls)).toBe(0b111101n)
    const receipt = await router.execute(calls)
    expect(receipt.status).toBe('success')
    expect(executedIds(receipt)).toEqual(calls.filter((_call, index) => index !== 1).map(({ id }) => id))
    for (const [index, { payTo }] of plans.entries())
      expect(await chain.balanceOf(payTo)).toBe(index === 1 ? 0n : 600n)
  })

  it('reports no call without an id', async () => {
    const { call, payTo } = await planTransfer('bytes')
    const receipt = await router.execute([{ ...call, id: zeroHash }])
    expect(executedIds(receipt)).toEqual([])
    expect(await chain.balanceOf(payTo)).toBe(600n)
  })

  it('settles a permit that is included twice once, and two permits of one payer in their order', async () => {
    const wallet = await fundedEoa()
    const first = await router.sign({ wallet })
    const second = await router.sign({ wallet, permitNonce: 1n })
    const calls = [first, first, second].map((each) => callOf(router.address, encodeRouterSettle(each)))
    expect(await readExecuted(calls)).toBe(0b101n)
    await router.execute(calls)
    expect(await chain.balanceOf(wallet.address)).toBe(8_800n)
    expect(await readExecuted([...calls].reverse())).toBe(0n)
  })

  it('has none to 255 calls, and counts one without code as failed', async () => {
    expect(await readExecuted([])).toBe(0n)
    const data = '0xe3ee160e'
    const empty = Array.from({ length: 254 }, () => callOf(randomAddress(), data))
    const { call } = await planTransfer('bytes')
    expect(await readExecuted([...empty, call])).toBe(1n << 254n)
    expect(await refusalOf([...empty, call, call])).toBe('TooManyCalls')
    expect(executedIds(await router.execute([...empty.slice(0, 3)]))).toEqual([])
  })

  it('copies no data that a call returns or reverts with', async () => {
    const { abi, bytecode } = getArtifact('HostileToken3009')
    const hostile = await chain.deploy({ abi, bytecode })
    const behave = (value: bigint): RouterCall => {
      const body = [randomAddress(), randomAddress(), value, 0n, 0n, randomHex(32), '0x'] as const
      return callOf(
        hostile,
        encodeFunctionData({
          abi: parseAbi([
            'function transferWithAuthorization(address, address, uint256, uint256, uint256, bytes32, bytes)',
          ]),
          args: body,
        }),
      )
    }
    // By the value: 4 returns and 5 reverts with 150,000 bytes, which cost the token about 60,000 gas; a copy would cost
    // the router more than is left.
    const much = behave(4n)
    expect(executedIds(await router.execute([much], 120_000n))).toEqual([much.id])
    expect((await router.execute([behave(5n)], 120_000n)).status).toBe('success')
    // 2 reverts, 3 burns its gas.
    const { call, payTo } = await planPermit({ isBound: true })
    const calls = [behave(2n), behave(3n), behave(4n), behave(5n), call]
    const receipt = await router.execute(calls, 1_500_000n)
    expect(receipt.status).toBe('success')
    expect(await chain.balanceOf(payTo)).toBe(600n)
    expect(executedIds(receipt)).toContain(call.id)
  })

  it('gives a call that burns its gas no more than an equal share', async () => {
    const { abi, bytecode } = getArtifact('HostilePermitToken')
    const token = await chain.deploy({ abi, bytecode, args: ['Test Token', '1'] })
    await chain.send({
      account: router.facilitator.account,
      to: token,
      data: encodeFunctionData({ abi, functionName: 'setBehaviour', args: [3] }),
    })
    const burning = await planPermit({ token: { ...chain.token, verifyingContract: token } })
    const good = await Promise.all(Array.from({ length: 9 }, () => planTransfer('bytes')))
    const receipt = await router.execute([burning.call, ...good.map(({ call }) => call)], 1_500_000n)
    expect(executedIds(receipt)).toEqual(good.map(({ call }) => call.id))
    expect(receipt.gasUsed).toBeLessThan(150_000n + 9n * 90_000n)
  })
})

describe('one call', () => {
  const executeOne = (call: RouterCall): Promise<TransactionReceipt> =>
    chain.send({
      account: router.facilitator.account,
      to: router.address,
      data: encodeFunctionData({ abi: uptoRouterAbi, functionName: 'executeOne', args: [call] }),
      gas: 1_000_000n,
    })

  it.each<[string, () => Promise<PlannedCall>]>([
    ['a permit', () => planPermit({ isBound: true })],
    ['EIP-3009', () => planTransfer('vrs')],
    ['Permit2', planPermit2],
  ])('settles %s and reports its id', async (_what, plan) => {
    const { call, payTo } = await plan()
    expect(executedIds(await executeOne(call))).toEqual([call.id])
    expect(await chain.balanceOf(payTo)).toBe(600n)
    expect(executedIds(await executeOne({ ...(await plan()).call, id: zeroHash }))).toEqual([])
  })

  it('reverts with the error of what it calls', async () => {
    const { call: poor } = await planPermit({ wallet: await fundedEoa(599n) })
    expect(await refusalOfOne(poor)).toBe('ERC20: transfer amount exceeds balance')
    const { call: excessive } = await planPermit({ amount: 1_001n })
    expect(await refusalOfOne(excessive)).toBe('AmountAboveMaximum')
    const { call } = await planTransfer('bytes')
    expect(await refusalOfOne({ ...call, target: randomAddress() })).toBe('NoCode')
  })
})

describe('the proxies of x402', () => {
  const functions = ['settle', 'settleWithPermit'] as const
  const selectorOf = (abi: readonly { readonly type: string; readonly name?: string }[], name: string): Hex =>
    toFunctionSelector(
      JSON.parse(JSON.stringify(abi.find((item) => item.type === 'function' && item.name === name))),
    )
  const exact = { address: getAddress(exactProxyAddress), abi: x402ExactPermit2ProxyABI }
  const upto = { address: getAddress(uptoProxyAddress), abi: x402UptoPermit2ProxyABI }
  const proxies = [exact, upto]

  it.each(functions)('can be called with %s of their own ABI only', async (name) => {
    const before = await chain.control.snapshot()
    // Code that accepts every call.
    for (const { address } of proxies) await chain.control.setCode(address, '0x00')
    const own = proxies.map(({ address, abi }) => callOf(address, selectorOf(abi, name)))
    expect(await readExecuted(own)).toBe(0b11n)
    expect(executedIds(await router.execute(own))).toEqual(own.map(({ id }) => id))
    expect(await refusalOf([callOf(exact.address, selectorOf(upto.abi, name))])).toBe('ForbiddenCall')
    expect(await refusalOf([callOf(upto.address, selectorOf(exact.abi, name))])).toBe('ForbiddenCall')
    await chain.control.revert(before)
  })
})

describe('the router makes no other call', () => {
  it('such as transferFrom, with which a facilitator could take what permits left', async () => {
    const wallet = await fundedEoa()
    for (const isBound of [false, true]) {
      const payment = await router.sign({ wallet, isBound })
      await router.settle(payment)
      const args = [wallet.address, randomAddress(), 400n] as const
      const theft = callOf(usdc, encodeFunctionData({ abi: erc20Abi, functionName: 'transferFrom', args }))
      const pull = encodeFunctionData({
        abi: parseAbi(['function pull(address token, address owner, uint256 amount)']),
        args: [usdc, wallet.address, 400n],
      })
      for (const call of [theft, callOf(router.routerOf(payment.to), pull)]) {
        expect(await refusalOfOne(call)).toBe('ForbiddenCall')
        expect(await refusalOf([call])).toBe('ForbiddenCall')
      }
    }
    expect(await chain.balanceOf(wallet.address)).toBe(8_800n)
  })

  it.each([
    'transfer(address,uint256)',
    'approve(address,uint256)',
    'permit(address,address,uint256,uint256,uint8,bytes32,bytes32)',
    'receiveWithAuthorization(address,address,uint256,uint256,uint256,bytes32,uint8,bytes32,bytes32)',
    'cancelAuthorization(address,bytes32,uint8,bytes32,bytes32)',
    'increaseAllowance(address,uint256)',
  ])('on a token: %s', async (signature) => {
    expect(await refusalOf([callOf(usdc, toFunctionSelector(signature))])).toBe('ForbiddenCall')
  })

  it('on itself, on Permit2, on other contracts, or without a function', async () => {
    const { call } = await planPermit()
    const abi = uptoRouterAbi
    const nested = [
      encodeFunctionData({ abi, functionName: 'execute', args: [[call]] }),
      encodeFunctionData({ abi, functionName: 'executeOne', args: [call] }),
    ]
    for (const data of nested) expect(await refusalOf([callOf(router.address, data)])).toBe('ForbiddenCall')
    const settle = (await planPermit2()).call
    for (const target of [permit2Address, uptoProxyAddress, router.address, usdc, randomAddress()] as const)
      expect(await refusalOf([{ ...settle, target }])).toBe('ForbiddenCall')
    expect(await refusalOf([{ ...call, target: exactProxyAddress }])).toBe('ForbiddenCall')
    for (const data of ['0x', '0xe3ee16', '0xcf0929'] as const)
      expect(await refusalOf([callOf(usdc, data)])).toBe('ForbiddenCall')
  })

  it('and undoes the whole batch when one is attempted', async () => {
    const { call, payTo } = await planTransfer('bytes')
    const forbidden = callOf(usdc, toFunctionSelector('transfer(address,uint256)'))
    expect((await router.execute([call, forbidden])).status).toBe('reverted')
    expect(await chain.balanceOf(payTo)).toBe(0n)
    expect((await router.execute([call])).status).toBe('success')
  })
})
