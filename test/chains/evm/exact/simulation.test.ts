import { type Address, concatHex, type Hex, pad } from 'viem'
import { describe, expect, it } from 'vitest'
import { randomAddress, randomHex, unixNow } from '../../../support/evm/authorization.js'
import { multicall3Address } from '../../../support/evm/localChain.js'
import { deployTestToken } from '../../../support/evm/testTokens.js'
import { createEoa, createMoodyWallet, deployWallet, moods } from '../../../support/evm/wallets.js'
import { pollUntil } from '../../../support/pollUntil.js'
import type { RpcProxy } from '../../../support/rpcProxy.js'
import { useScene } from '../../../support/useScene.js'
import { openScene, type PaymentPlan, planPayment, type Service } from '../scene.js'

const scene = useScene(openScene)

interface Bench {
  readonly proxy: RpcProxy
  readonly service: Service
}

/** A service with known fees behind a proxy without recorded requests. */
const open = async (environment: Readonly<Record<string, string>> = {}): Promise<Bench> => {
  const proxy = await scene.openProxy()
  const service = await scene.open({ rpcUrls: [proxy.url], environment })
  await service.verify((await scene.plan()).body)
  proxy.clearCalls()
  return { proxy, service }
}

const targetOf = (params: readonly unknown[]): string => {
  const [call] = params
  return typeof call === 'object' && call !== null && 'to' in call ? String(call.to) : ''
}

/** Number of shared simulations and of single ones seen by a proxy. */
const countCalls = ({ calls }: RpcProxy) => {
  const targets = calls.filter(({ method }) => method === 'eth_call').map(({ params }) => targetOf(params))
  const shared = targets.filter((target) => target === multicall3Address).length
  return { shared, single: targets.length - shared }
}

/** HTTP requests of verifications; those of the monitor, and of fees, continue meanwhile. */
const countRequests = ({ calls }: RpcProxy) =>
  new Set(
    calls
      .filter(({ method }) => method === 'eth_call' || method === 'eth_getCode')
      .map(({ request }) => request),
  ).size

const planMany = (count: number, plan: PaymentPlan = {}) =>
  Promise.all(Array.from({ length: count }, () => scene.plan(plan)))
const verifyAll = (service: Service, plans: readonly { readonly body: unknown }[]) =>
  Promise.all(plans.map(({ body }) => service.verify(body)))
const valid = { isValid: true }

describe('simulations', () => {
  it('of one payment take one call and one round trip', async () => {
    const { proxy, service } = await open()
    const { body, payer } = await scene.plan()
    expect(await service.verify(body)).toEqual({ isValid: true, payer })
    expect(countRequests(proxy)).toBe(1)
    expect(countCalls(proxy)).toEqual({ shared: 1, single: 0 })
  })

  it('stay within the gas limit of one transaction', async () => {
    const { proxy, service } = await open()
    await verifyAll(service, await planMany(60))
    for (const { params } of proxy.calls.filter(({ method }) => method === 'eth_call')) {
      const [call] = params
      const gas = typeof call === 'object' && call !== null && 'gas' in call ? Number(call.gas) : 0
      expect(gas).toBeGreaterThan(0)
      expect(gas).toBeLessThanOrEqual(16_777_216)
    }
  })

  it('return a verdict for each payment of a batch', async () => {
    const { proxy, service } = await open()
    const now = unixNow()
    const blocked = await scene.plan()
    await scene.chain.setBlacklisted(blocked.payer, true)
    const used = await scene.plan({ balance: 50_000n })
    expect(await service.settle(used.body)).toMatchObject({ success: true })
    const wallet = createEoa()
    const cases = [
      [await scene.plan(), undefined],
      [await scene.plan({ balance: 1n }), 'insufficient_funds'],
      [blocked, 'account_blocked'],
      [await scene.plan(), undefined],
      [used, 'duplicate_settlement'],
      [await scene.plan({ authorization: { validAfter: String(now) } }), undefined],
      [
        await scene.plan({ wallet, signature: await createEoa().account.sign({ hash: randomHex(32) }) }),
        'invalid_exact_evm_payload_signature',
      ],
      [await scene.plan(), undefined],
    ] as const
    proxy.clearCalls()
    const answers = await verifyAll(
      service,
      cases.map(([plan]) => plan),
    )
    expect(answers.map((answer) => (answer.isValid ? undefined : answer.invalidReason))).toEqual(
      cases.map(([, reason]) => reason),
    )
    await scene.chain.setBlacklisted(blocked.payer, false)
  })

  it('of the same payment agree under concurrency', async () => {
    const { service } = await open()
    const { body } = await scene.plan()
    const answers = await Promise.all(Array.from({ length: 20 }, () => service.verify(body)))
    expect(answers).toEqual(Array(20).fill(expect.objectContaining(valid)))
  })

  it('never count funds from another payment', async () => {
    const { service } = await open()
    for (let round = 0; round < 3; round++) {
      const poor = createEoa()
      const rich = await scene.plan({ payTo: poor.address })
      const spending = await scene.plan({ wallet: poor, balance: 0n })
      const orders = [
        [rich, spending],
        [spending, rich],
      ]
      for (const order of orders) {
        const answers = await verifyAll(service, [...order, ...(await planMany(3))])
        expect(answers[order.indexOf(rich)]).toMatchObject(valid)
        expect(answers[order.indexOf(spending)]).toMatchObject({ invalidReason: 'insufficient_funds' })
      }
    }
  })

  it('never count them across tokens either', async () => {
    const token = await deployTestToken(scene.chain, 'LegacyToken3009')
    const { proxy, service } = await open({
      [`EVM_TOKENS_${scene.chain.chainId}`]: `${token.address}:Test Token:1:6,${scene.chain.token.verifyingContract}`,
    })
    const wallet = createEoa()
    const plans = [
      await scene.plan({ wallet }),
      await planPayment(scene.chain, token, { wallet }),
      await planPayment(scene.chain, token, { payTo: wallet.address }),
    ]
    await service.verify((await planPayment(scene.chain, token)).body)
    proxy.clearCalls()
    expect(await verifyAll(service, plans)).toEqual(Array(3).fill(expect.objectContaining(valid)))
    expect(countCalls(proxy)).toEqual({ shared: 3, single: 0 })
  })
})

describe('a shared simulation that fails as a whole', () => {
  it('because no node responds gives no verdict', async () => {
    const { proxy, service } = await open()
    const plans = await planMany(3)
    proxy.setFault('eth_call', { kind: 'refuse' })
    for (const { body } of plans) {
      await expect(service.verify(body)).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' })
    }
    proxy.clearFaults()
    expect(await verifyAll(service, plans)).toEqual(Array(3).fill(expect.objectContaining(valid)))
  })

  it('because a payer delegated to code that burns its gas does not affect the others', async () => {
    const { service } = await open()
    const burner = createEoa()
    const code = await deployWallet(scene.chain, await createMoodyWallet(scene.chain, 'burnsGas'))
    await delegate(burner.address, code.address)
    for (let round = 0; round < 3; round++) {
      const poisoned = await scene.plan({ wallet: burner })
      const others = await planMany(20)
      const all = [...others.slice(0, 3), poisoned, ...others.slice(3)]
      const answers = await verifyAll(service, all)
      expect(answers.filter((_, index) => index !== 3)).toEqual(
        Array(20).fill(expect.objectContaining(valid)),
      )
      // The payer with this code has the same verdict as alone.
      expect(answers[3]).toEqual(await service.verify(poisoned.body))
    }
  })
})

/** Sets an EIP-7702 delegation, including the delegate's only storage slot, its mode. */
const delegate = async (account: Address, contract: Hex): Promise<void> => {
  await scene.chain.control.setCode(account, concatHex(['0xef0100', contract]))
  const mood = pad(`0x0${moods.indexOf('burnsGas')}`)
  await scene.chain.control.setStorageAt(account, pad('0x00'), mood)
}

describe('a payment that runs untrusted code', () => {
  it.each<[string, () => Promise<PaymentPlan>]>([
    [
      'a wallet contract',
      async () => ({
        wallet: await deployWallet(scene.chain, await createMoodyWallet(scene.chain, 'acceptsAll')),
      }),
    ],
  ])('is simulated alone: %s', async (_what, plan) => {
    const { proxy, service } = await open()
    const { body } = await scene.plan(await plan())
    expect(await service.verify(body)).toMatchObject(valid)
    expect(countCalls(proxy)).toEqual({ shared: 0, single: 3 })
    // The reads of the token in one, the wallet's code in another, at the same time.
    expect(countRequests(proxy)).toBe(2)
  })

  it('is simulated alone: a token that is not listed', async () => {
    const { proxy, service } = await open({ [`EVM_TOKENS_${scene.chain.chainId}`]: '*' })
    const token = await deployTestToken(scene.chain, 'LegacyToken3009')
    await service.verify((await planPayment(scene.chain, token)).body)
    proxy.clearCalls()
    expect(await service.verify((await planPayment(scene.chain, token)).body)).toMatchObject(valid)
    // The only Multicall3 call measures what the recipient receives.
    expect(countCalls(proxy)).toEqual({ shared: 1, single: 3 })
    expect(countRequests(proxy)).toBe(1)
  })
})

describe('a chain without Multicall3', () => {
  it('is detected later when the node was down at the start', async () => {
    const proxy = await scene.openProxy()
    proxy.setFault('eth_getCode', { kind: 'error', code: -32000, message: 'busy' })
    const service = await scene.open({ rpcUrls: [proxy.url] })
    proxy.clearFaults()
    const { body } = await scene.plan()
    const isServed = () =>
      service.verify(body).then(
        ({ isValid }) => isValid,
        () => false,
      )
    await pollUntil(isServed, 'the network to be served')
    const isShared = async () => {
      proxy.clearCalls()
      expect(await service.verify((await scene.plan()).body)).toMatchObject(valid)
      return countCalls(proxy).shared === 1
    }
    await pollUntil(isShared, 'a simulation by Multicall3')
  })
})

describe('a refusal without chain access', () => {
  const plans: readonly [string, () => Promise<PaymentPlan>, string][] = [
    [
      'another recipient',
      async () => ({ authorization: { to: randomAddress() } }),
      'invalid_exact_evm_payload_recipient_mismatch',
    ],
    [
      'too low a value',
      async () => ({ authorization: { value: '9999' } }),
      'invalid_exact_evm_payload_authorization_value',
    ],
    [
      'an authorization that has expired',
      async () => ({ authorization: { validBefore: String(unixNow() - 1) } }),
      'invalid_exact_evm_payload_authorization_valid_before',
    ],
    [
      'an authorization that is not valid yet',
      async () => ({ authorization: { validAfter: String(unixNow() + 3_600) } }),
      'invalid_exact_evm_payload_authorization_valid_after',
    ],
    [
      'a token that is not accepted',
      async () => ({ requirements: { asset: randomAddress() } }),
      'unsupported_asset',
    ],
    [
      "another token's name",
      async () => ({ requirements: { extra: { name: 'USD Coin', version: '2' } } }),
      'invalid_exact_evm_token_name_mismatch',
    ],
    [
      'a signature with the ERC-6492 marker but no content',
      async () => ({ signature: concatHex([randomHex(100), `0x${'6492'.repeat(16)}`]) }),
      'invalid_exact_evm_payload_signature',
    ],
    ['no signature', async () => ({ signature: '0x' }), 'invalid_payload_structure'],
    ['another scheme', async () => ({ requirements: { scheme: 'auth-capture' } }), 'unsupported_scheme'],
    ['another network', async () => ({ requirements: { network: 'eip155:1' } }), 'invalid_network'],
    [
      'a payment to oneself',
      async () => {
        const wallet = createEoa()
        return { wallet, payTo: wallet.address }
      },
      'self_payment',
    ],
  ]

  it.each(plans)('sends no request: %s', async (_what, plan, reason) => {
    const { proxy, service } = await open()
    const { body } = await scene.plan(await plan())
    expect(await service.verify(body)).toMatchObject({ isValid: false, invalidReason: reason })
    // The monitor's requests continue meanwhile.
    expect(proxy.count('eth_call') + proxy.count('eth_getCode')).toBe(0)
  })
})
