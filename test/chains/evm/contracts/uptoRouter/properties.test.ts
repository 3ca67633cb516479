import fc from 'fast-check'
import { type Address, encodeFunctionData, parseEventLogs, zeroHash } from 'viem'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { uptoRouterAbi } from '../../../../../src/chains/evm/contracts/uptoRouterAbi.js'
import { randomAddress } from '../../../../support/evm/authorization.js'
import { type LocalChain, startLocalChain, usdcAbi } from '../../../../support/evm/localChain.js'
import {
  createTestRouter,
  encodeRouterSettle,
  type RouterPayment,
  type TestRouter,
} from '../../../../support/evm/uptoRouter.js'
import { createEoa, type EoaWallet } from '../../../../support/evm/wallets.js'

/* Sequences of permits, front-running and settlements against a model of what may move. */

let chain: LocalChain
let router: TestRouter
const stranger = createEoa()

beforeAll(async () => {
  chain = await startLocalChain()
  router = await createTestRouter(chain)
  await chain.fundGas(stranger.address)
})
afterAll(() => chain.stop())

const few = fc.integer({ min: 0, max: 1 })
/** Which of the permits that were signed so far, from the newest. */
const which = fc.constantFrom(0, 0, 0, 1, 2)

const signing = fc.record({
  kind: fc.constant('sign' as const),
  owner: few,
  recipient: few,
  isBound: fc.boolean(),
  maxAmount: fc.constantFrom(0n, 400n, 500n, 1_000n),
  /** Ahead of the token's nonce. */
  ahead: fc.constantFrom(0n, 0n, 0n, 0n, 0n, 1n),
})
const frontRunning = fc.record({ kind: fc.constant('frontRun' as const), which })
const settling = fc.record({
  kind: fc.constant('settle' as const),
  which,
  amount: fc.constantFrom(0n, 1n, 100n, 400n, 500n, 1_001n),
  way: fc.constantFrom('settle' as const, 'execute' as const, 'executeOne' as const),
  isFacilitator: fc.constantFrom(true, true, true, true, false),
  forgery: fc.oneof(
    { weight: 2, arbitrary: fc.constant('none' as const) },
    {
      weight: 1,
      arbitrary: fc.constantFrom(
        'recipient' as const,
        'maximum' as const,
        'nextNonce' as const,
        'deadline' as const,
        'spender' as const,
      ),
    },
  ),
})
const steps = fc.array(fc.oneof(signing, signing, frontRunning, settling, settling), {
  minLength: 6,
  maxLength: 20,
  size: 'max',
})

type Settling = typeof settling extends fc.Arbitrary<infer Each> ? Each : never

const forge = (payment: RouterPayment, { forgery }: Settling): RouterPayment => {
  switch (forgery) {
    case 'none':
      return payment
    case 'recipient':
      return { ...payment, to: randomAddress() }
    case 'maximum':
      return { ...payment, maxAmount: payment.maxAmount + 1_000n }
    case 'nextNonce':
      return { ...payment, permitNonce: payment.permitNonce + 1n }
    case 'deadline':
      return { ...payment, deadline: payment.deadline + 1n }
    case 'spender':
      return { ...payment, isBound: !payment.isBound }
  }
}

/** What a token and the router should remember. */
const createModel = () => {
  const nonces = new Map<Address, bigint>()
  const balances = new Map<Address, bigint>()
  const allowances = new Map<string, bigint>()
  const lowest = new Map<string, bigint>()
  const spenderOf = ({ isBound, to }: RouterPayment): Address =>
    isBound ? router.routerOf(to) : router.address
  const keyOf = (payment: RouterPayment): string => `${payment.owner} ${spenderOf(payment)}`
  const nonceOf = (owner: Address): bigint => nonces.get(owner) ?? 0n
  const permit = (payment: RouterPayment): boolean => {
    if (nonceOf(payment.owner) !== payment.permitNonce) return false
    nonces.set(payment.owner, payment.permitNonce + 1n)
    allowances.set(keyOf(payment), payment.maxAmount)
    return true
  }
  return {
    nonceOf,
    permit,
    credit: (owner: Address, amount: bigint) => balances.set(owner, amount),
    /** Whether the payment succeeds; then it is applied. */
    settle: (payment: RouterPayment, isSigned: boolean): boolean => {
      const { owner, amount, maxAmount, permitNonce } = payment
      const key = keyOf(payment)
      const isDue = permitNonce >= (lowest.get(key) ?? 0n) && permitNonce <= nonceOf(owner)
      if (!isSigned || !isDue || amount > maxAmount) return false
      const available = permitNonce === nonceOf(owner) ? maxAmount : (allowances.get(key) ?? 0n)
      const balance = balances.get(owner) ?? 0n
      if (amount > available || amount > balance) return false
      permit(payment)
      lowest.set(key, permitNonce + 1n)
      allowances.set(key, available - amount)
      balances.set(owner, balance - amount)
      return true
    },
    balanceOf: (owner: Address): bigint => balances.get(owner) ?? 0n,
    remaining: (payment: RouterPayment): bigint => allowances.get(keyOf(payment)) ?? 0n,
  }
}

const sendSettling = (payment: RouterPayment, { way, isFacilitator }: Settling) => {
  const { account } = isFacilitator ? router.facilitator : stranger
  const call = { target: router.address, id: zeroHash, data: encodeRouterSettle(payment) }
  const abi = uptoRouterAbi
  const data = {
    settle: () => call.data,
    executeOne: () => encodeFunctionData({ abi, functionName: 'executeOne', args: [call] }),
    execute: () => encodeFunctionData({ abi, functionName: 'execute', args: [[call]] }),
  }[way]()
  return chain.send({ account, to: router.address, data, gas: 1_000_000n })
}

describe('whatever is signed, submitted and settled, in whatever order', () => {
  it('each permit moves at most its maximum, once, to its recipient, and by a facilitator only', async () => {
    const counted = { settled: 0, refused: 0, afterFrontRun: 0 }
    await fc.assert(
      fc.asyncProperty(steps, async (sequence) => {
        const owners: readonly EoaWallet[] = [createEoa(), createEoa()]
        const recipients = [randomAddress(), randomAddress()]
        const model = createModel()
        await chain.mint(
          owners.map(({ address }) => address),
          1_500n,
        )
        for (const { address } of owners) model.credit(address, 1_500n)
        const signed: { readonly payment: RouterPayment; moved: bigint; settlements: number }[] = []

        for (const step of sequence) {
          if (step.kind === 'sign') {
            const wallet = owners[step.owner] ?? stranger
            const permitNonce = model.nonceOf(wallet.address) + step.ahead
            const { isBound, maxAmount } = step
            const to = recipients[step.recipient] ?? stranger.address
            const payment = await router.sign({ wallet, to, isBound, maxAmount, permitNonce, amount: 0n })
            signed.push({ payment, moved: 0n, settlements: 0 })
            continue
          }
          const chosen = signed[signed.length - 1 - (step.which % signed.length)]
          if (chosen === undefined) continue
          if (step.kind === 'frontRun') {
            const { status } = await router.frontRun(chosen.payment)
            expect(status === 'success').toBe(model.permit(chosen.payment))
            continue
          }
          const payment = { ...forge(chosen.payment, step), amount: step.amount }
          // A shared permit names no recipient.
          const isSigned = step.forgery === 'none' || (step.forgery === 'recipient' && !payment.isBound)
          const wasSubmitted = payment.permitNonce < model.nonceOf(payment.owner)
          const isExpected = step.isFacilitator && model.settle(payment, isSigned)
          const { logs } = await sendSettling(payment, step)
          const settled = parseEventLogs({ abi: uptoRouterAbi, eventName: 'Settled', logs })
          const transfers = parseEventLogs({ abi: usdcAbi, eventName: 'Transfer', logs })
          expect(settled).toHaveLength(isExpected ? 1 : 0)
          expect(transfers.map(({ args: { from, to, value } }) => [from, to.toLowerCase(), value])).toEqual(
            isExpected && payment.amount > 0n
              ? [[payment.owner, payment.to.toLowerCase(), payment.amount]]
              : [],
          )
          if (!isExpected) {
            counted.refused += 1
            continue
          }
          counted.settled += 1
          if (wasSubmitted) counted.afterFrontRun += 1
          chosen.moved += payment.amount
          chosen.settlements += 1
        }

        for (const { payment, moved, settlements } of signed) {
          expect(moved).toBeLessThanOrEqual(payment.maxAmount)
          expect(settlements).toBeLessThanOrEqual(1)
          const spender = payment.isBound ? router.routerOf(payment.to) : router.address
          expect(await router.allowanceOf(payment.token, payment.owner, spender)).toBe(
            model.remaining(payment),
          )
        }
        for (const { address } of owners)
          expect(await chain.balanceOf(address)).toBe(model.balanceOf(address))
        for (const holder of [router.address, ...recipients.map(router.routerOf)])
          expect(await chain.balanceOf(holder)).toBe(0n)
      }),
      { numRuns: 40, interruptAfterTimeLimit: 200_000, markInterruptAsFailure: true },
    )
    // Otherwise the sequences would prove nothing.
    expect(counted.settled).toBeGreaterThan(10)
    expect(counted.refused).toBeGreaterThan(20)
    expect(counted.afterFrontRun).toBeGreaterThan(0)
  }, 240_000)
})
