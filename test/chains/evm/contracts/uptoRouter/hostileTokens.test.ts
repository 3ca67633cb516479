import {
  type Address,
  encodeFunctionData,
  type Hex,
  parseAbi,
  parseEventLogs,
  type TransactionReceipt,
  toFunctionSelector,
} from 'viem'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { uptoRouterAbi } from '../../../../../src/chains/evm/contracts/uptoRouterAbi.js'
import { randomAddress, randomHex, unixNow } from '../../../../support/evm/authorization.js'
import { type LocalChain, startLocalChain } from '../../../../support/evm/localChain.js'
import { deployTestToken, permitTokenBehaviours, type TestToken } from '../../../../support/evm/testTokens.js'
import {
  createTestRouter,
  encodeRouterSettle,
  permitTokenAbi,
  type RouterPayment,
  type RouterPaymentOptions,
  type TestRouter,
} from '../../../../support/evm/uptoRouter.js'
import { createEoa, type EoaWallet } from '../../../../support/evm/wallets.js'

/* What tokens do to the router that misbehave, and what they cannot do. */

const hostileAbi = parseAbi([
  'event Reentered(bool isDone, bytes result)',
  'function pull(address token, address owner, uint256 amount)',
  'function permit(address holder, address spender, uint256 nonce, uint256 expiry, bool allowed, uint8 v, bytes32 r, bytes32 s)',
])

let chain: LocalChain
let router: TestRouter
let hostile: TestToken
let payer: EoaWallet

beforeAll(async () => {
  chain = await startLocalChain()
  router = await createTestRouter(chain)
})
beforeEach(async () => {
  payer = createEoa()
  hostile = await deployTestToken(chain, 'HostilePermitToken')
  await hostile.mint(payer.address, 10_000n)
})
afterAll(() => chain.stop())

const behave = (behaviour: (typeof permitTokenBehaviours)[number]): Promise<void> =>
  hostile.write('setBehaviour', [permitTokenBehaviours.indexOf(behaviour)])
const sign = (options: Partial<RouterPaymentOptions> = {}): Promise<RouterPayment> =>
  router.sign({ wallet: payer, token: hostile.token, ...options })
const refusalOf = (payment: RouterPayment): Promise<string> =>
  router.refusalOf({ functionName: 'settle', args: [payment] })
const approve = async (token: Address, spender: Address): Promise<void> => {
  await chain.fundGas(payer.address)
  const data = encodeFunctionData({ abi: permitTokenAbi, functionName: 'approve', args: [spender, 10_000n] })
  await chain.send({ account: payer.account, to: token, data })
}

describe.each([
  ['the shared router', false],
  ['the router of a recipient', true],
] as const)('by %s', (_spender, isBound) => {
  it.each([
    ['transferReturnsFalse', 'TransferFailed'],
    ['transferReturnsTwo', 'TransferFailed'],
    ['transferReturnsOneByte', 'TransferFailed'],
    ['transferReverts', 'transfer refused'],
    ['permitReverts', 'permit refused'],
    ['permitDoesNothing', 'PermitNotApplied'],
  ] as const)('a token that %s settles nothing: %s', async (behaviour, refusal) => {
    await behave(behaviour)
    const payment = await sign({ isBound })
    expect(await refusalOf(payment)).toBe(refusal)
    expect((await router.settle(payment)).status).toBe('reverted')
    expect(await hostile.balanceOf(payer.address)).toBe(10_000n)
  })

  it('a token whose transfer returns nothing settles', async () => {
    await behave('transferReturnsNothing')
    const payment = await sign({ isBound })
    expect((await router.settle(payment)).status).toBe('success')
    expect(await hostile.balanceOf(payment.to)).toBe(600n)
  })

  it('a token that takes a fee credits the recipient with less, and leaves nothing on the way', async () => {
    await behave('transferTakesFee')
    const payment = await sign({ isBound })
    expect((await router.settle(payment)).status).toBe('success')
    expect(await hostile.balanceOf(payment.to)).toBe(594n)
    for (const address of [router.address, router.routerOf(payment.to)])
      expect(await hostile.balanceOf(address)).toBe(0n)
  })

  it('a token whose permit accepts every signature without effect does not release what is left', async () => {
    const first = await sign({ isBound })
    await router.settle(first)
    await behave('permitDoesNothing')
    const forged = { ...first, permitNonce: 1n, amount: 400n, signature: randomHex(65) }
    expect(await refusalOf(forged)).toBe('PermitNotApplied')
    expect((await router.settle(forged)).status).toBe('reverted')
    expect(await hostile.balanceOf(payer.address)).toBe(9_400n)
  })
})

describe('a token that calls the router', () => {
  const reentryOf = (receipt: TransactionReceipt) =>
    parseEventLogs({ abi: hostileAbi, eventName: 'Reentered', logs: receipt.logs }).map(({ args }) => args)

  it.each(['permitReenters', 'transferReenters'] as const)(
    'is no facilitator, whatever it calls: %s',
    async (behaviour) => {
      const victim = createEoa()
      await chain.mint(victim.address, 10_000n)
      const bound = await router.sign({ wallet: victim, isBound: true })
      await router.settle(bound)
      const signed = await router.sign({ wallet: victim })
      const call = { target: router.address, id: randomHex(32), data: encodeRouterSettle(signed) }
      const { address } = router
      const abi = uptoRouterAbi
      const notFacilitator = toFunctionSelector('NotFacilitator(address)')
      const attacks: readonly (readonly [Address, Hex, Hex])[] = [
        [address, encodeRouterSettle(signed), notFacilitator],
        [address, encodeFunctionData({ abi, functionName: 'executeOne', args: [call] }), notFacilitator],
        [address, encodeFunctionData({ abi, functionName: 'execute', args: [[call]] }), notFacilitator],
        [
          router.routerOf(bound.to),
          encodeFunctionData({
            abi: hostileAbi,
            functionName: 'pull',
            args: [bound.token, victim.address, 400n],
          }),
          toFunctionSelector('NotRouter(address)'),
        ],
      ]
      await behave(behaviour)
      for (const [target, data, refusal] of attacks) {
        await hostile.write('setReentry', [target, data])
        for (const isBound of [false, true]) {
          const receipt = await router.settle(await sign({ isBound }))
          expect(receipt.status).toBe('success')
          expect(reentryOf(receipt)).toEqual([
            { isDone: false, result: expect.stringMatching(new RegExp(`^${refusal}`)) },
          ])
        }
      }
      expect(await chain.balanceOf(victim.address)).toBe(9_400n)
    },
  )
})

describe('a token whose permit burns its gas', () => {
  it('burns no more than an equal share of a batch, and stops no other payment', async () => {
    await behave('permitBurnsGas')
    const honest = createEoa()
    await chain.mint(honest.address, 10_000n)
    const burning = await sign()
    const good = await router.sign({ wallet: honest })
    const calls = [burning, burning, good].map((payment) => ({
      target: router.address,
      id: payment.paymentNonce,
      data: encodeRouterSettle(payment),
    }))
    const receipt = await router.execute(calls, 1_000_000n)
    expect(receipt.status).toBe('success')
    expect(await chain.balanceOf(good.to)).toBe(600n)
    expect(receipt.gasUsed).toBeLessThan(900_000n)
  })
})

describe('Dai', () => {
  it('has no permit of an amount: its payments are refused, also with an allowance', async () => {
    const dai = await deployTestToken(chain, 'DaiToken')
    await dai.mint(payer.address, 10_000n)
    const payment = await router.sign({ wallet: payer, token: dai.token })
    expect(await refusalOf(payment)).toBe('no data')
    await approve(dai.address, router.address)
    expect(await refusalOf(payment)).toBe('no data')
  })

  it('moves no more than an EIP-2612 signature names, if a holder permits the router everything', async () => {
    const dai = await deployTestToken(chain, 'DaiToken')
    await dai.mint(payer.address, 10_000n)
    const message = {
      holder: payer.address,
      spender: router.address,
      nonce: 0n,
      expiry: BigInt(unixNow() + 3_600),
      allowed: true,
    }
    const signature = await payer.signTypedData({
      domain: { ...dai.token },
      types: {
        Permit: [
          { name: 'holder', type: 'address' },
          { name: 'spender', type: 'address' },
          { name: 'nonce', type: 'uint256' },
          { name: 'expiry', type: 'uint256' },
          { name: 'allowed', type: 'bool' },
        ],
      },
      primaryType: 'Permit',
      message,
    })
    const { holder, spender, nonce, expiry, allowed } = message
    const [r, s, v]: readonly [Hex, Hex, number] = [
      `0x${signature.slice(2, 66)}`,
      `0x${signature.slice(66, 130)}`,
      Number(`0x${signature.slice(130)}`),
    ]
    await chain.fundGas(payer.address)
    const args = [holder, spender, nonce, expiry, allowed, v, r, s] as const
    const data = encodeFunctionData({ abi: hostileAbi, functionName: 'permit', args })
    expect((await chain.send({ account: payer.account, to: dai.address, data })).status).toBe('success')

    const payment = await router.sign({ wallet: payer, token: dai.token, permitNonce: 0n })
    expect(await refusalOf({ ...payment, signature })).toBe('InvalidPermitSignature')
    expect(await refusalOf({ ...payment, amount: 1_001n })).toBe('AmountAboveMaximum')
    expect((await router.settle(payment)).status).toBe('success')
    expect(await refusalOf(payment)).toBe('PermitAlreadySettled')
    expect(await dai.balanceOf(payer.address)).toBe(9_400n)
  })
})

describe('a token that accepts every call, such as wrapped Ether', () => {
  it('is refused, although the payer approved the router', async () => {
    const token = await deployTestToken(chain, 'AcceptsEverythingToken')
    await token.mint(payer.address, 10_000n)
    await approve(token.address, router.address)
    const payment = await router.sign({ wallet: payer, token: token.token, permitNonce: 0n })
    expect(await refusalOf(payment)).toBe('no data')
    expect((await router.settle({ ...payment, to: randomAddress() })).status).toBe('reverted')
    expect(await token.balanceOf(payer.address)).toBe(10_000n)
  })
})
