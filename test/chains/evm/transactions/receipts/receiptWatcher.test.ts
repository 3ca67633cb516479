import type { Hex } from 'viem'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { createRpc } from '../../../../../src/chains/evm/rpc/rpc.js'
import { createReceiptWatcher } from '../../../../../src/chains/evm/transactions/receipts/receiptWatcher.js'
import { createJsonRpcEndpoint } from '../../../../../src/chains/nodes/jsonRpcEndpoint.js'
import { silentLogger } from '../../../../../src/platform/logger.js'
import { Secret } from '../../../../../src/platform/secret.js'
import { createEoa } from '../../../../support/evm/wallets.js'
import { eventually, openScene, type Scene } from '../../scene.js'

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
    // The monitor's own round asks for a block too, once in five seconds.
    await new Promise((resolve) => setTimeout(resolve, 300))
    expect(proxy.calls.filter(({ method }) => method === 'eth_getBlockByNumber').length).toBeLessThanOrEqual(
      2,
    )
    expect(proxy.count('eth_getTransactionReceipt')).toBe(0)
  })

  const patiently = { confirmations: 1, isCrossChecked: false }

  const openWatcher = async () => {
    const { chain } = scene
    const proxy = await scene.openProxy()
    const endpoint = createJsonRpcEndpoint(new Secret(proxy.url), 5_000)
    const rpc = createRpc(chain.network, [endpoint], silentLogger)
    await rpc.probe()
    return { proxy, watcher: createReceiptWatcher(rpc, 20), asked: proxy.calls.length }
  }

  /** So many transactions that wait in the pool, of one account each. */
  const sendMany = (count: number): Promise<readonly Hex[]> =>
    Promise.all(
      Array.from({ length: count }, async () => {
        const { address } = createEoa()
        await scene.chain.fundGas(address)
        return await scene.chain.control.sendAs({ from: address, to: address })
      }),
    )

  const within = (milliseconds = 10_000) => AbortSignal.timeout(milliseconds)

  it('asks one question for all who wait for the same transaction', async () => {
    const { proxy, watcher } = await openWatcher()
    await scene.chain.control.setAutomine(false)
    const [transaction = '0x'] = await sendMany(1)
    const waiting = Promise.all(
      Array.from({ length: 50 }, () => watcher.wait(transaction, patiently, within())),
    )
    await eventually(() => (proxy.count('eth_getTransactionReceipt') === 1 ? true : null))
    await scene.chain.control.mine()
    for (const receipt of await waiting) expect(receipt).toMatchObject({ transactionHash: transaction })
    expect(proxy.count('eth_getTransactionReceipt')).toBeLessThanOrEqual(3)
  })

  it('finds a transaction that was mined before anybody waited, without asking for it twice', async () => {
    const { proxy, watcher, asked } = await openWatcher()
    const [transaction = '0x'] = await sendMany(1)
    await eventually(() => scene.chain.client.getTransactionReceipt({ hash: transaction }).catch(() => null))
    expect(await watcher.wait(transaction, patiently, within())).toMatchObject({ status: true })
    expect(proxy.calls.slice(asked).map(({ method }) => method)).toEqual([
      'eth_getBlockByNumber',
      'eth_getTransactionReceipt',
    ])
  })

  it('gives each as many confirmations as it asked for', async () => {
    const { watcher } = await openWatcher()
    await scene.chain.control.setAutomine(false)
    const [transaction = '0x'] = await sendMany(1)
    let isDeep = false
    const shallow = watcher.wait(transaction, patiently, within())
    const deep = watcher
      .wait(transaction, { confirmations: 3, isCrossChecked: false }, within())
      .then((found) => {
        isDeep = true
        return found
      })
    await scene.chain.control.mine()
    expect(await shallow).toMatchObject({ transactionHash: transaction })
    await scene.chain.control.mine()
    await watcher.wait(transaction, { confirmations: 2, isCrossChecked: false }, within())
    expect(isDeep).toBe(false)
    await scene.chain.control.mine()
    expect(await deep).toMatchObject({ transactionHash: transaction })
  })

  it('gives whoever waits for a transaction its replacement, and that one’s replacement', async () => {
    const { watcher } = await openWatcher()
    await scene.chain.control.setAutomine(false)
    const [old = '0x', newer = '0x', newest = '0x'] = await sendMany(3)
    await scene.chain.control.dropTransaction(old)
    await scene.chain.control.dropTransaction(newer)
    const waiting = watcher.wait(old, patiently, within())
    watcher.followReplacement(old, newer)
    watcher.followReplacement(newer, newest)
    watcher.followReplacement(createEoa().privateKey, old)
    await scene.chain.control.mine()
    expect(await waiting).toMatchObject({ transactionHash: newest })
  })

  it('reads all receipts of a block at once when several wait for it', async () => {
    const { proxy, watcher } = await openWatcher()
    await scene.chain.control.setAutomine(false)
    const hashes = await sendMany(5)
    const waiting = hashes.map((hash) => watcher.wait(hash, patiently, within()))
    await eventually(() => (proxy.count('eth_getTransactionReceipt') === 5 ? true : null))
    proxy.clearCalls()
    await scene.chain.control.mine()
    const receipts = await Promise.all(waiting)
    expect(receipts.map((receipt) => receipt?.transactionHash)).toEqual(hashes)
    expect(proxy.count('eth_getBlockReceipts')).toBe(1)
    expect(proxy.count('eth_getTransactionReceipt')).toBe(0)
  })

  it('reads the receipts one by one when few wait, or when the node cannot give a block’s', async () => {
    const { proxy, watcher } = await openWatcher()
    const missing = { kind: 'error', code: -32601, message: 'the method does not exist' } as const
    proxy.setFault('eth_getBlockReceipts', missing)
    await scene.chain.control.setAutomine(false)
    for (const [count, asked] of [
      [3, 0],
      [6, 1],
      // It is not asked for what it has not got again and again.
      [6, 1],
    ] as const) {
      const hashes = await sendMany(count)
      const waiting = hashes.map((hash) => watcher.wait(hash, patiently, within()))
      await scene.chain.control.mine()
      const receipts = await Promise.all(waiting)
      expect(receipts.map((receipt) => receipt?.transactionHash)).toEqual(hashes)
      expect(proxy.count('eth_getBlockReceipts')).toBe(asked)
    }
  })

  it('believes a block’s receipts no more than single ones: their block must be on the chain', async () => {
    const { proxy, watcher } = await openWatcher()
    proxy.setFault('eth_getBlockReceipts', {
      kind: 'tamper',
      change: (result) =>
        Array.isArray(result)
          ? result.map((receipt: object) => ({
              ...receipt,
              blockHash: `0x${'ab'.repeat(32)}`,
              status: '0x0',
            }))
          : result,
    })
    await scene.chain.control.setAutomine(false)
    const hashes = await sendMany(4)
    const waiting = hashes.map((hash) => watcher.wait(hash, patiently, within()))
    await scene.chain.control.mine()
    for (const receipt of await Promise.all(waiting)) expect(receipt).toMatchObject({ status: true })
  })

  it('goes on for the others when one of them gives up', async () => {
    const { chain } = scene
    const endpoint = createJsonRpcEndpoint(new Secret(chain.url), 5_000)
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
