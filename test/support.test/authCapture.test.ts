import {
  type Address,
  encodeFunctionData,
  parseAbi,
  serializeErc6492Signature,
  toEventSelector,
  zeroAddress,
} from 'viem'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  type AuthCaptureSet,
  authCaptureV10,
  authCaptureV11,
  type PaymentInfo,
  paymentHashOf,
  paymentInfo,
  readPaymentState,
  signErc3009Payment,
  signPermit2Payment,
} from '../support/evm/authCapture.js'
import { callContract } from '../support/evm/contractCalls.js'
import { type LocalChain, startLocalChain } from '../support/evm/localChain.js'
import { setUsdcAllowance } from '../support/evm/permit2.js'
import { deployTestToken } from '../support/evm/testTokens.js'
import { createEoa, createSoladyWallet } from '../support/evm/wallets.js'

const feeReceiver = '0x00000000000000000000000000000000000fee01'

describe.each([authCaptureV10, authCaptureV11])('the escrow of auth-capture $version', (set) => {
  let chain: LocalChain

  beforeAll(async () => {
    chain = await startLocalChain({ hasAuthCapture: true })
  })
  afterAll(() => chain.stop())

  /** As the version states a fee of 1.25 % of an amount. */
  const feeOf = (amount: bigint) => (set.version === '1.0' ? 125 : (amount * 125n) / 10_000n)

  const call = (functionName: string, args: readonly unknown[], from: Address) =>
    callContract(chain, { from, to: set.escrow, abi: set.abi, functionName, args })

  /** A payer with USDC and a payment that it signed. */
  const openPayment = async (overrides: Partial<PaymentInfo> = {}) => {
    const wallet = createEoa()
    await chain.mint(wallet.address, 1_000_000n)
    const operator = createEoa()
    const info = paymentInfo({
      payer: wallet.address,
      operator: operator.address,
      token: chain.token.verifyingContract,
      minFeeBps: 100,
      maxFeeBps: 150,
      feeReceiver,
      ...overrides,
    })
    const { signature } = await signErc3009Payment(chain, { set, wallet, info })
    return { wallet, operator, info, signature, hash: paymentHashOf(chain.chainId, set, info) }
  }

  const authorized = async (overrides: Partial<PaymentInfo> = {}, amount = 10_000n) => {
    const payment = await openPayment(overrides)
    const args = [payment.info, amount, set.erc3009Collector, payment.signature]
    expect((await call('authorize', args, payment.info.operator)).error).toBeNull()
    return payment
  }

  it('hashes all terms of a payment', async () => {
    const info = paymentInfo()
    expect(
      await chain.client.readContract({
        address: set.escrow,
        abi: set.abi,
        functionName: 'getHash',
        args: [info],
      }),
    ).toBe(paymentHashOf(chain.chainId, set, info))
  })

  it('holds what is authorized, captures with a fee that rounds down, refunds, and voids the rest', async () => {
    const before = await chain.balanceOf(feeReceiver)
    const { info, hash, operator, wallet } = await authorized()
    const from = info.operator
    const store = await chain.client.readContract({
      address: set.escrow,
      abi: set.abi,
      functionName: 'getTokenStore',
      args: [from],
    })
    expect(await chain.balanceOf(store)).toBe(10_000n)
    expect(await call('capture', [info, 4_001n, feeOf(4_001n), feeReceiver], from)).toMatchObject({
      error: null,
      events: [
        { name: 'PaymentCaptured', args: { paymentInfoHash: hash, amount: 4_001n } },
        { name: 'TokenStoreCreated', args: { operator: from, tokenStore: store } },
      ],
    })
    expect((await chain.balanceOf(feeReceiver)) - before).toBe(50n)
    expect(await chain.balanceOf(info.receiver)).toBe(3_951n)
    expect(await readPaymentState(chain, set, info)).toEqual({
      hasCollectedPayment: true,
      capturableAmount: 5_999n,
      refundableAmount: 4_001n,
    })

    await chain.mint(from, 1_000n)
    await chain.fundGas(from)
    await chain.send({
      account: operator.account,
      to: info.token,
      data: encodeFunctionData({
        abi: parseAbi(['function approve(address spender, uint256 value)']),
        args: [set.refundCollector, 1_000n],
      }),
    })
    expect(await call('refund', [info, 1_000n, set.refundCollector, '0x'], from)).toMatchObject({
      error: null,
      events: [{ name: 'PaymentRefunded', args: { paymentInfoHash: hash, amount: 1_000n } }],
    })
    expect(await call('void', [info], from)).toMatchObject({
      error: null,
      events: [{ name: 'PaymentVoided', args: { paymentInfoHash: hash, amount: 5_999n } }],
    })
    expect(await chain.balanceOf(wallet.address)).toBe(1_000_000n - 4_001n + 1_000n)
    expect((await call('void', [info], from)).error).toBe('ZeroAuthorization')
  })

  it('charges at once, and returns what is above the amount', async () => {
    const { info, signature, hash, wallet } = await openPayment()
    const args = [info, 6_000n, set.erc3009Collector, signature, feeOf(6_000n), feeReceiver]
    expect(await call('charge', args, info.operator)).toMatchObject({
      error: null,
      events: [{ name: 'PaymentCharged', args: { paymentInfoHash: hash, amount: 6_000n } }, {}],
    })
    expect(await chain.balanceOf(wallet.address)).toBe(994_000n)
    expect(await chain.balanceOf(info.receiver)).toBe(5_925n)
    expect(await call('charge', args, info.operator)).toMatchObject({
      error: 'PaymentAlreadyCollected',
      errorArgs: [hash],
    })
  })

  it('collects by Permit2 and from a wallet that its signature deploys', async () => {
    const permitted = await openPayment()
    await setUsdcAllowance(chain, permitted.wallet.address)
    const { signature } = await signPermit2Payment(chain, { set, ...permitted })
    const { operator } = permitted.info
    expect(
      (await call('authorize', [permitted.info, 9_000n, set.permit2Collector, signature], operator)).error,
    ).toBeNull()
    expect(await chain.balanceOf(permitted.wallet.address)).toBe(991_000n)

    const wallet = await createSoladyWallet(chain)
    await chain.mint(wallet.address, 10_000n)
    const info = { ...permitted.info, payer: wallet.address }
    const inner = await signErc3009Payment(chain, { set, wallet, info })
    const { factory, factoryData } = wallet.deployment
    const wrapped = serializeErc6492Signature({
      address: factory,
      data: factoryData,
      signature: inner.signature,
    })
    expect(
      (await call('authorize', [info, 10_000n, set.erc3009Collector, wrapped], operator)).error,
    ).toBeNull()
    expect(await chain.balanceOf(wallet.address)).toBe(0n)
  })

  it('returns an expired authorization to its payer alone', async () => {
    const { timestamp } = await chain.control.getHead()
    const { info, hash } = await authorized({
      preApprovalExpiry: timestamp + 200,
      authorizationExpiry: timestamp + 300,
      minFeeBps: 0,
    })
    expect((await call('reclaim', [info], info.payer)).error).toBe('BeforeAuthorizationExpiry')
    const snapshot = await chain.control.snapshot()
    await chain.control.setNextBlockTimestamp(info.authorizationExpiry)
    await chain.control.mine()
    expect((await call('capture', [info, 1n, 0, feeReceiver], info.operator)).error).toBe(
      'AfterAuthorizationExpiry',
    )
    expect((await call('reclaim', [info], info.operator)).error).toBe('InvalidSender')
    expect(await call('reclaim', [info], info.payer)).toMatchObject({
      error: null,
      events: [{ name: 'PaymentReclaimed', args: { paymentInfoHash: hash, amount: 10_000n } }, {}],
    })
    await chain.control.revert(snapshot)
  })

  it('ends a collection and a refund at their expiries to the second', async () => {
    const { timestamp } = await chain.control.getHead()
    const terms = {
      preApprovalExpiry: timestamp + 300,
      authorizationExpiry: timestamp + 400,
      refundExpiry: timestamp + 500,
    }
    const { info, signature } = await openPayment(terms)
    const charged = await openPayment(terms)
    const args = [10_000n, set.erc3009Collector, charged.signature, feeOf(10_000n), feeReceiver]
    expect((await call('charge', [charged.info, ...args], charged.info.operator)).error).toBeNull()
    const snapshot = await chain.control.snapshot()
    await chain.control.setNextBlockTimestamp(info.preApprovalExpiry)
    await chain.control.mine()
    const collection = [info, 1n, set.erc3009Collector, signature]
    expect((await call('authorize', collection, info.operator)).error).toBe('AfterPreApprovalExpiry')
    await chain.control.setNextBlockTimestamp(info.refundExpiry)
    await chain.control.mine()
    const refund = [charged.info, 1n, set.refundCollector, '0x']
    expect((await call('refund', refund, charged.info.operator)).error).toBe('AfterRefundExpiry')
    await chain.control.revert(snapshot)
  })

  it('refuses a token that delivers less than the amount', async () => {
    const token = await deployTestToken(chain, 'FeeOnTransferToken')
    const wallet = createEoa()
    await token.mint(wallet.address, 10_000n)
    const info = paymentInfo({ payer: wallet.address, token: token.address })
    // What the token keeps of the first transfer is missing for the second.
    await token.mint(set.erc3009Collector, 10_000n)
    const { signature } = await signErc3009Payment({ ...chain, token: token.token }, { set, wallet, info })
    const args = [info, 10_000n, set.erc3009Collector, signature]
    expect((await call('authorize', args, info.operator)).error).toBe('TokenCollectionFailed')
  })

  it('keeps the tokens of each operator in a store of its own', async () => {
    const [first, second] = [await authorized(), await authorized()]
    const storeOf = (operator: Address) =>
      chain.client.readContract({
        address: set.escrow,
        abi: set.abi,
        functionName: 'getTokenStore',
        args: [operator],
      })
    const stores = await Promise.all([storeOf(first.info.operator), storeOf(second.info.operator)])
    expect(new Set(stores).size).toBe(2)
    for (const store of stores) expect(await chain.balanceOf(store)).toBe(10_000n)
    expect((await call('void', [first.info], first.info.operator)).error).toBeNull()
    expect(await chain.balanceOf(stores[1])).toBe(10_000n)
  })

  const collections: readonly (readonly [string, Partial<PaymentInfo>, bigint])[] = [
    ['ZeroAmount', {}, 0n],
    ['AmountOverflow', {}, 2n ** 120n],
    ['ExceedsMaxAmount', {}, 10_001n],
    ['AfterPreApprovalExpiry', { preApprovalExpiry: 1 }, 1n],
    ['InvalidExpiries', { refundExpiry: 1 }, 1n],
    ['FeeBpsOverflow', { maxFeeBps: 10_001 }, 1n],
    ['InvalidFeeBpsRange', { minFeeBps: 151 }, 1n],
  ]

  it.each(collections)('refuses a collection with %s', async (error, terms, amount) => {
    const { info, signature } = await openPayment(terms)
    const args = [info, amount, set.erc3009Collector, signature]
    expect((await call('authorize', args, info.operator)).error).toBe(error)
    expect((await call('charge', [...args, 0, feeReceiver], info.operator)).error).toBe(error)
  })

  const outOfRange = set.version === '1.0' ? 'FeeBpsOutOfRange' : 'FeeAmountOutOfRange'
  const captures: readonly (readonly [string, Partial<PaymentInfo>, bigint, number, Address])[] = [
    ['InsufficientAuthorization', { minFeeBps: 0 }, 10_001n, 0, feeReceiver],
    [outOfRange, {}, 10_000n, 99, feeReceiver],
    [outOfRange, {}, 10_000n, 151, feeReceiver],
    ['ZeroFeeReceiver', { feeReceiver: zeroAddress }, 10_000n, 100, zeroAddress],
    ['InvalidFeeReceiver', {}, 10_000n, 100, '0x00000000000000000000000000000000000fee02'],
  ]

  it.each(captures)('refuses a capture with %s', async (error, terms, amount, fee, receiver) => {
    const { info } = await authorized(terms)
    expect((await call('capture', [info, amount, fee, receiver], info.operator)).error).toBe(error)
  })

  it('takes only the operator, collectors of the operation, and refunds of what was captured', async () => {
    const { info, signature } = await openPayment()
    const args = [info, 10_000n, set.refundCollector, signature]
    expect((await call('authorize', args, info.payer)).error).toBe('InvalidSender')
    expect((await call('authorize', args, info.operator)).error).toBe('InvalidCollectorForOperation')
    expect((await call('refund', [info, 1n, set.refundCollector, '0x'], info.operator)).error).toBe(
      'RefundExceedsCapture',
    )
    const expired = { ...info, refundExpiry: 1 }
    expect((await call('refund', [expired, 1n, set.refundCollector, '0x'], info.operator)).error).toBe(
      'AfterRefundExpiry',
    )
    const collector = {
      from: info.operator,
      to: set.erc3009Collector,
      abi: [
        ...set.abi,
        ...parseAbi([
          'struct PaymentInfo { address operator; address payer; address receiver; address token; uint120 maxAmount; uint48 preApprovalExpiry; uint48 authorizationExpiry; uint48 refundExpiry; uint16 minFeeBps; uint16 maxFeeBps; address feeReceiver; uint256 salt; }',
          'function collectTokens(PaymentInfo paymentInfo, address tokenStore, uint256 amount, bytes collectorData)',
        ]),
      ],
      functionName: 'collectTokens',
      args: [info, info.operator, 10_000n, signature],
    }
    expect((await callContract(chain, collector)).error).toBe('OnlyAuthCaptureEscrow')
  })
})

describe('the events of auth-capture', () => {
  // Stated in the documentation of the published contracts.
  const topics: readonly (readonly [string, AuthCaptureSet, string])[] = [
    ['PaymentCharged', authCaptureV10, '0x943ae4341dd799d7aeedc501f616cd26b134639e0bc2ec059581ba3ebbf1e7d0'],
    ['PaymentCharged', authCaptureV11, '0x137b0e73e4453f43c2e1ad2552980a0e0c7e988764619974ca26d37a7159940c'],
    ['PaymentCaptured', authCaptureV10, '0xe749f7bbd01b49bb05abf26ca492cb4dfdea6bedeada8a40fdccd478c73a74e2'],
    ['PaymentCaptured', authCaptureV11, '0xac1e0db1957daedbc6944bcb4c8dc947ff8101d710671ac2ec26309f7f38d58e'],
  ]

  it.each(topics)('have the published signature: %s', (name, { abi }, topic) => {
    const events = abi.filter((item) => item.type === 'event' && item.name === name)
    expect(events.map((event) => (event.type === 'event' ? toEventSelector(event) : null))).toEqual([topic])
  })
})
