import { afterEach, describe, expect, it } from 'vitest'
import { findPublicProof } from '../../../src/schemes/publicProof.js'
import { checkRequirements } from '../../../src/usecases/core/verify/checkRequirements.js'
import { startCosmosChain } from '../../support/cosmos/cosmosChain.js'
import { cosmosBody, createWallet, send, sendMessage } from '../../support/cosmos/payment.js'
import { type DirectScheme, openDirectScheme, readDirectBody } from '../../support/directScheme.js'
import { pollUntil } from '../../support/pollUntil.js'
import { rejectionOf } from '../../support/rejectionOf.js'
import { startRpcProxy } from '../../support/rpcProxy.js'
import { useScene } from '../../support/useScene.js'
import { addFundedWallet, amount, cosmos, cosmosEnvironment, openScene, voucher } from './scene.js'

const scene = useScene(openScene)
let opened: DirectScheme | null = null

afterEach(async () => {
  scene.proxy.clearFaults()
  scene.chain.setCatchingUp(false)
  scene.chain.setIndexing(true)
  await opened?.close()
  opened = null
})

const open = async (
  url: string,
  environment: Readonly<Record<string, string>> = {},
): Promise<DirectScheme> => {
  opened = await openDirectScheme(cosmos, { ...cosmosEnvironment(url), ...environment }, { hasRounds: true })
  return opened
}

const pay = async () => {
  const payTo = await scene.addMerchant()
  return scene.bodyOf(await scene.pay(payTo), { payTo })
}

describe('a Cosmos network', () => {
  it('stops the start if the endpoint serves another chain', async () => {
    const noble = await startCosmosChain({ chainId: 'noble-1' })
    try {
      await expect(open(noble.url)).rejects.toThrow(
        'COSMOS_RPC_URL_grand: the endpoint serves chain noble-1, not grand-1',
      )
    } finally {
      await noble.stop()
    }
  })

  it('announces the default denomination, and the address of the operator', async () => {
    const signer = await scene.addMerchant()
    const { scheme } = await open(scene.chain.url, { COSMOS_SIGNER_grand: signer })
    expect({ ...scheme.kind, ...scheme.describeKind() }).toEqual({
      scheme: 'exact-direct',
      network: 'cosmos:grand-1',
      extensions: [],
      extra: { assetDenom: 'uusdc', assetSymbol: 'USDC', assetDecimals: 6 },
    })
    expect(scheme.network.signers).toEqual([signer])
    expect(await scheme.describeAsset(null, null)).toMatchObject({ asset: 'uusdc', decimals: 6 })
    expect(await scheme.describeAsset(voucher, null)).toMatchObject({
      decimals: null,
      extra: { assetDenom: voucher },
    })
    expect(await scheme.describeAsset('ustake', null)).toBeNull()
  })

  it.each(['denom', 'assetDenom'])('refuses requirements whose extra.%s is not the asset', async (field) => {
    const { scheme } = await open(scene.chain.url)
    const payTo = await scene.addMerchant()
    const txHash = 'F'.repeat(64)
    const check = (asset: string, extra: Readonly<Record<string, unknown>>) =>
      checkRequirements(readDirectBody(scene.bodyOf(txHash, { payTo, asset, extra })), scheme)
    const refused = { code: 'INVALID_REQUEST', message: expect.stringContaining(`extra.${field}`) }
    for (const other of [voucher, 'UUSDC', 7, ['uusdc']]) {
      expect(await rejectionOf((async () => check('uusdc', { [field]: other }))())).toMatchObject(refused)
    }
    check('uusdc', { [field]: 'uusdc' })
    check(voucher, { [field]: voucher })
    // The caller leaves the asset to the network's first token.
    expect(findPublicProof(scheme)?.findContradiction(null, { [field]: voucher })).toContain(`extra.${field}`)
    expect(findPublicProof(scheme)?.findContradiction(null, { [field]: 'uusdc' })).toBeNull()
    expect(findPublicProof(scheme)?.findContradiction(null, { [field]: null })).toBeNull()
  })

  it('can be another bank chain, by chain id, prefix and denomination', async () => {
    const chain = await startCosmosChain({ chainId: 'local-7', prefix: 'pay' })
    const payer = await addFundedWallet(chain)
    const { address: payTo } = await createWallet(chain)
    const { verify } = await open(scene.chain.url, {
      COSMOS_RPC_URL_grand: chain.url,
      COSMOS_CHAIN_ID_grand: 'local-7',
      COSMOS_PREFIX_grand: 'pay',
    })
    const txHash = await send(payer, [sendMessage({ from: payer.address, to: payTo, amount })])
    const body = cosmosBody({ payTo, amount, network: 'cosmos:local-7' }, { txHash, from: payer.address })
    expect(payTo).toMatch(/^pay1/)
    expect(await verify(body)).toMatchObject({ isValid: true })
    await chain.stop()
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

  it('is hidden while its node is catching up', async () => {
    scene.chain.setCatchingUp(true)
    expect((await open(scene.chain.url)).health()).toMatchObject([{ isServing: false }])
  })

  it('is hidden while its node does not index transactions', async () => {
    scene.chain.setIndexing(false)
    expect((await open(scene.chain.url)).health()).toMatchObject([{ isServing: false }])
  })

  it('is hidden while its head is stale, and then answers no transaction_not_found', async () => {
    const stale = new Date(Date.now() - 120_000).toISOString()
    scene.proxy.setFault('status', {
      kind: 'tamper',
      change: (status) =>
        JSON.parse(JSON.stringify(status).replace(/("latest_block_time":)"[^"]+"/, `$1"${stale}"`)),
    })
    const { health, verify } = await open(scene.proxy.url)
    expect(health()).toMatchObject([{ isServing: false, problem: expect.stringMatching(/12\d s old/) }])
    const unknown = scene.bodyOf('F'.repeat(64), { payTo: await scene.addMerchant() })
    expect(await rejectionOf(verify(unknown))).toMatchObject({ code: 'SERVICE_UNAVAILABLE' })
  })

  it('reads from the second endpoint when the first one returns other bytes', async () => {
    const { verify } = await open(`${scene.proxy.url},${scene.chain.url}`)
    scene.proxy.setFault('tx', { kind: 'tamper', change: (result) => ({ ...Object(result), tx: 'AAAA' }) })
    expect(await verify(await pay())).toMatchObject({ isValid: true })
    expect(scene.proxy.count('tx')).toBeGreaterThan(0)
  })

  it('accepts a large payment only when two endpoints report the same', async () => {
    const { verify } = await open(`${scene.chain.url},${scene.proxy.url}`, {
      COSMOS_CROSS_CHECK_AMOUNT: `${amount}`,
    })
    const body = await pay()
    expect(await verify(body)).toMatchObject({ isValid: true })
    scene.proxy.setFault('commit', {
      kind: 'tamper',
      change: (result) =>
        JSON.parse(JSON.stringify(result).replace(/("time":)"[^"]+"/, '$1"2020-01-01T00:00:00Z"')),
    })
    expect(await verify(body)).toMatchObject({ isValid: false, reason: 'transaction_not_final' })
  })

  it('records no surplus from the cross-check amount on by one node alone', async () => {
    const environment = { COSMOS_CROSS_CHECK_AMOUNT: `${amount + 1n}` }
    const payTo = await scene.addMerchant()
    const body = scene.bodyOf(await scene.pay(payTo, amount + 1n), { payTo })
    const alone = await open(`${scene.chain.url},${scene.chain.url}/`, environment)
    expect(await alone.verify(body)).toMatchObject({ isValid: true, amount })
    expect(await alone.verify(await pay())).toMatchObject({ isValid: true })
    await alone.close()
    const two = await open(`${scene.chain.url},${scene.proxy.url}`, environment)
    scene.proxy.setFault('tx', { kind: 'refuse' })
    expect(await two.verify(body)).toMatchObject({ isValid: false, reason: 'transaction_not_final' })
    scene.proxy.clearFaults()
    expect(await two.verify(body)).toMatchObject({ isValid: true, amount: amount + 1n })
  })
})
