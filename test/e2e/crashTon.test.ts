import { randomUUID } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { settleResult } from '../../src/protocol/results.js'
import { type FacilitatorProcess, startFacilitator } from '../support/facilitator.js'
import { findFreePort } from '../support/freePort.js'
import { pollUntil } from '../support/pollUntil.js'
import { type RpcProxy, startRpcProxy } from '../support/rpcProxy.js'
import { clientPaidPayment, sponsoredPayment } from '../support/ton/payment.js'
import { fundRelayWallets, tonEnvironment } from '../support/ton/relayWallets.js'
import { startTonChain, type TonChain } from '../support/ton/tonChain.js'
import { randomAddress } from '../support/ton/wallets.js'

/** Where a settle is when the process is killed, and the call to the node that it makes there. */
const crashPoints = [
  { where: 'before anything is recorded', method: 'runGetMethod', sign: sponsoredPayment },
  { where: 'between recording and sending', method: 'sendBoc', sign: sponsoredPayment },
  { where: 'between recording and sending for the payer', method: 'sendBoc', sign: clientPaidPayment },
  { where: 'between sending and the trace', method: 'getTransactions', sign: sponsoredPayment },
] as const

describe('kill -9 in the middle of a settle on TON', () => {
  let chain: TonChain
  let proxy: RpcProxy
  let dataFolder: string
  let facilitator: FacilitatorProcess | null = null

  const start = async () => {
    facilitator = await startFacilitator(
      {
        PORT: String(await findFreePort()),
        HOST: '127.0.0.1',
        DATA_FOLDER: dataFolder,
        ...tonEnvironment(chain, proxy.url),
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

  beforeAll(async () => {
    chain = await startTonChain()
    await fundRelayWallets(chain)
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
    async ({ method, sign }) => {
      const running = await start()
      const wallet = await chain.createPayer()
      const payTo = randomAddress()
      const body = await sign({ chain, wallet, payTo, maxTimeoutSeconds: 300 })
      const key = randomUUID()

      proxy.clearCalls()
      proxy.setFault(method, { kind: 'hang' })
      const lost = settle(running.url, body, key).catch(() => 'no answer')
      await pollUntil(() => proxy.count(method) > 0, `the settle to reach ${method}`)
      await running.kill()
      expect(await lost).toBe('no answer')
      proxy.clearFaults()

      const restarted = await start()
      const told = await pollUntil(async () => {
        const { status, answer } = await settle(restarted.url, body, key)
        return status === 200 && answer.errorReason !== 'settlement_pending' ? answer : null
      }, 'the truth about the settle')
      expect(told).toMatchObject({ success: true, payer: wallet.address.toRawString() })
      expect(await chain.token.balanceOf(payTo)).toBe(1_000_000n)

      const again = await settle(restarted.url, body, key)
      expect(again.answer).toEqual(told)
      const elsewhere = await settle(restarted.url, body, randomUUID())
      expect(elsewhere.answer).toMatchObject({
        success: false,
        errorReason: 'duplicate_settlement',
        transaction: told.transaction,
      })
      await chain.ledger.settle()
      expect(await chain.token.balanceOf(payTo)).toBe(1_000_000n)
      await restarted.stop()
    },
    90_000,
  )
})
