import { afterEach, describe, expect, it } from 'vitest'
import { type RpcServer, startRpcServer } from '../../support/polkadot/rpcServer.js'
import { westendGenesis } from '../../support/polkadot/westend.js'
import { openScheme, westendEnvironment } from './openScheme.js'

const servers: RpcServer[] = []

afterEach(async () => {
  for (const server of servers.splice(0)) await server.stop()
})

/** A node that only knows its genesis and its finalized block. */
const startNode = async ({ genesis = westendGenesis, headAgeSeconds = 10 } = {}) => {
  const time = Buffer.alloc(8)
  time.writeBigUInt64LE(BigInt(Date.now() - headAgeSeconds * 1_000))
  const head = `0x${'22'.repeat(32)}`
  const methods: string[] = []
  const server = await startRpcServer(async (method) => {
    methods.push(method)
    switch (method) {
      case 'chain_getBlockHash':
        return genesis
      case 'chain_getFinalizedHead':
        return head
      case 'chain_getHeader':
        return { number: '0x10', parentHash: head }
      case 'state_getStorage':
        return `0x${time.toString('hex')}`
      default:
        throw Object.assign(new Error('Method not found'), { code: -32_601 })
    }
  })
  servers.push(server)
  return { ...server, methods }
}

const openAt = (url: string) => openScheme(westendEnvironment(url))

describe('at the start', () => {
  it('an endpoint of another chain stops it', async () => {
    const { url } = await startNode({ genesis: `0x${'11'.repeat(32)}` })
    await expect(openAt(url)).rejects.toThrow(
      'POLKADOT_RPC_URL_westend: the endpoint serves chain 11111111111111111111111111111111, not 67f97233',
    )
  })

  it('a network is served, with the first token in its kind', async () => {
    const { url, methods } = await startNode()
    const { scheme, health, close } = await openAt(url)
    expect({ ...scheme.kind, ...scheme.describeKind() }).toEqual({
      scheme: 'exact-direct',
      network: 'polkadot:67f9723393ef76214df0118c34bbbd3d',
      extensions: [],
      extra: { assetSymbol: 'USDT', assetDecimals: 6, assetId: 1984, networkName: 'westend' },
    })
    expect(health()).toMatchObject([{ isServing: true, problem: null }])
    // The metadata is asked for before the first payment.
    expect(methods).toContain('state_getRuntimeVersion')
    await close()
  })

  it('a dead endpoint only hides the network', async () => {
    const { url, stop } = await startNode()
    await stop()
    const { health, close } = await openAt(url)
    expect(health()).toMatchObject([{ isServing: false, problem: 'no node answers' }])
    await close()
  })

  it('a finalized block that is too old hides it: finality has stopped, or the node', async () => {
    const { url } = await startNode({ headAgeSeconds: 600 })
    const { health, close } = await openAt(url)
    expect(health()).toMatchObject([{ isServing: false, problem: expect.stringContaining('s old') }])
    await close()
  })
})

describe('requirements', () => {
  it('whose extra names another asset are contradictory', async () => {
    const { url } = await startNode()
    const { chain, close } = await openAt(url)
    const contradict = (assetId: unknown) => chain.findContradiction('1984', { assetId })
    expect([1984, '1984'].map(contradict)).toEqual([null, null])
    expect(chain.findContradiction('1984', {})).toBeNull()
    for (const assetId of [1337, '1337', null, '01984', {}]) expect(contradict(assetId)).toContain('assetId')
    await close()
  })

  it('are completed for every offered asset', async () => {
    const { url } = await startNode()
    const { chain, close } = await openAt(url)
    expect(chain.describeAsset('1337')).toMatchObject({ decimals: 6, extra: { assetId: 1337 } })
    expect(chain.describeAsset(null)).toMatchObject({
      asset: 'polkadot:67f9723393ef76214df0118c34bbbd3d/asset:1984',
    })
    expect(chain.describeAsset('7')).toBeNull()
    await close()
  })

  it('have one normal form of a hash', async () => {
    const { url } = await startNode()
    const { chain, close } = await openAt(url)
    const hash = `0x${'ab'.repeat(32)}`
    expect([hash, hash.toUpperCase().replace('0X', '0x'), hash.slice(2)].map(chain.readTransaction)).toEqual(
      Array(3).fill(hash),
    )
    expect([`${hash}0`, '0x', hash.slice(0, -1)].map(chain.readTransaction)).toEqual([null, null, null])
    await close()
  })
})
