import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { createEndpoint } from '../../../src/chains/evm/endpoint.js'
import { createReceiptWatcher } from '../../../src/chains/evm/receiptWatcher.js'
import { createRpc } from '../../../src/chains/evm/rpc.js'
import { silentLogger } from '../../../src/platform/logger.js'
import { Secret } from '../../../src/platform/secret.js'
import { createEoa } from '../../support/evm/wallets.js'
import { eventually, openScene, type Scene } from './scene.js'

let scene: Scene

beforeAll(async () => {
  scene = await openScene()
})
afterEach(() => scene.reset())
afterAll(() => scene.close())

const countRecorded = async (): Promise<number> => {
  const { rows } = await scene.database.pool().query("select 1 from settlements where state = 'pending'")
  return rows.length
}

describe('waiting for receipts', () => {
  it('asks once per block and once or twice per payment, however many wait and however long', async () => {
    const proxy = await scene.openProxy()
    const service = await scene.open({ rpcUrls: [proxy.url] })
    await scene.chain.control.setAutomine(false)
    const plans = await Promise.all(Array.from({ length: 20 }, () => scene.plan()))
    const settling = Promise.all(plans.map(({ body }) => service.settle(body)))
    await eventually(async () => ((await countRecorded()) === 20 ? true : null))

    // Everyone has asked by name once by now; from here on only blocks are looked at, until there is one.
    proxy.clearCalls()
    await eventually(() => (proxy.count('eth_getBlockByNumber') >= 5 ? true : null))
    const asked = proxy.count('eth_getTransactionReceipt')
    expect(asked).toBeLessThanOrEqual(20)
    await scene.chain.control.mine()
    expect((await settling).every(({ success }) => success)).toBe(true)
    expect(proxy.count('eth_getTransactionReceipt') - asked).toBeLessThanOrEqual(2 * 20)
  })

  it('looks at nothing when nobody waits any more', async () => {
    const proxy = await scene.openProxy()
    const service = await scene.open({
      rpcUrls: [proxy.url],
      environment: { SETTLE_WAIT_SECONDS: '1', EVM_POLL_INTERVAL_MS_84532: '10' },
    })
    await scene.chain.control.setAutomine(false)
    const { body } = await scene.plan()
    expect(await service.settle(body)).toMatchObject({ errorReason: 'settlement_pending' })
    proxy.clearCalls()
    // The keeper's own round asks for a block too, once in five seconds.
    await new Promise((resolve) => setTimeout(resolve, 300))
    expect(proxy.calls.filter(({ method }) => method === 'eth_getBlockByNumber').length).toBeLessThanOrEqual(
      2,
    )
    expect(proxy.count('eth_getTransactionReceipt')).toBe(0)
  })

  it('goes on for the others when one of them gives up', async () => {
    const { chain } = scene
    const endpoint = createEndpoint(new Secret(chain.url), 5_000)
    const watcher = createReceiptWatcher(createRpc(chain.network, [endpoint], silentLogger), 20)
    const policy = { confirmations: 1, isCrossChecked: false }
    const [left, right] = [createEoa(), createEoa()]
    for (const { address } of [left, right]) await chain.fundGas(address)
    await chain.control.setAutomine(false)
    const abandoned = await chain.control.sendAs({ from: left.address, to: right.address })
    const awaited = await chain.control.sendAs({ from: right.address, to: left.address })

    const patient = watcher.wait(awaited, policy, AbortSignal.timeout(10_000))
    expect(await watcher.wait(abandoned, policy, AbortSignal.timeout(100))).toBeNull()
    await chain.control.mine()
    expect(await patient).toMatchObject({ transactionHash: awaited, status: true })
    expect(await watcher.wait(abandoned, policy, AbortSignal.abort())).toBeNull()
  })
})
