import { createServer } from 'node:http'
import { describe, expect, it } from 'vitest'
import { reconcileUntil } from '../../support/coreClient.js'
import { createMemoryLogger } from '../../support/memoryLogger.js'
import { pollUntil } from '../../support/pollUntil.js'
import { rejectionOf } from '../../support/rejectionOf.js'
import type { RpcProxy } from '../../support/rpcProxy.js'
import { startTronChain } from '../../support/tron/tronChain.js'
import { useScene } from '../../support/useScene.js'
import { openScene } from './scene.js'

const scene = useScene(openScene)

describe('a TRON network', () => {
  it('rejects an endpoint of another network', async () => {
    const mainnet = await startTronChain({ chainId: '2b6653dc' })
    try {
      await expect(scene.open({ url: mainnet.url })).rejects.toThrow(
        'TRON_RPC_URL_nile: the endpoint serves chain 0x2b6653dc, not 0xcd8690dc',
      )
    } finally {
      await mainnet.stop()
    }
  })

  it('is not offered while its endpoint is down, reports SVC-2004, and recovers', async () => {
    const proxy = await scene.openProxy()
    proxy.setFault('*', { kind: 'refuse' })
    const service = await scene.open({ url: proxy.url })
    const listNetworks = () => service.core.useCases.core.listSupported().kinds.map(({ network }) => network)
    expect(listNetworks()).toEqual([])
    const { body } = await scene.plan()
    expect(await rejectionOf(service.verify(body))).toMatchObject({ operationalCode: 'SVC-2004' })
    proxy.clearFaults()
    await pollUntil(() => listNetworks().includes('tron:nile'), 'the network to be offered again')
    expect(await service.settle(body)).toMatchObject({ success: true })
  })

  it('reads from the second endpoint when the first one returns the receipt of another transaction', async () => {
    const nodes = [await scene.openProxy(), await scene.openProxy()]
    const service = await scene.open({ url: nodes.map(({ url }) => url).join(',') })
    const other = await scene.plan()
    const { transaction } = await service.settle(other.body)
    const info = scene.chain.ledger.findExecuted(transaction)?.info
    // Which one is asked first depends on their latencies: that one is wrong.
    let wrong: RpcProxy | null = null
    for (const node of nodes) {
      node.clearCalls()
      node.setFault('/wallet/gettransactioninfobyid', {
        kind: 'tamper',
        change: (result) => {
          wrong ??= node
          return wrong === node ? info : result
        },
      })
    }
    const { body, payTo } = await scene.plan()
    const result = await service.settle(body)
    for (const node of nodes) expect(node.count('/wallet/gettransactioninfobyid')).toBeGreaterThan(0)
    expect(result).toMatchObject({ success: true })
    expect(result.transaction).not.toBe(transaction)
    expect(await scene.chain.balanceOf(scene.token, payTo)).toBe(10_000n)
  })

  it('confirms a large payment only when two endpoints report it', async () => {
    const proxy = await scene.openProxy()
    const service = await scene.open({
      url: `${scene.chain.url},${proxy.url}`,
      environment: { TRON_CROSS_CHECK_AMOUNT: '10000', SETTLE_WAIT_SECONDS: '3' },
    })
    proxy.setFault('/wallet/gettransactioninfobyid', { kind: 'tamper', change: () => ({}) })
    const { body, payTo } = await scene.plan()
    const result = await service.settle(body)
    expect(result).toMatchObject({ success: false, errorReason: 'settlement_pending' })
    await pollUntil(
      async () => (await scene.chain.balanceOf(scene.token, payTo)) === 10_000n,
      'the payment to arrive',
    )
    proxy.clearFaults()
    await reconcileUntil(service, result, 'confirmed')
  })

  it('keeps a large payment pending while one of two endpoints is down', async () => {
    const proxy = await scene.openProxy()
    const service = await scene.open({
      url: `${scene.chain.url},${proxy.url}`,
      environment: { TRON_CROSS_CHECK_AMOUNT: '10000', SETTLE_WAIT_SECONDS: '2' },
    })
    proxy.setFault('*', { kind: 'refuse' })
    await pollUntil(
      async () => service.core.listNetworks().some(({ endpoints }) => endpoints.some(({ isUp }) => !isUp)),
      'the endpoint to count as down',
    )
    const { body, payTo } = await scene.plan()
    const result = await service.settle(body)
    expect(result).toMatchObject({ success: false, errorReason: 'settlement_pending' })
    await pollUntil(
      async () => (await scene.chain.balanceOf(scene.token, payTo)) === 10_000n,
      'the payment to arrive',
    )
    await service.reconcile()
    expect(await service.settle(body)).toMatchObject({ errorReason: 'settlement_pending' })
    proxy.clearFaults()
    await reconcileUntil(service, result, 'confirmed')
    expect(await service.settle(body)).toMatchObject({ success: true })
  })

  it('confirms a large payment on its only configured endpoint where the operator accepts that', async () => {
    const environment = { TRON_CROSS_CHECK_AMOUNT: '10000' }
    const careful = await scene.open({ environment })
    const { body } = await scene.plan()
    expect(await careful.settle(body)).toMatchObject({ errorReason: 'cross_check_unavailable' })
    const service = await scene.open({ environment: { ...environment, REQUIRE_CROSS_CHECK: 'false' } })
    expect(await service.settle(body)).toMatchObject({ success: true })
  })
})

describe('the API key of a provider', () => {
  it('is sent as TRON-PRO-API-KEY, and neither it nor the path of the URL is logged', async () => {
    const seen = new Set<unknown>()
    const gateway = createServer((request, response) => {
      seen.add(request.headers['tron-pro-api-key'])
      response.writeHead(403).end('the key in /path-with-a-secret is not accepted')
    })
    await new Promise<void>((resolve) => gateway.listen(0, '127.0.0.1', resolve))
    const bound = gateway.address()
    const port = typeof bound === 'object' && bound !== null ? bound.port : 0
    const logger = createMemoryLogger()
    try {
      const service = await scene.open({
        url: `http://127.0.0.1:${port}/path-with-a-secret`,
        environment: { TRON_API_KEY_nile: 'provider-key-secret' },
        logger,
      })
      expect([...seen]).toEqual(['provider-key-secret'])
      expect(service.core.listNetworks()).toMatchObject([{ isServing: false }])
      const reported = JSON.stringify([logger.lines, service.core.listNetworks()], (_key, value) =>
        typeof value === 'bigint' ? String(value) : value instanceof Error ? `${value.stack}` : value,
      )
      expect(reported).not.toContain('path-with-a-secret')
      expect(reported).not.toContain('provider-key-secret')
    } finally {
      gateway.close()
    }
  })
})
