import { type Hex, toFunctionSelector } from 'viem'
import { describe, expect, it } from 'vitest'
import { uptoRouterAbi } from '../../../../src/chains/evm/contracts/uptoRouterAbi.js'
import { multicall3Address } from '../../../support/evm/localChain.js'
import { createEoa } from '../../../support/evm/wallets.js'
import type { RpcProxy } from '../../../support/rpcProxy.js'
import { useScene } from '../../../support/useScene.js'
import { planCharge } from '../permit2/upto/uptoScene.js'
import { openScene } from '../scene.js'
import { openUpto, type UptoService } from './scene.js'

/* Payments that the router makes: the simulations of several share an eth_call of it, and their reads one of Multicall3. */

const scene = useScene(openScene)

const executeSelector = toFunctionSelector(
  uptoRouterAbi.find((item) => item.type === 'function' && item.name === 'execute') ?? '',
)

interface Target {
  readonly to: string
  readonly data: string
}

const targetOf = ([call]: readonly unknown[]): Target => {
  const fields: { to?: unknown; data?: unknown } = Object(call)
  return { to: String(fields.to).toLowerCase(), data: String(fields.data) }
}

const isExecute = ({ data }: Target): boolean => data.startsWith(executeSelector)
const isMulticall = ({ to }: Target): boolean => to === multicall3Address.toLowerCase()

const listCalls = ({ calls }: RpcProxy): readonly Target[] =>
  calls.filter(({ method }) => method === 'eth_call').map(({ params }) => targetOf(params))

/** Number of eth_calls: by the router for several payments, by Multicall3, and others. */
const countCalls = (proxy: RpcProxy) => {
  const targets = listCalls(proxy)
  const shared = targets.filter(isExecute).length
  const reads = targets.filter(isMulticall).length
  return { shared, reads, single: targets.length - shared - reads }
}

const planPermit2 = ({ router }: UptoService, change: Partial<Parameters<typeof planCharge>[1]> = {}) =>
  planCharge(scene.chain, { facilitator: router, ...change })

type Plan = (service: UptoService) => Promise<{ readonly body: object }>

const forms: readonly (readonly [string, Plan])[] = [
  ['permit', (service) => service.plan()],
  ['Permit2', (service) => planPermit2(service)],
]

/** A service that knows the contracts of the network. */
const open = async () => {
  const proxy = await scene.openProxy()
  const service = await openUpto(scene, { rpcUrls: [proxy.url] })
  for (const [, plan] of forms)
    expect(await service.verify((await plan(service)).body)).toMatchObject({ isValid: true })
  proxy.clearCalls()
  return { proxy, service }
}

const times = <T>(count: number, make: () => Promise<T>): Promise<readonly T[]> =>
  Promise.all(Array.from({ length: count }, make))

const verifyAll = ({ verify }: UptoService, plans: readonly { readonly body: unknown }[]) =>
  Promise.all(plans.map(({ body }) => verify(body)))

const areValid = (count: number) => Array(count).fill(expect.objectContaining({ isValid: true }))

describe.each(forms)('a simulation by the router, of payments by %s,', (_form, plan) => {
  it('is two eth_calls for one of them, in one round trip', async () => {
    const { proxy, service } = await open()
    const { body } = await plan(service)
    proxy.clearCalls()
    expect(await service.verify(body)).toMatchObject({ isValid: true })
    expect(countCalls(proxy)).toEqual({ shared: 0, reads: 1, single: 1 })
    expect(proxy.calls.filter(({ method }) => method === 'eth_call')).toMatchObject([
      { isBatched: true },
      { isBatched: true },
    ])
  })

  it('is a few eth_calls for forty of them', async () => {
    const { proxy, service } = await open()
    const plans = await times(40, () => plan(service))
    proxy.clearCalls()
    expect(await verifyAll(service, plans)).toEqual(areValid(40))
    const { shared, reads, single } = countCalls(proxy)
    expect(shared).toBeGreaterThan(0)
    expect(shared + reads + single).toBeLessThan(40)
  })

  it('is made one by one where the contracts do not answer for all', async () => {
    const { proxy, service } = await open()
    for (const isFaulty of [isExecute, isMulticall]) {
      const plans = await times(6, () => plan(service))
      proxy.setFault('eth_call', {
        kind: 'tamper',
        change: (result, params) => (isFaulty(targetOf(params)) ? '0x' : result),
      })
      proxy.clearCalls()
      expect(await verifyAll(service, plans)).toEqual(areValid(6))
      expect(countCalls(proxy).single).toBeGreaterThanOrEqual(6)
      proxy.clearFaults()
    }
  })
})

describe('of payments that are simulated together', () => {
  it('each is refused for its own reason, which is the one that it has alone', async () => {
    const { proxy, service } = await open()
    const blocked = await planPermit2(service)
    await scene.chain.setBlacklisted(blocked.payer, true)
    const used = await planPermit2(service)
    expect(await service.settle({ ...used.body, settleAmount: '1' }, 'shop')).toMatchObject({ success: true })
    const later = String(BigInt(Math.floor(Date.now() / 1_000)) + 600n)
    const plans = [
      await planPermit2(service),
      await planPermit2(service, { balance: 9_999n }),
      await planPermit2(service, { allowance: 9_999n }),
      blocked,
      await planPermit2(service, { permit: { deadline: later } }),
      await service.plan({ balance: 9_999n }),
      await service.plan(),
      await planPermit2(service),
    ]
    proxy.clearCalls()
    const together = await verifyAll(service, plans)
    expect(listCalls(proxy).some(isExecute)).toBe(true)
    expect(together.map((each) => (each.isValid ? null : each.invalidReason))).toEqual([
      null,
      'insufficient_funds',
      'permit2_allowance_required',
      'permit2_simulation_failed',
      null,
      'insufficient_funds',
      null,
      null,
    ])
    const alone = []
    for (const { body } of plans) alone.push(await service.verify(body))
    expect(together).toEqual(alone)
  })

  it('each has the balance of its own payer, and sees no transfer of another', async () => {
    const { service } = await open()
    const planTwo = async (balance: bigint) => {
      const wallet = createEoa()
      const first = await planPermit2(service, { wallet, balance })
      return [first, await planPermit2(service, { wallet, balance: 0n })] as const
    }
    const [rich, poor] = [await planTwo(1_000_000n), await planTwo(15_000n)]
    const results = await verifyAll(service, [...rich, ...poor])
    expect(results.slice(0, 2)).toEqual(areValid(2))
    // The transfer alone would leave too little: it is refused for what is held, not for what it simulates.
    expect(results.slice(2).filter(({ isValid }) => !isValid)).toMatchObject([
      { invalidReason: 'insufficient_funds', invalidMessage: expect.stringContaining('hold 10000 of it') },
    ])
  })

  it('one whose payer has code that burns its gas neither fails nor repeats the others', async () => {
    const { proxy, service } = await open()
    const burning = await planPermit2(service)
    const others = await times(9, () => planPermit2(service))
    // JUMPDEST PUSH1 0 JUMP: Permit2 asks an account with code whether it signed.
    await scene.chain.control.setCode(burning.payer, '0x5b600056')
    proxy.clearCalls()
    const results = await verifyAll(service, [...others.slice(0, 3), burning, ...others.slice(3)])
    expect(results.filter((_, index) => index !== 3)).toEqual(areValid(9))
    expect(results[3]).toMatchObject({ isValid: false })
    const isAbout = (payer: Hex) => (each: Target) => each.data.includes(payer.slice(2).toLowerCase())
    const alone = listCalls(proxy).filter((each) => !isExecute(each) && !isMulticall(each))
    expect(listCalls(proxy).some((each) => isExecute(each) && isAbout(burning.payer)(each))).toBe(true)
    expect(alone.filter((each) => !isAbout(burning.payer)(each)).length).toBeLessThanOrEqual(1)
  })
})
