import { createServer } from 'node:http'
import { afterEach, describe, expect, it } from 'vitest'
import { type DirectScheme, openDirectScheme } from '../../support/directScheme.js'
import { listenOnLoopback } from '../../support/listenOnLoopback.js'
import { createMemoryLogger } from '../../support/memoryLogger.js'
import { startNearChain } from '../../support/near/nearChain.js'
import { transferCall } from '../../support/near/payment.js'
import { pollUntil } from '../../support/pollUntil.js'
import { rejectionOf } from '../../support/rejectionOf.js'
import { startRpcProxy } from '../../support/rpcProxy.js'
import { useScene } from '../../support/useScene.js'
import { amount, near, nearEnvironment, openScene } from './scene.js'

const scene = useScene(openScene)
let opened: DirectScheme | null = null

afterEach(async () => {
  scene.proxy.clearFaults()
  scene.chain.setPaused(false)
  await opened?.close()
  opened = null
})

const open = async (
  url: string,
  environment: Readonly<Record<string, string>> = {},
): Promise<DirectScheme> => {
  opened = await openDirectScheme(near, { ...nearEnvironment(url), ...environment }, { hasRounds: true })
  return opened
}

const pay = async (payTo = scene.addMerchant()) =>
  scene.bodyOf(await scene.pay([transferCall({ to: payTo, amount })]), { payTo })

const replaceSync = (changes: object) => (status: unknown) =>
  typeof status === 'object' && status !== null && 'sync_info' in status
    ? { ...status, sync_info: { ...Object(status.sync_info), ...changes } }
    : status

describe('a NEAR network', () => {
  it('stops the start if the endpoint serves another chain', async () => {
    const mainnet = await startNearChain({ chainId: 'mainnet' })
    try {
      await expect(open(mainnet.url)).rejects.toThrow(
        'NEAR_RPC_URL_testnet: the endpoint serves chain mainnet, not testnet',
      )
    } finally {
      await mainnet.stop()
    }
  })

  it('announces the default token, and the address of the operator', async () => {
    const { scheme } = await open(scene.chain.url, { NEAR_SIGNER_testnet: 'facilitator.testnet' })
    expect({ ...scheme.kind, ...scheme.describeKind() }).toEqual({
      scheme: 'exact-direct',
      network: 'near:testnet',
      extensions: [],
      extra: { assetSymbol: 'USDC', assetDecimals: 6 },
    })
    expect(scheme.network.signers).toEqual(['facilitator.testnet'])
    expect(await scheme.describeAsset(null, null)).toMatchObject({ asset: 'usdc.testnet', decimals: 6 })
    expect(await scheme.describeAsset('other-usd.testnet', null)).toMatchObject({ decimals: null })
    expect(await scheme.describeAsset('usdt.testnet', null)).toBeNull()
  })

  it('is only hidden while its endpoint is down', async () => {
    const proxy = await startRpcProxy(scene.chain.url)
    proxy.setFault('*', { kind: 'refuse' })
    const { health, verify } = await open(proxy.url)
    expect(health()).toMatchObject([{ isServing: false, isRpcReachable: false }])
    const body = await pay()
    expect(await rejectionOf(verify(body))).toMatchObject({ operationalCode: 'SVC-2004' })
    proxy.clearFaults()
    await pollUntil(() => health()[0]?.isServing, 'the network to be offered again')
    expect(await verify(body)).toMatchObject({ isValid: true })
    await proxy.stop()
  })

  it('is hidden while its node is syncing', async () => {
    scene.proxy.setFault('status', { kind: 'tamper', change: replaceSync({ syncing: true }) })
    const { health } = await open(scene.proxy.url)
    expect(health()).toMatchObject([{ isServing: false }])
  })

  it('is hidden while its head is stale, and then answers no transaction_not_found', async () => {
    const stale = { latest_block_time: new Date(Date.now() - 120_000).toISOString() }
    scene.proxy.setFault('status', { kind: 'tamper', change: replaceSync(stale) })
    const { health, verify } = await open(scene.proxy.url)
    expect(health()).toMatchObject([{ isServing: false, problem: expect.stringMatching(/12\d s old/) }])
    const payTo = scene.addMerchant()
    const unknown = scene.bodyOf('8SPtuqh1t1yRRbBCXvsuAmkx8tZJjLJjtpEoFLrnPkKF', { payTo })
    expect(await rejectionOf(verify(unknown))).toMatchObject({ code: 'SERVICE_UNAVAILABLE' })
  })

  it('reads from the second endpoint when the first one reports another transaction', async () => {
    const { verify } = await open(`${scene.proxy.url},${scene.chain.url}`)
    const other = await scene.pay([transferCall({ to: scene.addMerchant(), amount })])
    const view = scene.chain.ledger.findSubmitted(other)
    scene.proxy.setFault('tx', {
      kind: 'tamper',
      change: () => ({ final_execution_status: 'FINAL', ...view }),
    })
    expect(await verify(await pay())).toMatchObject({ isValid: true })
    expect(scene.proxy.count('tx')).toBeGreaterThan(0)
  })

  it('accepts a large payment only when two endpoints report the same', async () => {
    const { verify } = await open(`${scene.chain.url},${scene.proxy.url}`, {
      NEAR_CROSS_CHECK_AMOUNT: `${amount}`,
    })
    const body = await pay()
    expect(await verify(body)).toMatchObject({ isValid: true })
    scene.proxy.setFault('tx', {
      kind: 'tamper',
      change: (view) => JSON.parse(JSON.stringify(view).replaceAll(`\\"${amount}\\"`, '\\"9999999\\"')),
    })
    expect(await verify(body)).toMatchObject({ isValid: false, reason: 'transaction_not_final' })
  })

  it('sends its API key as a bearer token, and logs neither it nor the path of the URL', async () => {
    const seen = new Set<unknown>()
    const gateway = createServer((request, response) => {
      seen.add(request.headers.authorization)
      response.writeHead(403).end('the key in /path-with-a-secret is not accepted')
    })
    const { url, stop } = await listenOnLoopback(gateway)
    const logger = createMemoryLogger()
    const environment = {
      ...nearEnvironment(`${url}/path-with-a-secret`),
      NEAR_API_KEY_testnet: 'provider-key-secret',
    }
    opened = await openDirectScheme(near, environment, { logger })
    await stop()
    expect([...seen]).toEqual(['Bearer provider-key-secret'])
    const reported = JSON.stringify([logger.lines, opened.health()], (_key, value) =>
      typeof value === 'bigint' ? String(value) : value instanceof Error ? `${value.stack}` : value,
    )
    expect(reported).not.toContain('path-with-a-secret')
    expect(reported).not.toContain('provider-key-secret')
  })
})
