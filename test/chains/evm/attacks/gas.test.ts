import { type Address, encodeFunctionData, parseAbi } from 'viem'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { openStreamBody } from '../../../../src/protocol/streams.js'
import { createEoa, createMoodyWallet, deployWallet, moods } from '../../../support/evm/wallets.js'
import { pollUntil } from '../../../support/pollUntil.js'
import { openScene, type Scene, type Service, type ServiceOptions } from '../scene.js'
import { openUpto, type UptoService } from '../upto/scene.js'

/* Whose gas is spent, and whose budget it comes from. */

let scene: Scene
let mainnet: Scene

beforeAll(async () => {
  ;[scene, mainnet] = await Promise.all([openScene(), openScene({ chainId: 8453 })])
})
afterEach(async () => {
  await Promise.all([scene.reset(), mainnet.reset()])
})
afterAll(async () => {
  await Promise.all([scene.close(), mainnet.close()])
})

const shop = 'account-of-a-shop'
const actor = { caller: shop, token: null }

const openBudget = async (gwei: number, options: ServiceOptions = {}): Promise<UptoService> => {
  const { control, chainId } = scene.chain
  await control.setNextBaseFee(1_000_000_000n)
  await control.mine()
  return await openUpto(scene, {
    environment: { [`EVM_GAS_BUDGET_GWEI_PER_HOUR_${chainId}`]: String(gwei) },
    ...options,
  })
}

const openStream = async ({ core, plan }: UptoService) => {
  const { body, payTo } = await plan()
  const { answer } = await core.useCases.streams.openStream({
    body: openStreamBody.parse(body),
    caller: shop,
    quota: null,
    isAwaited: () => true,
  })
  return { id: answer.stream.id, payTo }
}

const setMood = async ({ chain }: Scene, wallet: Address, mood: (typeof moods)[number]) => {
  const sender = createEoa()
  await chain.fundGas(sender.address)
  const abi = parseAbi(['function setMood(uint8 next)'])
  const data = encodeFunctionData({ abi, functionName: 'setMood', args: [moods.indexOf(mood)] })
  const { status } = await chain.send({ account: sender.account, to: wallet, data })
  expect(status).toBe('success')
}

/** Settles payments of new payers for a caller until one is refused. */
const spendBudget = async ({ settle }: UptoService, caller: string) => {
  for (let count = 0; count < 150; count++) {
    await scene.chain.control.setNextBaseFee(1_000_000_000n)
    const error = await settle((await scene.plan()).body, caller).then(
      () => null,
      (reason: unknown) => reason,
    )
    if (error !== null) {
      expect(error).toMatchObject({ code: 'SERVICE_UNAVAILABLE', operationalCode: 'SVC-3002' })
      return count
    }
  }
  throw new Error('The budget was never spent')
}

describe('a charge of 0 by permit', () => {
  it('is refused for a payer without funds, and nothing is sent', async () => {
    const service = await openUpto(scene)
    const { body, payer } = await service.plan({ balance: 9_999n })
    const refused = { invalidReason: 'insufficient_funds', payer }
    expect(await service.verify({ ...body, settleAmount: '0' })).toMatchObject(refused)
    const settled = await service.settle({ ...body, settleAmount: '0' })
    expect(settled).toMatchObject({ success: false, errorReason: 'insufficient_funds', transaction: '' })
    expect(settled.settlementId).toBeUndefined()
  })

  it('needs the minimum that its maximum needs', async () => {
    const service = await openUpto(mainnet)
    const dust = await service.plan({ maxAmount: 10n })
    const refused = { success: false, errorReason: 'payment_below_minimum', transaction: '' }
    expect(await service.settle({ ...dust.body, settleAmount: '0' })).toMatchObject(refused)
    const enough = await service.plan({ maxAmount: 1_000_000n })
    expect(await service.settle({ ...enough.body, settleAmount: '0' })).toMatchObject({ success: true })
  })
})

describe('a charge by permit that deploys the router of its recipient', () => {
  it('is settled at the published minimum, as the service was rendered', async () => {
    const service = await openUpto(mainnet)
    const asset = mainnet.chain.token.verifyingContract
    const published = service.core.useCases.core.listSupported().kinds.find(({ scheme }) => scheme === 'upto')
      ?.minimumPayments?.[asset]
    const { body } = await service.plan({ maxAmount: 1_000_000n })
    expect(await service.verify(body, shop)).toMatchObject({ isValid: true })
    // Half of it: gas may have become twice as expensive since.
    const settleAmount = String(BigInt(published ?? 0) / 2n + 1n)
    expect(await service.settle({ ...body, settleAmount }, shop)).toMatchObject({ success: true })
  })
})

describe("a payer's wallet that burns gas", () => {
  const worthIt = 1_000_000_000n
  // Of an amount that two nodes confirm otherwise.
  const oneNode = { environment: { REQUIRE_CROSS_CHECK: 'false' } }
  /** A share of the price of 103,000 gas. */
  const findMinimum = ({ core }: Service) => {
    const [kind] = core.useCases.core.listSupported().kinds
    return BigInt(kind?.minimumPayments?.[mainnet.chain.token.verifyingContract] ?? 0)
  }
  const below = { errorReason: 'payment_below_minimum', transaction: '' }

  it('pays for the gas of this call, not for that of a usual one', async () => {
    const service = await openUpto(mainnet, oneNode)
    const minimum = findMinimum(service)
    expect(minimum).toBeGreaterThan(10n)
    const wallet = await deployWallet(mainnet.chain, await createMoodyWallet(mainnet.chain, 'burnsGas'))
    const plan = (amount: bigint) => mainnet.plan({ wallet, amount })
    const cheap = await plan(minimum)
    expect(await service.verify(cheap.body)).toMatchObject({
      isValid: false,
      invalidReason: 'payment_below_minimum',
    })
    expect(await service.settle(cheap.body)).toMatchObject({ success: false, ...below })
    expect(await mainnet.countTransfersTo(cheap.payTo)).toBe(0)
    expect(await service.settle((await plan(worthIt)).body)).toMatchObject({ success: true })
  })

  it('and begins to after the settlement was verified is not sent', async () => {
    const proxy = await mainnet.openProxy()
    const service = await mainnet.open({ rpcUrls: [proxy.url] })
    const moody = await createMoodyWallet(mainnet.chain, 'acceptsAll')
    const wallet = await deployWallet(mainnet.chain, moody)
    const minimum = findMinimum(service)
    const { body, payTo } = await mainnet.plan({ wallet, amount: minimum })
    const before = proxy.count('eth_estimateGas')
    const release = proxy.hold('eth_estimateGas')
    const settling = service.settle(body)
    await pollUntil(() => (proxy.count('eth_estimateGas') > before ? true : null), 'the first estimate')
    await setMood(mainnet, wallet.address, 'burnsGas')
    release()
    expect(await settling).toMatchObject({ success: false, ...below })
    expect(await mainnet.countTransfersTo(payTo)).toBe(0)
  })

  it('is no reason to estimate a payment by a key that is worth its limit', async () => {
    const proxy = await mainnet.openProxy()
    const service = await mainnet.open({ rpcUrls: [proxy.url], ...oneNode })
    const { body } = await mainnet.plan({ amount: worthIt })
    const before = proxy.count('eth_estimateGas')
    expect(await service.verify(body)).toMatchObject({ isValid: true })
    expect(proxy.count('eth_estimateGas')).toBe(before)
  })
})

describe('the gas of admitted work', () => {
  it.each([shop, 'account-of-a-rival', 'anonymous'])(
    'is kept for an open stream, whatever %s spends',
    async (spender) => {
      const service = await openBudget(8_000_000)
      const { id, payTo } = await openStream(service)
      await service.core.useCases.streams.updateStream(actor, { streamId: id, amount: '2345' })
      expect(await spendBudget(service, spender)).toBeGreaterThan(2)
      const closed = await service.core.useCases.streams.closeStream(actor, { streamId: id })
      expect(closed.stream).toMatchObject({ status: 'closed', settledAmount: '2345' })
      expect(await scene.chain.balanceOf(payTo)).toBe(2_345n)
    },
  )

  it('is kept for what an account has verified, and not for what callers without a key have', async () => {
    const service = await openBudget(8_000_000)
    const [held, ofNobody] = await Promise.all([service.plan(), service.plan()])
    expect(await service.verify(held.body, shop)).toEqual({ isValid: true, payer: held.payer })
    expect(await service.verify(ofNobody.body)).toEqual({ isValid: true, payer: ofNobody.payer })
    await spendBudget(service, 'account-of-a-rival')
    await spendBudget(service, 'anonymous')
    await expect(service.settle({ ...ofNobody.body, settleAmount: '1' })).rejects.toMatchObject({
      operationalCode: 'SVC-3002',
    })
    expect(await service.settle({ ...held.body, settleAmount: '17' }, shop)).toMatchObject({ success: true })
    expect(await scene.chain.balanceOf(held.payTo)).toBe(17n)
  })

  it('is kept up to what was promised: what a wallet burns beyond draws like new work', async () => {
    const service = await openBudget(8_000_000)
    const wallet = await deployWallet(scene.chain, await createMoodyWallet(scene.chain, 'acceptsAll'))
    const { body, payTo } = await service.plan({ wallet })
    expect(await service.verify(body, shop)).toMatchObject({ isValid: true })
    await spendBudget(service, 'account-of-a-rival')
    await spendBudget(service, 'anonymous')
    await setMood(scene, wallet.address, 'burnsGas')
    const used = { ...body, settleAmount: '17' }
    await expect(service.settle(used, shop)).rejects.toMatchObject({ operationalCode: 'SVC-3002' })
    await setMood(scene, wallet.address, 'acceptsAll')
    expect(await service.settle(used, shop)).toMatchObject({ success: true })
    expect(await scene.chain.balanceOf(payTo)).toBe(17n)
  })

  it('is promised no further than the budget reaches', async () => {
    const service = await openBudget(8_000_000)
    const opened: unknown[] = []
    const open = () => openStream(service).then((stream) => void opened.push(stream))
    const openAll = async () => {
      for (let count = 0; count < 20; count++) await open()
    }
    await expect(openAll()).rejects.toMatchObject({ operationalCode: 'SVC-3002' })
    expect(opened.length).toBeGreaterThan(0)
    expect((await service.settle((await scene.plan()).body, 'account-of-a-rival')).success).toBe(true)
  })
})

describe('the hourly gas budget', () => {
  it('counts the gas that was used, once the receipt is known', async () => {
    // Limit and highest price of one payment are more than twice what it uses: five would spend it.
    const service = await openBudget(4_000_000)
    expect(await spendBudget(service, 'anonymous')).toBeGreaterThan(7)
  })
})
