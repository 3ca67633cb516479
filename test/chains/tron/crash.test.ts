import { randomUUID } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { settleResult } from '../../../src/protocol/results.js'
import { type FacilitatorProcess, startFacilitator } from '../../support/facilitator.js'
import { findFreePort } from '../../support/freePort.js'
import { pollUntil } from '../../support/pollUntil.js'
import { type RpcProxy, startRpcProxy } from '../../support/rpcProxy.js'
import { createTronKey } from '../../support/tron/keys.js'
import { tronPayment } from '../../support/tron/payment.js'
import { startTronChain, type TronChain } from '../../support/tron/tronChain.js'
import { nileEnvironment } from './openScheme.js'

describe('kill -9 in the middle of a settle on TRON', () => {
  let chain: TronChain
  let token: string
  let proxy: RpcProxy
  let dataFolder: string
  let facilitator: FacilitatorProcess | null = null

  const start = async () => {
    facilitator = await startFacilitator(
      {
        ...nileEnvironment(proxy.url, token),
        PORT: String(await findFreePort()),
        HOST: '127.0.0.1',
        DATA_FOLDER: dataFolder,
        TRON_RPC_TIMEOUT_MS: '5000',
      },
      () => undefined,
    )
    return facilitator
  }
  const settle = async (url: string, body: unknown, idempotencyKey: string) => {
    const response = await fetch(`${url}/settle`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'idempotency-key': idempotencyKey },
      body: JSON.stringify(body),
    })
    return { status: response.status, answer: settleResult.parse(await response.json()) }
  }

  /** Where a settle is when the process is killed: how it is held there, and how one sees that it has come so far. */
  const crashPoints = [
    {
      where: 'before anything is recorded',
      hold: () => proxy.setFault('/wallet/triggerconstantcontract', { kind: 'hang' }),
      isThere: () => proxy.count('/wallet/triggerconstantcontract') > 0,
    },
    {
      where: 'between recording and sending',
      hold: () => proxy.setFault('/wallet/broadcasthex', { kind: 'hang' }),
      isThere: () => proxy.count('/wallet/broadcasthex') > 0,
    },
    {
      where: 'between sending and the receipt',
      hold: () => chain.pause(),
      isThere: () => chain.ledger.countWaiting() > 0,
    },
  ]

  beforeAll(async () => {
    chain = await startTronChain({ blockTimeMs: 200 })
    token = await chain.deploy('TetherTrc20')
    proxy = await startRpcProxy(chain.url)
    dataFolder = await mkdtemp(join(tmpdir(), 'quittance-crash-'))
  })
  afterAll(async () => {
    await facilitator?.stop()
    await proxy.stop()
    await chain.stop()
    await rm(dataFolder, { recursive: true, force: true })
  })

  it.each(crashPoints)(
    '$where: the same Idempotency-Key tells the truth afterwards',
    async ({ hold, isThere }) => {
      const running = await start()
      const payer = createTronKey()
      const payTo = createTronKey().address
      chain.fund(payer.address, 100_000_000)
      await chain.mint(token, payer.address, 1_000_000n)
      const body = await tronPayment({ chain, payer, payTo, token, amount: 25_000n })
      const key = randomUUID()

      proxy.clearCalls()
      hold()
      const lost = settle(running.url, body, key).catch(() => 'no answer')
      await pollUntil(isThere, 'the settle to get there')
      await running.kill()
      expect(await lost).toBe('no answer')
      proxy.clearFaults()
      chain.resume()

      const restarted = await start()
      const told = await pollUntil(async () => {
        const { status, answer } = await settle(restarted.url, body, key)
        return status === 200 && answer.errorReason !== 'settlement_pending' ? answer : null
      }, 'the truth about the settle')
      expect(told).toMatchObject({ success: true, payer: payer.address })
      expect(await chain.balanceOf(token, payTo)).toBe(25_000n)

      const elsewhere = await settle(restarted.url, body, randomUUID())
      expect(elsewhere.answer).toMatchObject({
        success: false,
        errorReason: 'duplicate_settlement',
        transaction: told.transaction,
      })
      expect(await chain.balanceOf(token, payTo)).toBe(25_000n)
      await restarted.stop()
    },
    90_000,
  )
})
