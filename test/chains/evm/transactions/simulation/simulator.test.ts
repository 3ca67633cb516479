import { afterEach, describe, expect, it } from 'vitest'
import { randomHex, unixNow } from '../../../../support/evm/authorization.js'
import { multicall3Address } from '../../../../support/evm/localChain.js'
import { createToyCall, type ToyPlan } from '../../../../support/evm/toyCall.js'
import { createEoa } from '../../../../support/evm/wallets.js'
import { pollUntil } from '../../../../support/pollUntil.js'
import type { RpcProxy } from '../../../../support/rpcProxy.js'
import { standingClock } from '../../../../support/shiftedClock.js'
import { useScene } from '../../../../support/useScene.js'
import { createSigner, type EngineOptions } from '../../engineScene.js'
import { openToyScene } from '../../toyScene.js'

/* Simulation of settlement calls of any scheme: which calls share an eth_call, and the result of each. */

const scene = useScene(openToyScene)

afterEach(() => scene.toy.setGasToBurn(0n))

const anyUse = { requester: { name: 'anonymous', site: null }, occasion: 'check' } as const

/** An engine with known fees and Multicall3, behind a proxy without recorded requests. */
const open = async (options: EngineOptions = {}) => {
  const proxy = await scene.openProxy()
  // Fees that have become old would be read beside what is counted.
  const sending = await scene.openToy({ url: proxy.url, clock: standingClock(), ...options })
  const simulate = async (plan: ToyPlan) => {
    const simulation = await sending.engine.simulate(
      createToyCall(sending.rpc, scene.toy.address, plan),
      anyUse,
    )
    return 'refused' in simulation ? simulation.refused : null
  }
  await simulate(await scene.toy.plan())
  await pollUntil(() => proxy.count('eth_getCode') === 1, 'the code of Multicall3 to be read')
  proxy.clearCalls()
  return { proxy, sending, simulate }
}

const targetOf = ([call]: readonly unknown[]): string =>
  typeof call === 'object' && call !== null && 'to' in call ? String(call.to) : ''

/** Number of eth_calls through Multicall3, and to the contract itself. */
const countCalls = ({ calls }: RpcProxy) => {
  const targets = calls.filter(({ method }) => method === 'eth_call').map(({ params }) => targetOf(params))
  const shared = targets.filter((target) => target === multicall3Address).length
  return { shared, single: targets.length - shared }
}

const planMany = (count: number) => Promise.all(Array.from({ length: count }, () => scene.toy.plan()))

describe('a simulation', () => {
  it('of one call is one eth_call, with its reads', async () => {
    const { proxy, simulate } = await open()
    expect(await simulate(await scene.toy.plan())).toBeNull()
    expect(countCalls(proxy)).toEqual({ shared: 1, single: 0 })
    expect(proxy.requestCount).toBe(1)
  })

  it('of a hundred calls is a few eth_calls', async () => {
    const { proxy, simulate } = await open()
    const results = await Promise.all((await planMany(100)).map(simulate))
    expect(results).toEqual(Array(100).fill(null))
    expect(countCalls(proxy).single).toBe(0)
    expect(countCalls(proxy).shared).toBeGreaterThanOrEqual(2)
    expect(countCalls(proxy).shared).toBeLessThan(10)
  })

  it('returns the reason of each call of a group separately', async () => {
    const { simulate } = await open()
    const [used, reverting, silent] = await planMany(3)
    if (used === undefined || reverting === undefined || silent === undefined) throw new Error('No plan')
    const other = await open()
    for (const plan of [used, silent])
      expect(await other.sending.settle(plan)).toMatchObject({ state: 'confirmed' })
    await scene.toy.setCredit(used.payer, 10_000n)
    await scene.toy.setCredit(silent.payer, 10_000n)
    await scene.toy.setBehaviour(reverting.id, 'reverts')
    await scene.toy.setBehaviour(silent.id, 'succeedsWhenUsed')
    const cases = [
      [await scene.toy.plan(), null],
      [await scene.toy.plan({ credit: 1n }), 'insufficient_balance'],
      [await scene.toy.plan({ value: 0n }), null],
      [used, 'seqno_already_used'],
      // The contract call succeeds, but contradicts its state.
      [silent, 'seqno_already_used'],
      [reverting, 'account_frozen'],
      [await scene.toy.plan({ lastSecond: BigInt(unixNow() - 10) }), 'authorization_expired'],
      [await scene.toy.plan(), null],
    ] as const
    const results = await Promise.all(cases.map(([plan]) => simulate(plan)))
    expect(results.map((result) => result?.reason ?? null)).toEqual(cases.map(([, reason]) => reason))
  })

  it('does not see other calls of the same payer, or credit from another call', async () => {
    const { simulate } = await open()
    const payer = createEoa().address
    const plans = [await scene.toy.plan({ payer }), await scene.toy.plan({ payer, credit: 10_000n })]
    expect(await Promise.all([...plans, ...(await planMany(5))].map(simulate))).toEqual(Array(7).fill(null))
    const poor = createEoa().address
    const bringing = await scene.toy.plan({ payTo: poor })
    const spending = await scene.toy.plan({ payer: poor, credit: 0n })
    for (const order of [
      [bringing, spending],
      [spending, bringing],
    ]) {
      const results = await Promise.all([...order, ...(await planMany(3))].map(simulate))
      expect(results[order.indexOf(bringing)]).toBeNull()
      expect(results[order.indexOf(spending)]).toEqual({ reason: 'insufficient_balance' })
    }
  })

  it('of a call that is too early uses the pending block', async () => {
    const { proxy, simulate } = await open()
    const head = await scene.chain.control.getHead()
    const now = Math.max(unixNow(), head.timestamp) + 1
    expect(await simulate(await scene.toy.plan({ firstSecond: BigInt(now) }))).toBeNull()
    const tags = proxy.calls.filter(({ method }) => method === 'eth_call').map(({ params }) => params[1])
    expect(tags).toContain('pending')
  })

  it.each<[string, (signer: `0x${string}`) => Partial<ToyPlan>, number]>([
    ['is not batchable', () => ({ call: { batchedBy: null } }), 3],
    ['names its sender', (sender) => ({ sender }), 3],
    ['has a probe', () => ({ call: { probe: { to: scene.toy.address, data: '0x' } } }), 4],
  ])('of a call that %s is not shared, in one round trip', async (_what, changes, calls) => {
    const { proxy, sending, simulate } = await open()
    const plan = await scene.toy.plan(changes(sending.signers[0]?.address ?? '0x'))
    expect(await simulate(plan)).toBeNull()
    expect(countCalls(proxy)).toEqual({ shared: 0, single: calls })
    expect(proxy.requestCount).toBe(1)
  })

  it('uses the sender that the call names', async () => {
    const { simulate, sending } = await open({
      signers: await Promise.all([0, 1, 2].map(() => createSigner(scene))),
    })
    for (const { address: sender } of sending.signers) {
      for (const plan of await Promise.all([0, 1].map(() => scene.toy.plan({ sender })))) {
        expect(await simulate(plan)).toBeNull()
      }
    }
  })

  it('of a call whose only sender is unfunded is reported as an outage, not as a reason', async () => {
    const [able, unable] = [await createSigner(scene), await createSigner(scene)]
    const { simulate } = await open({
      signers: [able, unable],
      canPay: (address) => address === able.address,
    })
    expect(await simulate(await scene.toy.plan({ sender: able.address }))).toBeNull()
    await expect(simulate(await scene.toy.plan({ sender: unable.address }))).rejects.toMatchObject({
      code: 'SERVICE_UNAVAILABLE',
      operationalCode: 'SVC-4001',
    })
  })
})

describe('a group simulation that fails as a whole', () => {
  const failing = (code: number, message: string) => (proxy: RpcProxy) =>
    proxy.setFault('eth_call', { kind: 'error', code, message }, { times: 1 })
  const answering = (answer: string) => (proxy: RpcProxy) =>
    proxy.setFault('eth_call', {
      kind: 'tamper',
      change: (result, params) => (targetOf(params) === multicall3Address ? answer : result),
    })

  it.each<[string, (proxy: RpcProxy) => void]>([
    ['for its gas', failing(-32000, 'out of gas')],
    ["for the node's cap", failing(-32602, 'gas limit is above the cap')],
    ['because Multicall3 is missing', answering('0x')],
    ['with an invalid response', answering(randomHex(320))],
  ])('%s is divided into single simulations', async (_what, fail) => {
    const { proxy, simulate } = await open()
    const plans = [...(await planMany(6)), await scene.toy.plan({ credit: 1n })]
    fail(proxy)
    const results = await Promise.all(plans.map(simulate))
    expect(results).toEqual([...Array(6).fill(null), { reason: 'insufficient_balance' }])
    expect(countCalls(proxy).single).toBeGreaterThan(0)
  })

  it('because one call burns the gas does not affect the results of the others', async () => {
    const { simulate } = await open()
    const burning = await scene.toy.plan()
    await scene.toy.setBehaviour(burning.id, 'burnsGas')
    const others = await planMany(19)
    const results = await Promise.all([...others.slice(0, 3), burning, ...others.slice(3)].map(simulate))
    expect(results.filter((_, index) => index !== 3)).toEqual(Array(19).fill(null))
    expect(results[3]).not.toBeNull()
  })
})

describe('a chain without Multicall3', () => {
  it('simulates every call alone, in one round trip', async () => {
    const code = await scene.chain.client.getCode({ address: multicall3Address })
    await scene.chain.control.setCode(multicall3Address, '0x')
    try {
      const { proxy, simulate } = await open()
      expect(await simulate(await scene.toy.plan())).toBeNull()
      expect(countCalls(proxy)).toEqual({ shared: 0, single: 3 })
      expect(proxy.requestCount).toBe(1)
    } finally {
      await scene.chain.control.setCode(multicall3Address, code ?? '0x')
    }
  })
})
