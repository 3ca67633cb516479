import { type Address, maxUint256, parseEventLogs, type TransactionReceipt, zeroAddress } from 'viem'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { uptoRouterAbi } from '../../../../../src/chains/evm/contracts/uptoRouterAbi.js'
import { randomAddress } from '../../../../support/evm/authorization.js'
import { type LocalChain, startLocalChain } from '../../../../support/evm/localChain.js'
import {
  createTestRouter,
  encodeRouterSettle,
  type RouterPayment,
  type TestRouter,
} from '../../../../support/evm/uptoRouter.js'
import { createEoa, type EoaWallet } from '../../../../support/evm/wallets.js'

/* The rules of `settle`, with Circle's USDC. */

let chain: LocalChain
let router: TestRouter
let payer: EoaWallet
let usdc: Address

beforeAll(async () => {
  chain = await startLocalChain()
  router = await createTestRouter(chain)
  usdc = chain.token.verifyingContract
})
beforeEach(async () => {
  payer = createEoa()
  await chain.mint(payer.address, 10_000n)
})
afterAll(() => chain.stop())

const settledOf = ({ logs }: TransactionReceipt) =>
  parseEventLogs({ abi: uptoRouterAbi, eventName: 'Settled', logs }).map(({ args }) => args)
const refusalOf = (payment: RouterPayment, from?: Address): Promise<string> =>
  router.refusalOf({ functionName: 'settle', args: [payment] }, from)
const codeAt = (address: Address) => chain.client.getCode({ address })

describe.each([
  ['the shared router', false],
  ['the router of a recipient', true],
] as const)('a permit for %s', (_spender, isBound) => {
  const spenderOf = ({ to }: RouterPayment): Address => (isBound ? router.routerOf(to) : router.address)

  it('moves exactly the used amount to the recipient, and reports it', async () => {
    const payment = await router.sign({ wallet: payer, isBound, amount: 600n })
    const receipt = await router.settle(payment)
    expect(receipt.status).toBe('success')
    expect(await chain.balanceOf(payment.to)).toBe(600n)
    expect(await chain.balanceOf(payer.address)).toBe(9_400n)
    expect(await router.nonceOf(usdc, payer.address)).toBe(1n)
    expect(settledOf(receipt)).toEqual([
      {
        token: usdc,
        owner: payer.address,
        paymentNonce: payment.paymentNonce,
        to: expect.stringMatching(new RegExp(payment.to, 'i')),
        amount: 600n,
        permitNonce: 0n,
        spender: spenderOf(payment),
      },
    ])
  })

  it('can be settled with all of its maximum', async () => {
    const payment = await router.sign({ wallet: payer, isBound, amount: 1_000n, maxAmount: 1_000n })
    expect((await router.settle(payment)).status).toBe('success')
    expect(await router.allowanceOf(usdc, payer.address, spenderOf(payment))).toBe(0n)
  })

  it('is used up by an amount of 0, which moves nothing and deploys nothing', async () => {
    const payment = await router.sign({ wallet: payer, isBound, amount: 0n })
    const receipt = await router.settle(payment)
    expect(settledOf(receipt)).toMatchObject([{ amount: 0n }])
    expect(await router.nonceOf(usdc, payer.address)).toBe(1n)
    expect(await chain.balanceOf(payer.address)).toBe(10_000n)
    expect(await codeAt(router.routerOf(payment.to))).toBeUndefined()
    expect(await refusalOf({ ...payment, amount: 600n })).toBe('PermitAlreadySettled')
  })

  it('is settled once, although some of its allowance is left', async () => {
    const payment = await router.sign({ wallet: payer, isBound })
    await router.settle(payment)
    expect(await router.allowanceOf(usdc, payer.address, spenderOf(payment))).toBe(400n)
    for (const amount of [0n, 1n, 400n])
      expect(await refusalOf({ ...payment, amount })).toBe('PermitAlreadySettled')
    expect((await router.settle({ ...payment, amount: 400n })).status).toBe('reverted')
    expect(await chain.balanceOf(payment.to)).toBe(600n)
  })

  it('is settled although another account submitted it first', async () => {
    const payment = await router.sign({ wallet: payer, isBound })
    expect((await router.frontRun(payment)).status).toBe('success')
    expect(settledOf(await router.settle(payment))).toMatchObject([{ amount: 600n, permitNonce: 0n }])
    expect(await chain.balanceOf(payment.to)).toBe(600n)
    expect(await refusalOf({ ...payment, amount: 400n })).toBe('PermitAlreadySettled')
  })

  it('that was submitted first is not settled without its signature', async () => {
    const payment = await router.sign({ wallet: payer, isBound })
    await router.frontRun(payment)
    const { signature } = await router.sign({ wallet: createEoa(), isBound })
    for (const changed of [
      { signature },
      { signature: '0x' as const },
      { maxAmount: 1_001n },
      { deadline: payment.deadline + 1n },
    ])
      expect(await refusalOf({ ...payment, ...changed })).toBe('InvalidPermitSignature')
  })

  it('that the payer revoked moves nothing', async () => {
    const payment = await router.sign({ wallet: payer, isBound })
    await router.frontRun(payment)
    // Another permit with an amount of 0 sets the allowance back.
    const revocation = await router.sign({
      wallet: payer,
      isBound,
      to: payment.to,
      maxAmount: 0n,
      amount: 0n,
    })
    await router.frontRun(revocation)
    expect(await refusalOf(payment)).toBe('ERC20: transfer amount exceeds allowance')
    expect((await router.settle({ ...payment, amount: 0n })).status).toBe('success')
  })

  it('does not release what an earlier one left without another signature', async () => {
    const first = await router.sign({ wallet: payer, isBound })
    await router.settle(first)
    // The payer uses the next nonce for something else: the allowance stands, and the nonce is behind.
    const spender = randomAddress()
    const other = await router.sign({ wallet: payer, signed: { spender } })
    expect((await router.frontRun(other, spender)).status).toBe('success')
    const forged = { ...first, permitNonce: 1n, amount: 400n }
    expect(await refusalOf(forged)).toBe('InvalidPermitSignature')
    expect(await refusalOf({ ...forged, signature: other.signature })).toBe('InvalidPermitSignature')
    expect((await router.settle(forged)).status).toBe('reverted')
    expect(await router.allowanceOf(usdc, payer.address, spenderOf(first))).toBe(400n)
  })

  it('is refused after its deadline, and accepted in that second', async () => {
    const { timestamp } = await chain.control.getHead()
    const deadline = BigInt(timestamp + 100)
    const payment = await router.sign({ wallet: payer, isBound, deadline })
    await router.frontRun(payment)
    const before = await chain.control.snapshot()
    await chain.control.setNextBlockTimestamp(timestamp + 101)
    expect((await router.settle(payment)).status).toBe('reverted')
    expect(await refusalOf(payment)).toBe('PermitExpired')
    await chain.control.revert(before)
    await chain.control.setNextBlockTimestamp(timestamp + 100)
    expect((await router.settle(payment)).status).toBe('success')
  })

  it('may have no deadline', async () => {
    const payment = await router.sign({ wallet: payer, isBound, deadline: maxUint256 })
    expect((await router.settle(payment)).status).toBe('success')
  })

  it('settles payment after payment of one payer', async () => {
    const to = randomAddress()
    for (let count = 1n; count <= 3n; count++) {
      await router.settle(await router.sign({ wallet: payer, isBound, to }))
      expect(await chain.balanceOf(to)).toBe(600n * count)
    }
  })
})

describe('settle refuses', () => {
  it('every account that is not a facilitator: the payer, the recipient, the router of the recipient', async () => {
    const payment = await router.sign({ wallet: payer, isBound: true })
    for (const from of [payer.address, payment.to, createEoa().address, router.routerOf(payment.to)]) {
      expect(await refusalOf(payment, from)).toBe('NotFacilitator')
      const call = { target: router.address, id: payment.paymentNonce, data: encodeRouterSettle(payment) }
      expect(await router.refusalOf({ functionName: 'executeOne', args: [call] }, from)).toBe(
        'NotFacilitator',
      )
      expect(await router.refusalOf({ functionName: 'execute', args: [[call]] }, from)).toBe('NotFacilitator')
    }
  })

  it('more than the maximum, also when the allowance would suffice', async () => {
    const payment = await router.sign({ wallet: payer, amount: 1_001n })
    expect(await refusalOf(payment)).toBe('AmountAboveMaximum')
    await router.frontRun(payment)
    expect(await refusalOf(payment)).toBe('AmountAboveMaximum')
  })

  it('a recipient with which tokens would be lost', async () => {
    for (const to of [zeroAddress, router.address])
      expect(await refusalOf(await router.sign({ wallet: payer, to }))).toBe('InvalidRecipient')
  })

  it('a permit before the one that the token expects is used', async () => {
    expect(await refusalOf(await router.sign({ wallet: payer, permitNonce: 1n }))).toBe('PermitNonceMismatch')
    expect(await refusalOf(await router.sign({ wallet: payer, permitNonce: maxUint256 }))).toBe('Panic')
  })

  it('an earlier permit after a later one', async () => {
    const first = await router.sign({ wallet: payer })
    await router.frontRun(first)
    const second = await router.sign({ wallet: payer })
    expect((await router.settle(second)).status).toBe('success')
    expect(await refusalOf({ ...first, amount: 1n })).toBe('PermitAlreadySettled')
  })

  it('another recipient for a permit of the router of a recipient', async () => {
    const payment = await router.sign({ wallet: payer, isBound: true })
    const thief = randomAddress()
    for (const changed of [{ to: thief }, { isBound: false }, { to: thief, isBound: false }]) {
      expect(await refusalOf({ ...payment, ...changed })).toBe('EIP2612: invalid signature')
    }
    await router.frontRun(payment)
    for (const changed of [{ to: thief }, { isBound: false }, { to: thief, isBound: false }]) {
      expect(await refusalOf({ ...payment, ...changed })).toBe('InvalidPermitSignature')
    }
    expect((await router.settle(payment)).status).toBe('success')
  })

  it('terms that were not signed', async () => {
    for (const signed of [
      { value: 999n },
      { deadline: 1n },
      { nonce: 1n },
      { owner: randomAddress() },
      { spender: randomAddress() },
    ])
      expect(await refusalOf(await router.sign({ wallet: payer, signed }))).toBe('EIP2612: invalid signature')
  })

  it('a token without code', async () => {
    const token = { ...chain.token, verifyingContract: randomAddress() }
    expect(await refusalOf(await router.sign({ wallet: payer, token, permitNonce: 0n }))).toBe('no data')
  })

  it('what the token refuses, with its message, and leaves no trace', async () => {
    const poor = createEoa()
    await chain.mint(poor.address, 599n)
    const payment = await router.sign({ wallet: poor, isBound: true })
    expect(await refusalOf(payment)).toBe('ERC20: transfer amount exceeds balance')
    expect((await router.settle(payment)).status).toBe('reverted')
    expect(await router.nonceOf(usdc, poor.address)).toBe(0n)
    expect(await codeAt(router.routerOf(payment.to))).toBeUndefined()
    expect((await router.settle({ ...payment, amount: 599n })).status).toBe('success')
  })
})

describe('a permit for the shared router', () => {
  it('lets a facilitator choose the recipient, which is what payers trust it with', async () => {
    const payment = await router.sign({ wallet: payer })
    const to = randomAddress()
    expect((await router.settle({ ...payment, to })).status).toBe('success')
    expect(await chain.balanceOf(to)).toBe(600n)
  })
})
