import { beforeAll, describe, expect, it } from 'vitest'
import { wellKnownFactories } from '../../../../src/chains/evm/settings.js'
import { exactPayment } from '../../../support/evm/payment.js'
import {
  createDelegatedEoa,
  createEoa,
  createMoodyWallet,
  createSafeWallet,
  createSoladyWallet,
  deployWallet,
  getSoladyFactory,
  type PayerWallet,
  signTransferAuthorization,
} from '../../../support/evm/wallets.js'
import { useScene } from '../../../support/useScene.js'
import {
  eventually,
  openScene,
  quickFinality,
  readOneBlockLater,
  type Service,
  type ServiceOptions,
} from '../scene.js'

const scene = useScene(openScene)
let openDeploying: (options?: ServiceOptions) => Promise<Service>

beforeAll(async () => {
  const factory = await getSoladyFactory(scene.chain)
  openDeploying = (options = {}) =>
    scene.open({
      ...options,
      environment: {
        DEPLOY_ERC4337_WITH_EIP6492: 'true',
        EVM_SMART_WALLET_FACTORIES: [...wellKnownFactories, factory].join(','),
        ...options.environment,
      },
    })
})

const isDeployed = async ({ address }: PayerWallet) =>
  (await scene.chain.client.getCode({ address })) !== undefined

const deployed: readonly [string, () => Promise<PayerWallet>][] = [
  ['an ordinary key', async () => createEoa()],
  [
    'a delegated key (EIP-7702) whose code checks signatures',
    () => createDelegatedEoa(scene.chain, { checksSignatures: true }),
  ],
  ['a deployed Solady wallet', async () => deployWallet(scene.chain, await createSoladyWallet(scene.chain))],
  ['a deployed Safe', async () => deployWallet(scene.chain, await createSafeWallet(scene.chain))],
]
const counterfactual: readonly [string, () => Promise<PayerWallet>][] = [
  ['a Solady wallet', () => createSoladyWallet(scene.chain)],
  ['a Safe', () => createSafeWallet(scene.chain)],
]

/** Verify and settle must agree, and so must the balances. */
const payTwice = async (service: Service, wallet: PayerWallet) => {
  const { body, payer, payTo } = await scene.plan({ wallet, amount: 10_000n, balance: 25_000n })
  expect(await service.verify(body)).toEqual({ isValid: true, payer })
  expect(await service.settle(body)).toMatchObject({ success: true, payer, amount: '10000' })
  expect(await scene.chain.balanceOf(payTo)).toBe(10_000n)
  expect(await scene.chain.balanceOf(wallet.address)).toBe(15_000n)
  // The ERC-6492 wrapper of a wallet that is deployed by now has no effect.
  const again = await scene.plan({ wallet, amount: 5_000n })
  expect(await service.settle(again.body)).toMatchObject({ success: true })
  expect(await scene.chain.balanceOf(again.payTo)).toBe(5_000n)
}

describe('a payment of', () => {
  it.each(deployed)('%s is valid and settles', async (_name, create) => {
    await payTwice(await scene.open(), await create())
  })

  it.each(counterfactual)('%s that is not deployed yet deploys it and settles', async (_name, create) => {
    const wallet = await create()
    const service = await openDeploying()
    expect(await isDeployed(wallet)).toBe(false)
    await payTwice(service, wallet)
    expect(await isDeployed(wallet)).toBe(true)
  })

  it.each(counterfactual)('%s that is not deployed yet is refused by default', async (_name, create) => {
    const wallet = await create()
    const service = await scene.open()
    const { body, payer } = await scene.plan({ wallet })
    const reason = 'invalid_exact_evm_payload_undeployed_smart_wallet'
    expect(await service.verify(body)).toMatchObject({ isValid: false, invalidReason: reason, payer })
    expect(await service.settle(body)).toMatchObject({ success: false, errorReason: reason })
    expect(await isDeployed(wallet)).toBe(false)
  })

  it('a Safe that is not deployed yet needs no configuration: its factory is well known', async () => {
    const service = await scene.open({ environment: { DEPLOY_ERC4337_WITH_EIP6492: 'true' } })
    const { body, payTo } = await scene.plan({ wallet: await createSafeWallet(scene.chain) })
    expect(await service.settle(body)).toMatchObject({ success: true })
    expect(await scene.chain.balanceOf(payTo)).toBe(10_000n)
  })

  it.each([
    ['is not listed', { DEPLOY_ERC4337_WITH_EIP6492: 'true' }],
    ['cannot be listed', { DEPLOY_ERC4337_WITH_EIP6492: 'true', EVM_SMART_WALLET_FACTORIES: 'none' }],
  ])('a wallet whose factory %s is refused', async (_what, environment) => {
    const service = await scene.open({ environment })
    const wallet = await createSoladyWallet(scene.chain)
    const { body } = await scene.plan({ wallet })
    const reason = 'eip6492_factory_not_allowed'
    expect(await service.verify(body)).toMatchObject({ isValid: false, invalidReason: reason })
    expect(await service.settle(body)).toMatchObject({ success: false, errorReason: reason })
    expect(await isDeployed(wallet)).toBe(false)
  })

  it.each(counterfactual)('%s without the balance is not deployed', async (_name, create) => {
    const wallet = await create()
    const service = await openDeploying()
    const { body } = await scene.plan({ wallet, balance: 9_999n })
    expect(await service.verify(body)).toMatchObject({ invalidReason: 'insufficient_funds' })
    expect(await service.settle(body)).toMatchObject({ errorReason: 'insufficient_funds' })
    expect(await isDeployed(wallet)).toBe(false)
  })

  it.each(counterfactual)("%s with another key's signature is not deployed", async (_name, create) => {
    const wallet = await create()
    const service = await openDeploying()
    const { body } = await scene.plan({ wallet: { ...wallet, signTypedData: createEoa().signTypedData } })
    expect(await service.verify(body)).toMatchObject({ isValid: false })
    expect(await service.settle(body)).toMatchObject({ success: false, transaction: '' })
    expect(await isDeployed(wallet)).toBe(false)
  })

  it.each(counterfactual)(
    '%s that is deployed by a third party between verify and settle settles',
    async (_name, create) => {
      const wallet = await create()
      const service = await openDeploying()
      const { body, payTo } = await scene.plan({ wallet })
      expect(await service.verify(body)).toMatchObject({ isValid: true })
      await deployWallet(scene.chain, wallet)
      expect(await service.settle(body)).toMatchObject({ success: true })
      expect(await scene.chain.balanceOf(payTo)).toBe(10_000n)
    },
  )

  it.each(counterfactual)(
    '%s that another account deploys just before settles as deployed',
    async (_name, create) => {
      const wallet = await create()
      const proxy = await scene.openProxy()
      const service = await openDeploying({ rpcUrls: [proxy.url], environment: quickFinality(scene) })
      const { body, payTo } = await scene.plan({ wallet })
      const release = proxy.hold('eth_sendRawTransaction')
      const settling = service.settle(body)
      await eventually(() => (proxy.count('eth_sendRawTransaction') > 0 ? true : null))
      await deployWallet(scene.chain, wallet)
      proxy.clearFaults()
      release()
      const first = await settling
      expect(await scene.chain.balanceOf(payTo)).toBe(first.success ? 10_000n : 0n)
      if (!first.success) {
        await readOneBlockLater(scene, service, first)
        expect(await service.settle(body)).toMatchObject({ success: true })
      }
      expect(await scene.chain.balanceOf(payTo)).toBe(10_000n)
    },
  )
})

describe('verify refuses what settle cannot execute', () => {
  const refusedByBoth = async (wallet: PayerWallet, reason: string, signature?: `0x${string}`) => {
    const service = await scene.open()
    const { body, payTo } = await scene.plan({ wallet, ...(signature === undefined ? {} : { signature }) })
    expect(await service.verify(body)).toMatchObject({ isValid: false, invalidReason: reason })
    expect(await service.settle(body)).toMatchObject({ success: false, errorReason: reason })
    expect(await scene.chain.balanceOf(payTo)).toBe(0n)
  }

  it('a delegated key (EIP-7702) whose code checks no signatures, although the key signed', async () => {
    const wallet = await createDelegatedEoa(scene.chain, { checksSignatures: false })
    await refusedByBoth(wallet, 'invalid_exact_evm_payload_signature')
  })

  it('a wallet that rejects the signature', async () => {
    const wallet = await deployWallet(scene.chain, await createMoodyWallet(scene.chain, 'refusesAll'))
    await refusedByBoth(wallet, 'invalid_exact_evm_payload_signature')
  })

  it("a Solady wallet with its owner's plain signature, which it accepts only in simulations without gas price", async () => {
    const wallet = await createSoladyWallet(scene.chain)
    const standing = await deployWallet(scene.chain, wallet)
    const { authorization } = (await exactPayment({ chain: scene.chain, wallet: standing })).paymentPayload
      .payload
    await scene.chain.mint(standing.address, 10_000n)
    const signature = await signTransferAuthorization({
      wallet: wallet.owner,
      domain: scene.chain.token,
      authorization,
    })
    const service = await scene.open()
    const body = await exactPayment({
      chain: scene.chain,
      wallet: standing,
      payTo: authorization.to,
      authorization,
      signature,
    })
    expect(await service.verify(body)).toMatchObject({
      isValid: false,
      invalidReason: 'invalid_exact_evm_payload_signature',
    })
  })
})
