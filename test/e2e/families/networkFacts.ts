import { afterEach, beforeAll, describe, expect, it } from 'vitest'
import { canonicalAsset } from '../../../src/protocol/assetId.js'
import type { Scheme } from '../../../src/schemes/scheme.js'
import type { DemoWorld } from '../../demo/world.js'
import { worlds } from '../../demo/worlds/index.js'
import { type OpenNetwork, openNetwork } from '../../support/openNetwork.js'
import { pollUntil } from '../../support/pollUntil.js'
import { rejectionOf } from '../../support/rejectionOf.js'
import { type RpcProxy, startRpcProxy } from '../../support/rpcProxy.js'
import { walletForms } from '../../support/walletForms.js'
import { getWorld, type OpenedWorlds } from './openedWorlds.js'

/* What wallets and routes of payments need to know of each network, asked of the chains that run inside the tests. */

interface Expected {
  readonly isTestnet: boolean
  readonly isDollar: boolean
  /** As issuers write it. */
  readonly symbol: string
  /** Null: the network names no price. */
  readonly fee: { readonly symbol: string; readonly decimals: number; readonly paidBy: string } | null
  /** False: the price is a constant, or was read a moment before. */
  readonly asksForPrice?: false
}

const expected: Readonly<Record<string, Expected>> = {
  evm: {
    isTestnet: true,
    isDollar: true,
    symbol: 'USDC',
    fee: { symbol: 'ETH', decimals: 18, paidBy: 'facilitator' },
    asksForPrice: false,
  },
  solana: {
    isTestnet: false,
    isDollar: true,
    symbol: 'USDC',
    fee: { symbol: 'SOL', decimals: 9, paidBy: 'facilitator' },
    asksForPrice: false,
  },
  ton: {
    isTestnet: true,
    isDollar: true,
    symbol: 'USDT',
    fee: { symbol: 'TON', decimals: 9, paidBy: 'facilitator' },
    asksForPrice: false,
  },
  tron: {
    isTestnet: true,
    isDollar: true,
    symbol: 'USDT',
    fee: { symbol: 'TRX', decimals: 6, paidBy: 'facilitator' },
  },
  near: {
    isTestnet: true,
    isDollar: true,
    symbol: 'USDC',
    fee: { symbol: 'NEAR', decimals: 24, paidBy: 'payer' },
  },
  aptos: {
    isTestnet: true,
    isDollar: true,
    symbol: 'USDT',
    fee: { symbol: 'APT', decimals: 8, paidBy: 'payer' },
  },
  tezos: { isTestnet: true, isDollar: true, symbol: 'USDT', fee: null },
  polkadot: { isTestnet: true, isDollar: true, symbol: 'USDT', fee: null },
  stacks: {
    isTestnet: true,
    isDollar: false,
    symbol: 'USD',
    fee: { symbol: 'STX', decimals: 6, paidBy: 'payer' },
  },
  cosmos: {
    isTestnet: true,
    isDollar: true,
    symbol: 'USDC',
    fee: { symbol: 'USDC', decimals: 6, paidBy: 'payer' },
  },
}

/** Their requests are paths; the others' are JSON-RPC calls to the URL itself. */
const pathFamilies = ['tron', 'aptos', 'tezos', 'stacks']

export const describeNetworkFacts = (opened: OpenedWorlds): void =>
  describe.each(Object.keys(worlds))('facts of %s', (family) => {
    const facts = expected[family]
    if (facts === undefined) throw new Error(`${family}: its facts are missing`)
    let world: DemoWorld
    let proxies: RpcProxy[] = []
    let network: OpenNetwork | null = null

    beforeAll(() => {
      world = getWorld(opened, family)
    })
    afterEach(async () => {
      await network?.close()
      network = null
      await Promise.all(proxies.map((proxy) => proxy.stop()))
      proxies = []
    })

    /** With proxies before each endpoint: as many endpoints, one after the other. */
    const open = async (
      endpoints = 1,
      settings: Readonly<Record<string, string>> = {},
    ): Promise<readonly Scheme[]> => {
      const entries = await Promise.all(
        Object.entries(world.environment).map(async ([name, value]) => {
          if (!/_(RPC|TZKT)_URL_/.test(name)) return [name, value] as const
          const { origin, pathname } = new URL(value)
          const isPath = pathFamilies.includes(family)
          const opening = Array.from({ length: endpoints }, () => startRpcProxy(isPath ? origin : value))
          const started = await Promise.all(opening)
          proxies.push(...started)
          const urls = started.map(({ url }) => (isPath && pathname !== '/' ? `${url}${pathname}` : url))
          return [name, urls.join(',')] as const
        }),
      )
      network = await openNetwork(world.network, { ...Object.fromEntries(entries), ...settings })
      return network.schemes
    }

    const assetOf = (scheme: Scheme): string => {
      const [first] = scheme.network.listTokens()
      if (first === undefined) throw new Error(`${family}: lists no token`)
      return first.asset
    }

    const read = async (scheme: Scheme, owner: string) =>
      await scheme.network.balances?.read(assetOf(scheme), owner)

    const setFault = (fault: Parameters<RpcProxy['setFault']>[1]) => {
      for (const proxy of proxies) proxy.setFault('*', fault)
    }
    const countRequests = () => proxies.reduce((sum, { requestCount }) => sum + requestCount, 0)

    it('lists its tokens, whose terms it can describe', async () => {
      const offered = (await open()).filter((scheme) => scheme.describeKind() !== null)
      expect(offered.length).toBeGreaterThan(0)
      for (const scheme of offered) {
        const tokens = scheme.network.listTokens()
        const { symbol, isDollar } = facts
        expect(tokens[0]).toEqual({ asset: expect.any(String), symbol, decimals: 6, isDollar })
        for (const { asset, decimals } of tokens) {
          const terms = await scheme.describeAsset(asset, world.merchant)
          if (terms === null) throw new Error(`${asset} has no terms`)
          expect(canonicalAsset(world.network, terms.asset)).toBe(asset)
          expect(terms.decimals ?? decimals).toBe(decimals)
          expect(scheme.network.isAsset(asset)).toBe(true)
        }
        expect(scheme.network.isTestnet).toBe(facts.isTestnet)
        expect(scheme.network.secondsToSettle).toBeGreaterThan(0)
        expect(scheme.network.secondsToSettle).toBeLessThanOrEqual(120)
      }
    })

    it('names payers in the journal as it normalizes their addresses', async () => {
      for (const scheme of await open()) {
        const normal = scheme.network.normalizeAddress(world.customer) ?? ''
        expect(normal.toLowerCase()).toBe(world.customer.toLowerCase())
        expect(scheme.network.normalizeAddress(normal)).toBe(normal)
      }
    })

    it('reads the balance that the chain has, of holders and of wallets without an account', async () => {
      const [unknown] = walletForms[family]?.spell(Buffer.alloc(32, 0xa7)) ?? []
      if (unknown === undefined) throw new Error(`${family}: no wallet is known`)
      for (const scheme of await open()) {
        expect(await read(scheme, world.customer)).toBe(await world.balanceOf(world.customer))
        await world.fund(world.customer, 1_234n)
        expect(await read(scheme, world.customer)).toBe(await world.balanceOf(world.customer))
        expect(await read(scheme, unknown)).toBe(0n)
      }
    })

    it('asks nothing about what is no address or no asset of the network', async () => {
      const schemes = await open()
      const before = countRequests()
      for (const scheme of schemes) {
        expect(await read(scheme, 'no wallet!')).toBe(0n)
        expect(await scheme.network.balances?.read('no token!', world.customer)).toBe(0n)
      }
      expect(countRequests()).toBe(before)
    })

    it('estimates the cost of a settlement in the coin that pays it', async () => {
      for (const scheme of await open()) {
        const fee = await scheme.network.fees?.estimate()
        if (facts.fee === null) expect(scheme.network.fees).toBeNull()
        else {
          expect(fee).toEqual({ ...facts.fee, amount: expect.any(BigInt) })
          expect(fee?.amount).toBeGreaterThan(0n)
        }
      }
    })

    it('asks another endpoint while one sends nonsense or nothing', async () => {
      const [scheme] = await open(2)
      if (scheme === undefined) throw new Error('No scheme was opened')
      const balance = await world.balanceOf(world.customer)
      const [first] = proxies
      first?.setFault('*', { kind: 'tamper', change: () => ({ nonsense: true }) })
      expect(await read(scheme, world.customer)).toBe(balance)
      await first?.stop()
      expect(await read(scheme, world.customer)).toBe(balance)
    })

    it('refuses nonsense of a node', async () => {
      const [scheme] = await open()
      if (scheme === undefined) throw new Error('No scheme was opened')
      for (const nonsense of ['nonsense', { result: [], value: null }, '0x', -1]) {
        setFault({ kind: 'tamper', change: () => nonsense })
        expect(await rejectionOf(read(scheme, world.customer))).toMatchObject({ code: 'SERVICE_UNAVAILABLE' })
        if (facts.asksForPrice === false || scheme.network.fees === null) continue
        const estimating = scheme.network.fees.estimate()
        expect(await rejectionOf(estimating)).toMatchObject({ code: 'SERVICE_UNAVAILABLE' })
      }
    })

    it('reports an unreachable node as unavailable, for balances and for prices', async () => {
      const [scheme] = await open()
      if (scheme === undefined) throw new Error('No scheme was opened')
      await Promise.all(proxies.map((proxy) => proxy.stop()))
      expect(await rejectionOf(read(scheme, world.customer))).toMatchObject({ code: 'SERVICE_UNAVAILABLE' })
      if (facts.asksForPrice === false || scheme.network.fees === null) return
      const estimating = scheme.network.fees.estimate()
      expect(await rejectionOf(estimating)).toMatchObject({ code: 'SERVICE_UNAVAILABLE' })
    })

    it('ends by itself while a node is silent', async () => {
      const [scheme] = await open(1, { [`${family.toUpperCase()}_RPC_TIMEOUT_MS`]: '500' })
      if (scheme === undefined) throw new Error('No scheme was opened')
      // A busy machine may miss the deadline while the network is opened, too.
      await pollUntil(() => scheme.network.listTokens().length > 0, 'the tokens of the network')
      setFault({ kind: 'hang' })
      expect(await rejectionOf(read(scheme, world.customer))).toMatchObject({ code: 'SERVICE_UNAVAILABLE' })
      if (facts.asksForPrice === false || scheme.network.fees === null) return
      expect(await rejectionOf(scheme.network.fees.estimate())).toMatchObject({ code: 'SERVICE_UNAVAILABLE' })
    })
  })
