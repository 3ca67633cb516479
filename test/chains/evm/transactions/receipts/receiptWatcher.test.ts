import type { Hex } from 'viem'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { createRpc } from '../../../../../src/chains/evm/rpc/rpc.js'
import { createReceiptWatcher } from '../../../../../src/chains/evm/transactions/receipts/receiptWatcher.js'
import { createJsonRpcEndpoint } from '../../../../../src/chains/nodes/jsonRpcEndpoint.js'
import { silentLogger } from '../../../../../src/platform/logger.js'
import { Secret } from '../../../../../src/platform/secret.js'
import { newestTransaction } from '../../../../../src/stores/postgres/journal/settlementStates.js'
import { createEoa } from '../../../../support/evm/wallets.js'
import { waitLimitMs } from '../../../../support/pollUntil.js'
import { patientTimeoutMs, type RpcProxy } from '../../../../support/rpcProxy.js'
import { useScene } from '../../../../support/useScene.js'
import type { EngineOptions, ToySending } from '../../engineScene.js'
import { eventually } from '../../scene.js'
import { openToyScene } from '../../toyScene.js'

const scene = useScene(openToyScene)

afterEach(() => void vi.useRealTimers())

/** No wait is due again, however long a machine takes: only a new block has receipts asked for. */
const stopTime = () => void vi.useFakeTimers({ toFake: ['performance'] })

const open = async (options: EngineOptions): Promise<ToySending> => {
  const sending = await scene.openToy(options)
  return sending
}

/** One for each settlement, of which several share one. */
const listTransactions = async (): Promise<readonly string[]> => {
  const { rows } = await scene.database
    .pool()
    .query<{ transaction: string }>(
      `select ${newestTransaction('s')} as transaction from settlements s where s.state = 'pending'`,
    )
  return rows.map(({ transaction }) => transaction)
}

describe('waiting for receipts', () => {
  it('reads each block once and each receipt once or twice, for any number of waits', async () => {
    const proxy = await scene.openProxy()
    const sending = await open({ url: proxy.url })
    await scene.chain.control.setAutomine(false)
    const plans = await Promise.all(Array.from({ length: 20 }, () => scene.toy.plan()))
    const settling = Promise.all(plans.map((plan) => sending.settle(plan)))
    await eventually(async () => ((await listTransactions()).length === 20 ? true : null))
    const transactions = new Set(await listTransactions()).size

    // At most a request that is under way; from now on only blocks are read until there is a new one.
    stopTime()
    proxy.clearCalls()
    await eventually(() => (proxy.count('eth_getBlockByNumber') >= 10 ? true : null))
    const asked = proxy.count('eth_getTransactionReceipt')
    expect(asked).toBeLessThanOrEqual(transactions)
    await scene.chain.control.mine()
    expect((await settling).every(({ state }) => state === 'confirmed')).toBe(true)
    expect(proxy.count('eth_getTransactionReceipt') - asked).toBeLessThanOrEqual(2 * transactions)
  })

  const patiently = { confirmations: 1, isCrossChecked: false }

  const openWatcher = async () => {
    const { chain } = scene
    const proxy = await scene.openProxy()
    const endpoint = createJsonRpcEndpoint(new Secret(proxy.url), Number(patientTimeoutMs))
    const rpc = createRpc(chain.network, [endpoint], silentLogger)
    await rpc.probe()
    return { proxy, rpc, watcher: createReceiptWatcher(rpc, 20), asked: proxy.calls.length }
  }

  /** Pending transactions, each of its own account. */
  const sendMany = (count: number): Promise<readonly Hex[]> =>
    Promise.all(
      Array.from({ length: count }, async () => {
        const { address } = createEoa()
        await scene.chain.fundGas(address)
        return await scene.chain.control.sendAs({ from: address, to: address })
      }),
    )

  const within = () => AbortSignal.timeout(waitLimitMs)

  it('polls nothing while there are no waits', async () => {
    const { proxy, watcher, rpc } = await openWatcher()
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] })
    await scene.chain.control.setAutomine(false)
    const ending = new AbortController()
    const waiting = watcher.wait(createEoa().privateKey, patiently, ending.signal)
    /** A second, and a request that is answered after what the second started. */
    const passSecond = async () => {
      await vi.advanceTimersByTimeAsync(1_000)
      await rpc.getBalance(createEoa().address)
    }
    while (proxy.count('eth_getTransactionReceipt') < 2) await passSecond()
    ending.abort()
    expect(await waiting).toBeNull()
    await passSecond()
    proxy.clearCalls()
    for (let second = 0; second < 10; second += 1) await passSecond()
    expect(new Set(proxy.calls.map(({ method }) => method))).toEqual(new Set(['eth_getBalance']))
  })

  it('sends one request for all waits on one transaction', async () => {
    const { proxy, watcher } = await openWatcher()
    await scene.chain.control.setAutomine(false)
    const [transaction = '0x'] = await sendMany(1)
    const waiting = Promise.all(
      Array.from({ length: 50 }, () => watcher.wait(transaction, patiently, within())),
    )
    await whenAsked(proxy, 1)
    await scene.chain.control.mine()
    for (const receipt of await waiting) expect(receipt).toMatchObject({ transactionHash: transaction })
    expect(proxy.count('eth_getTransactionReceipt')).toBeLessThanOrEqual(2)
  })

  it('finds a transaction mined before the wait with one request', async () => {
    const { proxy, watcher, asked } = await openWatcher()
    const [transaction = '0x'] = await sendMany(1)
    await eventually(() => scene.chain.client.getTransactionReceipt({ hash: transaction }).catch(() => null))
    expect(await watcher.wait(transaction, patiently, within())).toMatchObject({ status: true })
    expect(proxy.calls.slice(asked).map(({ method }) => method)).toEqual([
      'eth_getBlockByNumber',
      'eth_getTransactionReceipt',
    ])
  })

  it('resolves each wait at its own confirmation depth', async () => {
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

  it('resolves with a replacement, and with its replacement', async () => {
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

  /** Each receipt was asked for and answered: the newest block is read only afterwards. Forgets these calls. */
  const whenAsked = async (proxy: RpcProxy, count: number) => {
    await eventually(() => {
      const last = proxy.calls.at(-1)?.method
      const isAsked = proxy.count('eth_getTransactionReceipt') >= count
      return isAsked && last !== 'eth_getTransactionReceipt' ? true : null
    })
    stopTime()
    proxy.clearCalls()
  }

  it('reads all receipts of a block in one request when several waits need it', async () => {
    const { proxy, watcher } = await openWatcher()
    await scene.chain.control.setAutomine(false)
    const hashes = await sendMany(5)
    const waiting = hashes.map((hash) => watcher.wait(hash, patiently, within()))
    await whenAsked(proxy, 5)
    await scene.chain.control.mine()
    const receipts = await Promise.all(waiting)
    expect(receipts.map((receipt) => receipt?.transactionHash)).toEqual(hashes)
    expect(proxy.count('eth_getBlockReceipts')).toBe(1)
    expect(proxy.count('eth_getTransactionReceipt')).toBe(0)
  })

  it('reads receipts one by one for few waits, or when the node lacks eth_getBlockReceipts', async () => {
    const { proxy, watcher } = await openWatcher()
    const missing = { kind: 'error', code: -32601, message: 'the method does not exist' } as const
    proxy.setFault('eth_getBlockReceipts', missing)
    await scene.chain.control.setAutomine(false)
    for (const [count, asked] of [
      [3, 0],
      [6, 1],
      // A missing method is not requested repeatedly.
      [6, 0],
    ] as const) {
      vi.useRealTimers()
      const hashes = await sendMany(count)
      proxy.clearCalls()
      const waiting = hashes.map((hash) => watcher.wait(hash, patiently, within()))
      await whenAsked(proxy, count)
      await scene.chain.control.mine()
      const receipts = await Promise.all(waiting)
      expect(receipts.map((receipt) => receipt?.transactionHash)).toEqual(hashes)
      expect(proxy.count('eth_getBlockReceipts')).toBe(asked)
    }
  })

  it('requires block receipts, like single ones, to be in a canonical block', async () => {
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

  it('continues for the other waits when one ends', async () => {
    const { chain } = scene
    const endpoint = createJsonRpcEndpoint(new Secret(chain.url), Number(patientTimeoutMs))
    const watcher = createReceiptWatcher(createRpc(chain.network, [endpoint], silentLogger), 20)
    const policy = { confirmations: 1, isCrossChecked: false }
    const [left, right] = [createEoa(), createEoa()]
    for (const { address } of [left, right]) await chain.fundGas(address)
    await chain.control.setAutomine(false)
    const abandoned = await chain.control.sendAs({ from: left.address, to: right.address })
    const awaited = await chain.control.sendAs({ from: right.address, to: left.address })

    const patient = watcher.wait(awaited, policy, within())
    const ending = new AbortController()
    const impatient = watcher.wait(abandoned, policy, ending.signal)
    ending.abort()
    expect(await impatient).toBeNull()
    await chain.control.mine()
    expect(await patient).toMatchObject({ transactionHash: awaited, status: true })
    expect(await watcher.wait(abandoned, policy, AbortSignal.abort())).toBeNull()
  })
})
