import { describe, expect, it } from 'vitest'
import { createMemoryLogger } from '../../support/memoryLogger.js'
import { pollUntil } from '../../support/pollUntil.js'
import { sponsoredPayment } from '../../support/ton/payment.js'
import { tonEnvironment } from '../../support/ton/relayWallets.js'
import { startTonChain } from '../../support/ton/tonChain.js'
import { randomAddress } from '../../support/ton/wallets.js'
import { useScene } from '../../support/useScene.js'
import { openScene } from './scene.js'

const scene = useScene(openScene)

describe('opening TON', () => {
  it('rejects an invalid mnemonic without printing it', async () => {
    const wrong = Array(24).fill('accident').join(' ')
    const opening = scene.open({ environment: { TON_MNEMONIC: wrong } })
    await expect(opening).rejects.toThrow('TON_MNEMONIC: is not a valid TON mnemonic')
    await expect(opening).rejects.not.toThrow('accident')
  })

  it('rejects an endpoint of another network', async () => {
    const other = await startTonChain('F6OpKZKqvqeFp6CQmFomXNMfMj2EnaUSOXN+Mh+wVWk=')
    await expect(scene.open({ url: other.url })).rejects.toThrow(
      'TON_RPC_URL_testnet: the endpoint serves another',
    )
    await other.stop()
  })

  it('rejects a token address with a wrong checksum', async () => {
    const { TON_TOKENS_testnet: master = '' } = tonEnvironment(scene.chain)
    const mistyped = `${master.slice(0, -1)}${master.endsWith('A') ? 'B' : 'A'}`
    await expect(scene.open({ environment: { TON_TOKENS_testnet: mistyped } })).rejects.toThrow('TON_TOKENS')
  })

  it('starts without reachable endpoints, reports that, and serves once they respond', async () => {
    const proxy = await scene.openProxy()
    proxy.setFault('*', { kind: 'status', status: 502 })
    const service = await scene.open({ url: proxy.url })
    expect(service.core.listNetworks()).toMatchObject([{ isServing: false, problem: 'no node answers' }])
    const wallet = await scene.chain.createPayer()
    const body = await sponsoredPayment({ chain: scene.chain, wallet, payTo: randomAddress() })
    await expect(service.verify(body)).rejects.toMatchObject({ operationalCode: 'SVC-2004' })
    proxy.clearFaults()
    await pollUntil(() => service.core.listNetworks()[0]?.isServing, 'the network to serve')
    expect(await service.settle(body)).toMatchObject({ success: true })
  })

  it('reports a rate-limited endpoint as unavailable, not as an invalid payment', async () => {
    const proxy = await scene.openProxy()
    const service = await scene.open({ url: proxy.url })
    const wallet = await scene.chain.createPayer()
    const body = await sponsoredPayment({ chain: scene.chain, wallet, payTo: randomAddress() })
    proxy.setFault('getAddressInformation', { kind: 'status', status: 429 })
    await expect(service.verify(body)).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' })
  })

  it('never logs the mnemonic or the path of the URL', async () => {
    const logger = createMemoryLogger()
    const service = await scene.open({ logger, url: scene.chain.url })
    const wallet = await scene.chain.createPayer()
    const body = await sponsoredPayment({ chain: scene.chain, wallet, payTo: randomAddress() })
    expect(await service.settle(body)).toMatchObject({ success: true })
    const logged = JSON.stringify(logger.lines, (_, value) =>
      typeof value === 'bigint' ? `${value}` : value,
    )
    expect(logged).not.toContain('accident')
    expect(logged).not.toContain('jsonRPC')
  })
})
