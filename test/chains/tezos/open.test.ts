import { afterEach, describe, expect, it } from 'vitest'
import { findPublicProof } from '../../../src/schemes/publicProof.js'
import type { DirectScheme } from '../../support/directScheme.js'
import { pollUntil } from '../../support/pollUntil.js'
import { rejectionOf } from '../../support/rejectionOf.js'
import { type RpcProxy, startRpcProxy } from '../../support/rpcProxy.js'
import { usdt } from '../../support/tezos/payment.js'
import { startTezosChain, type TezosChainOptions } from '../../support/tezos/tezosChain.js'
import { useScene } from '../../support/useScene.js'
import { octezAt, openTezos, tzktAt } from './openChain.js'
import { openScene } from './scene.js'

const scene = useScene(openScene)
const closers: (() => Promise<void>)[] = []

afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close()
})

const openProxy = async (url: string): Promise<RpcProxy> => {
  const proxy = await startRpcProxy(url)
  closers.push(() => proxy.stop())
  return proxy
}

const startChain = async (options: TezosChainOptions) => {
  const chain = await startTezosChain(options)
  closers.push(() => chain.stop())
  return chain
}

const open = async (sources: Readonly<Record<string, string>>): Promise<DirectScheme> => {
  const opened = await openTezos(sources, { hasRounds: true })
  closers.push(() => opened.close())
  return opened
}

const queryOf = (transaction: string, amount = 10_000n) => ({
  transaction,
  asset: `${usdt}:0`,
  from: scene.from,
  to: scene.payTo,
  amount,
  notBefore: new Date(Date.now() - 60_000),
  hints: {},
})

const unknown = 'onvsLP3JFZia2mzZKWaFuFkWg2L5p3BDUhzh5Kr6CiDDN3rtQ1D'

describe('a Tezos network', () => {
  it.each(['octez', 'tzkt'] as const)('rejects an endpoint of another chain: %s', async (source) => {
    const mainnet = await startChain({ chainId: 'NetXdQprcVkpaWU' })
    const sources = source === 'octez' ? octezAt(mainnet.url) : tzktAt(mainnet.tzktUrl)
    await expect(openTezos(sources)).rejects.toThrow(
      'the endpoint serves chain NetXdQprcVkpaWU, not NetXnHfVqm9iesp',
    )
  })

  it.each(['octez', 'tzkt'] as const)(
    'is not served while its endpoint is down, and recovers: %s',
    async (source) => {
      const proxy = await openProxy(source === 'octez' ? scene.chain.url : scene.chain.tzktUrl)
      proxy.setFault('*', { kind: 'refuse' })
      const { chain, health } = await open(source === 'octez' ? octezAt(proxy.url) : tzktAt(proxy.url))
      expect(health()).toMatchObject([{ isServing: false, isRpcReachable: false }])
      const transaction = await scene.pay()
      expect(await rejectionOf(chain.lookUp(queryOf(transaction)))).toMatchObject({
        operationalCode: 'SVC-2004',
      })
      proxy.clearFaults()
      await pollUntil(() => health()[0]?.isServing, 'the network to be served again')
      expect(await chain.lookUp(queryOf(transaction))).toMatchObject({ state: 'successful' })
    },
  )

  it.each(['octez', 'tzkt'] as const)('knows from %s which contracts exist', async (source) => {
    const { chain } = scene[source]
    expect(await chain.hasAsset(`${usdt}:0`)).toBe(true)
    expect(await chain.hasAsset('KT1PWx2mnDueood7fEmfbBDKx1D9BAnnXitn:0')).toBe(false)
  })

  it('is not served while its newest block is old, and an unknown operation is then an outage', async () => {
    const stale = await startChain({ blockTimeMs: null, behindMs: 600_000 })
    const { chain, health } = await open(octezAt(stale.url))
    expect(health()).toMatchObject([{ isServing: false, isRpcReachable: true }])
    expect(await rejectionOf(chain.lookUp(queryOf(unknown)))).toMatchObject({ operationalCode: 'SVC-2004' })
  })

  it('is not served by an indexer that is behind its node', async () => {
    const proxy = await openProxy(scene.chain.tzktUrl)
    proxy.setFault('/v1/head', {
      kind: 'tamper',
      change: (head) => ({ ...Object(head), synced: false }),
    })
    const { health } = await open(tzktAt(proxy.url))
    expect(health()).toMatchObject([{ isServing: false }])
  })

  it.each(['octez', 'tzkt'] as const)(
    'does not believe an endpoint that changes its chain: %s',
    async (source) => {
      const isOctez = source === 'octez'
      const proxy = await openProxy(isOctez ? scene.chain.url : scene.chain.tzktUrl)
      const { chain } = await open(isOctez ? octezAt(proxy.url) : tzktAt(proxy.url))
      const transaction = await scene.pay()
      proxy.setFault(isOctez ? '/chains/main/blocks/head/header' : '/v1/head', {
        kind: 'tamper',
        change: (head) => ({ ...Object(head), [isOctez ? 'chain_id' : 'chainId']: 'NetXdQprcVkpaWU' }),
      })
      expect(await rejectionOf(chain.lookUp(queryOf(transaction)))).toMatchObject({
        operationalCode: 'SVC-2004',
      })
    },
  )

  it('continues with the other kind of source when one is down', async () => {
    const proxy = await openProxy(scene.chain.tzktUrl)
    const { chain } = await open({ ...octezAt(scene.chain.url), ...tzktAt(proxy.url) })
    proxy.setFault('*', { kind: 'status', status: 502 })
    expect(await chain.lookUp(queryOf(await scene.pay()))).toMatchObject({ state: 'successful' })
  })

  it('accepts a large payment only when both sources report the same transfers', async () => {
    const proxy = await openProxy(scene.chain.tzktUrl)
    const { chain } = await open({
      ...octezAt(scene.chain.url),
      ...tzktAt(proxy.url),
      TEZOS_CROSS_CHECK_AMOUNT: '10000',
    })
    const transaction = await scene.pay()
    proxy.setFault(`/v1/operations/transactions/${transaction}`, {
      kind: 'tamper',
      change: (rows) => JSON.parse(JSON.stringify(rows).replaceAll('"10000"', '"10001"')),
    })
    expect(await chain.lookUp(queryOf(transaction))).toEqual({ state: 'pending' })
    // What would be credited counts too.
    expect(await chain.lookUp(queryOf(transaction, 9_999n))).toEqual({ state: 'pending' })
    proxy.clearFaults()
    expect(await chain.lookUp(queryOf(transaction))).toMatchObject({ state: 'successful' })
  })

  it.each<[string, (row: object) => object]>([
    ['rows of another operation', (row: object) => ({ ...row, hash: unknown })],
    ['a status that does not exist', (row: object) => ({ ...row, status: 'done' })],
    ['no level', (row: object) => ({ ...row, level: undefined })],
    ['no time', (row: object) => ({ ...row, timestamp: 'yesterday' })],
  ])('refuses an answer of TzKT with %s', async (_, change) => {
    const proxy = await openProxy(scene.chain.tzktUrl)
    const { chain } = await open(tzktAt(proxy.url))
    const transaction = await scene.pay()
    proxy.setFault(`/v1/operations/transactions/${transaction}`, {
      kind: 'tamper',
      change: (rows) => (Array.isArray(rows) ? rows.map(change) : rows),
    })
    expect(await rejectionOf(chain.lookUp(queryOf(transaction)))).toMatchObject({
      operationalCode: 'SVC-2004',
    })
  })

  it.each<[string, (operation: object) => object]>([
    ['another operation', (operation: object) => ({ ...operation, hash: unknown })],
    ['no receipts', (operation: object) => ({ ...operation, contents: [{ kind: 'transaction' }] })],
    ['no contents', (operation: object) => ({ ...operation, contents: [] })],
  ])('refuses an answer of octez with %s', async (_, change) => {
    const proxy = await openProxy(scene.chain.url)
    const { chain } = await open(octezAt(proxy.url))
    const transaction = await scene.pay()
    const block = scene.chain.ledger
      .blocks()
      .find(({ operations }) => operations.some(({ operation }) => operation.hash === transaction))
    proxy.setFault(`/chains/main/blocks/${block?.hash}/operations/3/0`, {
      kind: 'tamper',
      change: (operation) => change(Object(operation)),
    })
    expect(await rejectionOf(chain.lookUp(queryOf(transaction)))).toMatchObject({
      operationalCode: 'SVC-2004',
    })
  })

  it('names assets to clients as CAIP-19, and no asset that is not settled', async () => {
    const { chain } = await open(tzktAt(scene.chain.tzktUrl))
    const terms = {
      asset: `tezos:NetXnHfVqm9iesp/fa2:${usdt}/0`,
      decimals: 6,
      extra: { assetSymbol: 'USDt', assetDecimals: 6 },
    }
    expect(chain.describeAsset(null)).toEqual(terms)
    expect(chain.describeAsset(`${usdt}:0`)).toEqual(terms)
    expect(chain.describeAsset(`${usdt}:1`)).toBeNull()
  })

  it('calls requirements contradictory whose extra names another contract or token', async () => {
    const { scheme } = await open(tzktAt(scene.chain.tzktUrl))
    const contradict = (extra: Readonly<Record<string, unknown>>) =>
      findPublicProof(scheme)?.findContradiction(`${usdt}:0`, extra)
    for (const same of [
      {},
      { contractAddress: usdt },
      { tokenId: 0 },
      { tokenId: '0' },
      { contractAddress: null, tokenId: null },
    ]) {
      expect(contradict(same)).toBeNull()
    }
    expect(contradict({ contractAddress: scene.payTo })).toContain('contractAddress')
    for (const other of [1, '1', '00']) expect(contradict({ tokenId: other })).toContain('tokenId')
  })
})
