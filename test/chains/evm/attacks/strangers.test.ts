import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { reconcileUntil } from '../../../support/coreClient.js'
import { encodeTransfer } from '../../../support/evm/transfer.js'
import { createEoa } from '../../../support/evm/wallets.js'
import type { Fault, RpcProxy } from '../../../support/rpcProxy.js'
import { openScene, refuseSends, type Scene } from '../scene.js'

/* The numbers are those of the project's list of attacks on facilitators. */

let scene: Scene

// Each moves the chain's clock by minutes.
beforeEach(async () => {
  scene = await openScene()
})
afterEach(() => scene.close())

// More than each provider finds in one query.
const mined = 600

/** As providers do it: more blocks than this in one query are refused. */
const limitTo = (blocks: bigint): Fault => ({
  kind: 'errorFor',
  findError: ([filter]) => {
    const text = JSON.stringify(filter)
    const [from, to] = ['fromBlock', 'toBlock'].map((name) =>
      BigInt(new RegExp(`"${name}":"(0x[0-9a-f]+)"`).exec(text)?.[1] ?? '0x0'),
    )
    return (to ?? 0n) - (from ?? 0n) + 1n > blocks ? `eth_getLogs is limited to a ${blocks} range` : null
  },
})

/** Pays past the facilitator, whose own transaction no node has any more, nor takes again. */
const payAsStranger = async (
  body: Parameters<typeof encodeTransfer>[0],
  { through }: { readonly through: readonly RpcProxy[] },
) => {
  const { chain } = scene
  for (const proxy of through) refuseSends(proxy)
  await chain.control.dropAllTransactions()
  await chain.control.setAutomine(true)
  const stranger = createEoa()
  await chain.fundGas(stranger.address)
  const { transactionHash } = await chain.send({ account: stranger.account, ...encodeTransfer(body) })
  return transactionHash
}

describe('A47: a payment that a stranger submitted', () => {
  it.each([500n, 10n])('is found by a provider that limits log queries to %i blocks', async (limit) => {
    const { chain } = scene
    const proxy = await scene.openProxy()
    proxy.setFault('eth_getLogs', limitTo(limit))
    const service = await scene.open({ rpcUrls: [proxy.url], environment: { SETTLE_WAIT_SECONDS: '1' } })
    const { body, payTo } = await scene.plan()
    await chain.control.setAutomine(false)
    const pending = await service.settle(body)
    expect(pending).toMatchObject({ errorReason: 'settlement_pending' })
    const theirs = await payAsStranger(body, { through: [proxy] })
    await chain.control.mine(mined)
    // A provider of ten blocks needs more than one round.
    await reconcileUntil(service, pending, 'confirmed')
    expect(await service.settle(body)).toMatchObject({ success: true, transaction: theirs })
    expect(await chain.balanceOf(payTo)).toBe(10_000n)
  })

  it('is found by the provider without a limit, and the limited one stays in use', async () => {
    const { chain } = scene
    const [limited, free] = [await scene.openProxy(), await scene.openProxy()]
    limited.setFault('eth_getLogs', limitTo(500n))
    const service = await scene.open({
      rpcUrls: [limited.url, free.url],
      environment: { SETTLE_WAIT_SECONDS: '1' },
    })
    const { body } = await scene.plan()
    await chain.control.setAutomine(false)
    const pending = await service.settle(body)
    expect(pending).toMatchObject({ errorReason: 'settlement_pending' })
    const theirs = await payAsStranger(body, { through: [limited, free] })
    await chain.control.mine(mined)
    await reconcileUntil(service, pending, 'confirmed')
    expect(await service.settle(body)).toMatchObject({ success: true, transaction: theirs })
    const [network] = service.core.listNetworks()
    // One that is probed after the other is behind it for a moment, and up.
    expect(network?.endpoints.map(({ lastFailure }) => lastFailure)).toEqual([null, null])
  })
})
