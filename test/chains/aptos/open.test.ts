import { createServer } from 'node:http'
import { afterEach, describe, expect, it } from 'vitest'
import { findPublicProof } from '../../../src/schemes/publicProof.js'
import { startAptosChain } from '../../support/aptos/aptosChain.js'
import { usdt } from '../../support/aptos/payment.js'
import type { DirectScheme } from '../../support/directScheme.js'
import { listenOnLoopback } from '../../support/listenOnLoopback.js'
import { pollUntil } from '../../support/pollUntil.js'
import { rejectionOf } from '../../support/rejectionOf.js'
import { type RpcProxy, startRpcProxy } from '../../support/rpcProxy.js'
import { useScene } from '../../support/useScene.js'
import { openAptos, testnetEnvironment } from './openChain.js'
import { openScene } from './scene.js'

const scene = useScene(openScene)
const closers: (() => Promise<void>)[] = []

afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close()
})

const openProxy = async (): Promise<RpcProxy> => {
  const proxy = await startRpcProxy(new URL(scene.chain.url).origin)
  closers.push(() => proxy.stop())
  return proxy
}

const open = async (environment: Readonly<Record<string, string>>): Promise<DirectScheme> => {
  const opened = await openAptos(environment, { hasRounds: true })
  closers.push(() => opened.close())
  return opened
}

const queryOf = (transaction: string, amount = 10_000n) => ({
  transaction,
  asset: usdt,
  from: scene.from,
  to: scene.payTo,
  amount,
  notBefore: new Date(0),
  hints: {},
})

describe('an Aptos network', () => {
  it('rejects an endpoint of another chain', async () => {
    const mainnet = await startAptosChain({ chainId: 1 })
    closers.push(() => mainnet.stop())
    await expect(openAptos(testnetEnvironment(mainnet.url))).rejects.toThrow(
      'APTOS_RPC_URL_testnet: the endpoint serves chain 1, not 2',
    )
  })

  it('accepts a URL with and without /v1', async () => {
    const { origin } = new URL(scene.chain.url)
    for (const url of [origin, `${origin}/`, `${origin}/v1`, `${origin}/v1/`]) {
      expect((await open(testnetEnvironment(url))).health()).toMatchObject([{ isServing: true }])
    }
  })

  it('is not served while its endpoint is down, reports SVC-2004, and recovers', async () => {
    const proxy = await openProxy()
    proxy.setFault('*', { kind: 'refuse' })
    const { chain, health } = await open(testnetEnvironment(proxy.url))
    expect(health()).toMatchObject([{ isServing: false, isRpcReachable: false }])
    const transaction = await scene.pay()
    expect(await rejectionOf(chain.lookUp(queryOf(transaction)))).toMatchObject({
      operationalCode: 'SVC-2004',
    })
    proxy.clearFaults()
    await pollUntil(() => health()[0]?.isServing, 'the network to be served again')
    expect(await chain.lookUp(queryOf(transaction))).toMatchObject({ state: 'successful' })
  })

  it('is not served while its newest block is old, and an unknown transaction is then an outage', async () => {
    const stale = await startAptosChain({ blockTimeMs: null, behindMs: 120_000 })
    closers.push(() => stale.stop())
    const { chain, health } = await open(testnetEnvironment(stale.url))
    expect(health()).toMatchObject([{ isServing: false, isRpcReachable: true }])
    const unknown = chain.lookUp(queryOf(`0x${'9'.repeat(64)}`))
    expect(await rejectionOf(unknown)).toMatchObject({ operationalCode: 'SVC-2004' })
  })

  it('takes one request per look-up', async () => {
    const transaction = await scene.pay()
    const { chain } = await open(testnetEnvironment(scene.chain.url))
    const before = scene.chain.requests.length
    await chain.lookUp(queryOf(transaction))
    expect(scene.chain.requests.slice(before)).toEqual([`/v1/transactions/by_hash/${transaction}`])
  })

  it('does not take the 404 of a gateway for an unknown transaction', async () => {
    const gateway = createServer((request, response) => {
      const isLedger = request.url === '/v1'
      response.writeHead(isLedger ? 200 : 404, { 'content-type': 'application/json' })
      const now = `${Date.now()}000`
      response.end(JSON.stringify(isLedger ? { chain_id: 2, block_height: '9', ledger_timestamp: now } : {}))
    })
    const { url, stop } = await listenOnLoopback(gateway)
    closers.push(stop)
    const { chain } = await open(testnetEnvironment(url))
    const result = rejectionOf(chain.lookUp(queryOf(`0x${'9'.repeat(64)}`)))
    expect(await result).toMatchObject({ operationalCode: 'SVC-2004' })
  })

  it('refuses an answer for another transaction', async () => {
    const proxy = await openProxy()
    const [first, second] = [await scene.pay(), await scene.pay()]
    const { chain } = await open(testnetEnvironment(proxy.url))
    const response = await fetch(`${scene.chain.url}/transactions/by_hash/${second}`)
    const answer: unknown = await response.json()
    proxy.setFault(`/v1/transactions/by_hash/${first}`, { kind: 'tamper', change: () => answer })
    expect(await rejectionOf(chain.lookUp(queryOf(first)))).toMatchObject({ operationalCode: 'SVC-2004' })
  })

  it('accepts a large payment only when two endpoints report the same transfers', async () => {
    const proxy = await openProxy()
    const { chain } = await open({
      ...testnetEnvironment(`${scene.chain.url},${proxy.url}`),
      APTOS_CROSS_CHECK_AMOUNT: '10000',
    })
    const transaction = await scene.pay()
    const path = `/v1/transactions/by_hash/${transaction}`
    proxy.setFault(path, {
      kind: 'tamper',
      change: (answer) => JSON.parse(JSON.stringify(answer).replaceAll('"10000"', '"10001"')),
    })
    expect(await chain.lookUp(queryOf(transaction))).toEqual({ state: 'pending' })
    // What would be credited counts, not only what is required.
    expect(await chain.lookUp(queryOf(transaction, 9_999n))).toEqual({ state: 'pending' })
    expect(await chain.lookUp(queryOf(await scene.pay(9_999n), 9_999n))).toMatchObject({
      state: 'successful',
    })
    proxy.clearFaults()
    expect(await chain.lookUp(queryOf(transaction))).toMatchObject({ state: 'successful' })
  })

  it('names assets to clients as CAIP-19, and no asset that is not settled', async () => {
    const { chain } = await open(testnetEnvironment(scene.chain.url))
    const terms = {
      asset: `aptos:2/fa:${usdt}`,
      decimals: 6,
      extra: { assetSymbol: 'USDT', assetDecimals: 6 },
    }
    expect(chain.describeAsset(null)).toEqual(terms)
    expect(chain.describeAsset(usdt)).toEqual(terms)
    expect(chain.describeAsset(`0x${'7'.repeat(64)}`)).toBeNull()
  })

  it('calls requirements contradictory whose extra names another asset', async () => {
    const { scheme } = await open(testnetEnvironment(scene.chain.url))
    const contradict = (metadataAddress: unknown) =>
      findPublicProof(scheme)?.findContradiction(usdt, { metadataAddress })
    expect(findPublicProof(scheme)?.findContradiction(usdt, {})).toBeNull()
    expect(contradict(null)).toBeNull()
    expect(contradict(usdt)).toBeNull()
    for (const other of [`0x${'7'.repeat(64)}`, 7]) expect(contradict(other)).toContain('metadataAddress')
  })

  it('sends the API key as a bearer token', async () => {
    const seen = new Set<unknown>()
    const gateway = createServer((request, response) => {
      seen.add(request.headers.authorization)
      response.writeHead(403).end()
    })
    const { url, stop } = await listenOnLoopback(gateway)
    closers.push(stop)
    await open({ ...testnetEnvironment(url), APTOS_API_KEY_testnet: 'key' })
    expect([...seen]).toEqual(['Bearer key'])
  })
})
