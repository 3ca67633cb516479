import { type Hex, toFunctionSelector } from 'viem'
import { describe, expect, it } from 'vitest'
import type { SettleResult } from '../../../../src/protocol/results.js'
import { reconcileUntil } from '../../../support/coreClient.js'
import { callRpc } from '../../../support/evm/jsonRpc.js'
import { createEoa } from '../../../support/evm/wallets.js'
import { rejectionOf } from '../../../support/rejectionOf.js'
import { useScene } from '../../../support/useScene.js'
import { eventually, openScene, quickFinality, readOneBlockLater, type Service } from '../scene.js'

const scene = useScene(openScene)

const vrsForm =
  'transferWithAuthorization(address,address,uint256,uint256,uint256,bytes32,uint8,bytes32,bytes32)'
const impatient = { SETTLE_WAIT_SECONDS: '1' }

const countSuccesses = (answers: readonly SettleResult[]) => answers.filter(({ success }) => success).length

/** The nonces of a signer's recorded transactions, in order. */
const listNonces = async (signer: string): Promise<readonly number[]> => {
  const { rows } = await scene.database
    .pool()
    .query('select nonce from broadcasts where signer = $1 order by nonce', [signer])
  return rows.map(({ nonce }) => Number(nonce))
}

const listAllNonces = ({ signers }: Service) => Promise.all(signers.map(({ address }) => listNonces(address)))

const countSettlements = async (payer: string): Promise<number> => {
  const { rows } = await scene.database
    .pool()
    .query('select count(*) as count from settlements where payer = $1', [payer])
  return Number(rows[0]?.count)
}

const withoutBaseFee = (block: unknown): unknown => {
  if (typeof block !== 'object' || block === null) return block
  return Object.fromEntries(Object.entries(block).filter(([name]) => name !== 'baseFeePerGas'))
}

/** Hash of the only pending transaction. */
const findWaiting = (): Promise<Hex> =>
  eventually<Hex>(async () => {
    const content = JSON.stringify(await callRpc(scene.chain.url, 'txpool_content'))
    const [, hash] = /"hash":"0x([0-9a-f]{64})"/.exec(content) ?? []
    return hash === undefined ? null : `0x${hash}`
  })

describe('a settlement', () => {
  it('moves exactly the authorized value and returns the hash', async () => {
    const service = await scene.open()
    const { body, payer, payTo } = await scene.plan({ balance: 25_000n })
    expect(await service.verify(body)).toEqual({ isValid: true, payer })
    const result = await service.settle(body)
    expect(result).toEqual({
      success: true,
      transaction: expect.stringMatching(/^0x[0-9a-f]{64}$/),
      network: scene.chain.network,
      payer,
      amount: '10000',
      settlementId: expect.any(String),
      status: 'confirmed',
    })
    expect(await scene.chain.balanceOf(payTo)).toBe(10_000n)
    expect(await scene.chain.balanceOf(payer)).toBe(15_000n)
    const view = await service.core.useCases.core.getSettlement(result.settlementId ?? '')
    expect(view).toMatchObject({ status: 'confirmed', transaction: result.transaction, amount: '10000' })
  })

  it('can be found by its transaction', async () => {
    const service = await scene.open()
    const { body, payer } = await scene.plan()
    const { transaction } = await service.settle(body)
    const view = await service.core.useCases.core.getSettlementByTransaction({
      network: 'base-sepolia',
      transaction,
    })
    expect(view).toMatchObject({ status: 'confirmed', payer })
  })

  it('succeeds once for two concurrent instances', async () => {
    const [one, other] = [await scene.open(), await scene.open()]
    const { body, payTo } = await scene.plan({ balance: 1_000_000n })
    const answers = await Promise.all([one, other, one, other].map((service) => service.settle(body)))
    expect(countSuccesses(answers)).toBe(1)
    expect(await scene.chain.balanceOf(payTo)).toBe(10_000n)
  })

  it('succeeds for thirty concurrent payments, with gapless nonces', async () => {
    const service = await scene.open()
    const plans = await Promise.all(Array.from({ length: 30 }, () => scene.plan()))
    const answers = await Promise.all(plans.map(({ body }) => service.settle(body)))
    expect(countSuccesses(answers)).toBe(30)
    const transactions = new Set(answers.map(({ transaction }) => transaction)).size
    // Those that wait together share a transaction; how many do depends on the machine.
    expect(transactions).toBeLessThan(30)
    const address = service.signers[0]?.address ?? '0x'
    expect(await listNonces(address)).toEqual(Array.from({ length: transactions }, (_, index) => index))
    expect(await scene.chain.client.getTransactionCount({ address })).toBe(transactions)
  })

  it('that is refused uses no nonce', async () => {
    const service = await scene.open()
    const plans = await Promise.all(
      Array.from({ length: 8 }, (_, index) => scene.plan(index % 2 === 0 ? {} : { balance: 1n })),
    )
    const answers = await Promise.all(plans.map(({ body }) => service.settle(body)))
    expect(answers.map(({ success }) => success)).toEqual(plans.map((_, index) => index % 2 === 0))
    const transactions = new Set(
      answers.flatMap(({ success, transaction }) => (success ? [transaction] : [])),
    )
    const address = service.signers[0]?.address ?? '0x'
    expect(await listNonces(address)).toEqual(Array.from({ length: transactions.size }, (_, index) => index))
  })

  it('is sent by one of several signers, each with its own nonces', async () => {
    const service = await scene.open({ signerCount: 3 })
    await scene.chain.control.setAutomine(false)
    const settling: Promise<SettleResult>[] = []
    for (let transactions = 1; transactions <= 6; transactions += 1) {
      const { body } = await scene.plan()
      settling.push(service.settle(body))
      await eventually(async () =>
        (await listAllNonces(service)).flat().length === transactions ? true : null,
      )
    }
    // A transaction in flight in one lane directs the next to another lane.
    expect(await listAllNonces(service)).toEqual([
      [0, 1],
      [0, 1],
      [0, 1],
    ])
    // Recorded transactions may still be on their way; they are mined on arrival.
    await scene.chain.control.setAutomine(true)
    await scene.chain.control.mine()
    expect(countSuccesses(await Promise.all(settling))).toBe(6)
  })
})

describe('when the response to the send is lost', () => {
  it.each(['reset', 'silent'] as const)(
    '(%s) the settlement reports the actual outcome',
    async (connection) => {
      const proxy = await scene.openProxy()
      const service = await scene.open({ rpcUrls: [proxy.url] })
      const { body, payTo } = await scene.plan()
      proxy.setFault('eth_sendRawTransaction', { kind: 'loseAnswer', connection })
      expect(await service.settle(body)).toMatchObject({ success: true, status: 'confirmed' })
      expect(await scene.chain.balanceOf(payTo)).toBe(10_000n)
      // The same bytes may have been sent again.
      const sent = proxy.calls.filter(({ method }) => method === 'eth_sendRawTransaction')
      expect(new Set(sent.map(({ params }) => params[0])).size).toBe(1)
    },
  )
})

describe('when no node responds before the send', () => {
  it.each([
    ['every request', '*'],
    ['the estimate', 'eth_estimateGas'],
    ['the simulation', 'eth_call'],
  ])('(%s) nothing is recorded, the response is 503, and a retry settles', async (_what, method) => {
    const proxy = await scene.openProxy()
    const service = await scene.open({ rpcUrls: [proxy.url] })
    const { body, payer, payTo } = await scene.plan()
    proxy.setFault(method, { kind: 'refuse' })
    expect(await rejectionOf(service.settle(body))).toMatchObject({
      code: 'SERVICE_UNAVAILABLE',
      operationalCode: 'SVC-2004',
    })
    proxy.clearFaults()
    expect(await listNonces(service.signers[0]?.address ?? '')).toEqual([])
    expect(await service.settle(body)).toMatchObject({ success: true })
    expect(await scene.countTransfersTo(payTo)).toBe(1)
    expect(await countSettlements(payer)).toBeLessThanOrEqual(2)
  })

  it('a verification returns 503 too', async () => {
    const proxy = await scene.openProxy()
    const service = await scene.open({ rpcUrls: [proxy.url] })
    const { body } = await scene.plan()
    proxy.setFault('*', { kind: 'status', status: 502 })
    expect(await rejectionOf(service.verify(body))).toMatchObject({ code: 'SERVICE_UNAVAILABLE' })
  })

  it('an Idempotency-Key is released', async () => {
    const proxy = await scene.openProxy()
    const service = await scene.open({ rpcUrls: [proxy.url] })
    const { body } = await scene.plan()
    proxy.setFault('*', { kind: 'refuse' })
    await rejectionOf(service.settleWithKey(body, 'outage-1'))
    proxy.clearFaults()
    expect(await service.settleWithKey(body, 'outage-1')).toMatchObject({
      isReplayed: false,
      result: { success: true },
    })
  })
})

describe('when the nodes stop responding after the send', () => {
  const openDark = async () => {
    const proxy = await scene.openProxy()
    const service = await scene.open({ rpcUrls: [proxy.url], environment: impatient })
    const { body, payTo } = await scene.plan()
    proxy.setFault('eth_getTransactionReceipt', { kind: 'refuse' })
    const pending = await service.settle(body)
    return { proxy, service, body, payTo, pending }
  }

  it('the response is settlement_pending with the hash, and success afterwards', async () => {
    const { proxy, service, body, payTo, pending } = await openDark()
    expect(pending).toMatchObject({
      success: false,
      errorReason: 'settlement_pending',
      status: 'pending',
      transaction: expect.stringMatching(/^0x[0-9a-f]{64}$/),
      settlementId: expect.any(String),
    })
    const find = () => service.core.useCases.core.getSettlement(pending.settlementId ?? '')
    await service.reconcile()
    expect(await find()).toMatchObject({ status: 'pending', transaction: pending.transaction })

    proxy.clearFaults()
    await reconcileUntil(service, pending, 'confirmed')
    expect(await find()).toMatchObject({ status: 'confirmed', transaction: pending.transaction })
    expect(await scene.countTransfersTo(payTo)).toBe(1)

    // Paid, but not consumed: this request can still receive success.
    expect(await service.verify(body)).toMatchObject({ isValid: true })
    const again = await Promise.all(Array.from({ length: 5 }, () => service.settle(body)))
    expect(countSuccesses(again)).toBe(1)
    expect(again.find(({ success }) => success)).toMatchObject({ transaction: pending.transaction })
    for (const { success, errorReason } of again) {
      if (!success) expect(errorReason).toBe('duplicate_settlement')
    }
    expect(await service.verify(body)).toMatchObject({
      isValid: false,
      invalidReason: 'duplicate_settlement',
    })
    expect(await scene.countTransfersTo(payTo)).toBe(1)
  })

  it('the same request can be repeated while it is open, without another send', async () => {
    const { proxy, service, body, payTo, pending } = await openDark()
    const before = proxy.count('eth_sendRawTransaction')
    expect(await service.settle(body)).toMatchObject({
      errorReason: 'settlement_pending',
      transaction: pending.transaction,
    })
    expect(proxy.count('eth_sendRawTransaction')).toBe(before)
    proxy.clearFaults()
    // Another instance, which waits as long as it takes.
    const joined = (await scene.open()).settle(body)
    await reconcileUntil(service, pending, 'confirmed')
    expect(await joined).toMatchObject({ success: true, transaction: pending.transaction })
    expect(await scene.countTransfersTo(payTo)).toBe(1)
  })

  it('another caller or request receives neither success nor a valid verification', async () => {
    const { proxy, service, body, pending } = await openDark()
    const otherResource = {
      ...body,
      paymentPayload: { ...body.paymentPayload, resource: { url: 'https://merchant.example/other' } },
    }
    const asOthers = () => Promise.all([service.settle(body, 'someone else'), service.settle(otherResource)])
    for (const answer of await asOthers()) {
      expect(answer).toMatchObject({ success: false, errorReason: 'duplicate_settlement' })
    }
    proxy.clearFaults()
    await reconcileUntil(service, pending, 'confirmed')
    for (const answer of await asOthers()) {
      expect(answer).toMatchObject({ errorReason: 'duplicate_settlement', transaction: pending.transaction })
    }
    expect(await service.verify(body, 'someone else')).toMatchObject({ isValid: false })
    expect(await service.verify(otherResource)).toMatchObject({ isValid: false })
    expect(await service.settle(body)).toMatchObject({ success: true })
  })

  it('a restarted service finishes open settlements', async () => {
    const { service, body, payTo, pending } = await openDark()
    await service.core.close()
    const next = await scene.open()
    await reconcileUntil(next, pending, 'confirmed')
    expect(await next.settle(body)).toMatchObject({ success: true, transaction: pending.transaction })
    expect(await scene.countTransfersTo(payTo)).toBe(1)
  })
})

describe('when the chain does not mine', () => {
  it('a transaction dropped from the mempool is rebroadcast', async () => {
    const service = await scene.open({ environment: impatient })
    const { chain } = scene
    const { body, payTo } = await scene.plan()
    await chain.control.setAutomine(false)
    const pending = await service.settle(body)
    expect(pending).toMatchObject({ errorReason: 'settlement_pending', status: 'pending' })
    const hash = await findWaiting()
    expect(hash).toBe(pending.transaction)
    await chain.control.dropTransaction(hash)
    await service.reconcile()
    expect(await findWaiting()).toBe(pending.transaction)
    await chain.control.mine()
    await reconcileUntil(service, pending, 'confirmed')
    expect(await service.settle(body)).toMatchObject({ success: true, transaction: pending.transaction })
    expect(await scene.countTransfersTo(payTo)).toBe(1)
  })

  it('waits for the configured number of confirmations', async () => {
    const { chain } = scene
    const proxy = await scene.openProxy()
    const service = await scene.open({
      rpcUrls: [proxy.url],
      environment: {
        [`EVM_CONFIRMATIONS_${chain.chainId}`]: '3',
        [`EVM_POLL_INTERVAL_MS_${chain.chainId}`]: '20',
      },
    })
    const { body, payTo } = await scene.plan()
    let isAnswered = false
    const settling = service.settle(body).finally(() => {
      isAnswered = true
    })
    await eventually(async () => ((await chain.balanceOf(payTo)) === 0n ? null : true))
    await chain.control.mine()
    // The second block was read, and its effects with it: several rounds read blocks after it.
    const read = proxy.count('eth_getBlockByNumber')
    await eventually(() => (proxy.count('eth_getBlockByNumber') >= read + 10 ? true : null))
    expect(isAnswered).toBe(false)
    await chain.control.mine()
    expect(await settling).toMatchObject({ success: true })
  })
})

describe('when the transaction fails', () => {
  it.each([
    ['', null],
    [', also while only the receipt arrives', 'eth_call'],
  ])(
    'the response is pending, and failed once its block is final%s; then it can be settled',
    async (_, refused) => {
      const { chain } = scene
      const proxy = await scene.openProxy()
      const service = await scene.open({ rpcUrls: [proxy.url], environment: quickFinality(scene) })
      const { body, payTo } = await scene.plan()
      await chain.control.setAutomine(false)
      const settling = service.settle(body)
      await findWaiting()
      await chain.setPaused(true)
      if (refused !== null) proxy.setFault(refused, { kind: 'refuse' })
      await chain.control.mine()
      const answer = await settling
      await chain.setPaused(false)
      await chain.control.setAutomine(true)
      expect(answer).toMatchObject({
        success: false,
        transaction: expect.stringMatching(/^0x[0-9a-f]{64}$/),
        errorReason: 'settlement_pending',
        status: 'pending',
      })
      proxy.clearFaults()
      expect(await readOneBlockLater(scene, service, answer)).toMatchObject({
        errorReason: 'invalid_exact_evm_transaction_failed',
        status: 'failed',
      })
      expect(await chain.balanceOf(payTo)).toBe(0n)
      expect(await service.settle(body)).toMatchObject({ success: true })
      expect(await chain.balanceOf(payTo)).toBe(10_000n)
    },
  )
})

describe('when another program uses the same key', () => {
  it('a used nonce is replaced with the next, and the payment settles', async () => {
    const service = await scene.open()
    const { chain } = scene
    const [signer] = service.signers
    if (signer === undefined) throw new Error('There is no signer')
    await chain.send({ account: signer.account, to: createEoa().address, value: 1n })
    const { body, payTo } = await scene.plan()
    expect(await service.settle(body)).toMatchObject({ success: true })
    expect(await listNonces(signer.address)).toEqual([0, 1])
    expect(await chain.balanceOf(payTo)).toBe(10_000n)
    const next = await scene.plan()
    expect(await service.settle(next.body)).toMatchObject({ success: true })
  })

  it('several used nonces are skipped at once', async () => {
    const service = await scene.open()
    const [signer] = service.signers
    if (signer === undefined) throw new Error('There is no signer')
    await scene.chain.control.setNonce(signer.address, 7)
    const plans = await Promise.all(Array.from({ length: 3 }, () => scene.plan()))
    const answers = await Promise.all(plans.map(({ body }) => service.settle(body)))
    expect(countSuccesses(answers)).toBe(3)
  })
})

describe('an Idempotency-Key', () => {
  it('is REQUEST_IN_PROGRESS while the first request runs', async () => {
    const service = await scene.open()
    const { body } = await scene.plan()
    await scene.chain.control.setAutomine(false)
    const first = service.settleWithKey(body, 'order-3')
    await findWaiting()
    expect(await rejectionOf(service.settleWithKey(body, 'order-3'))).toMatchObject({
      code: 'REQUEST_IN_PROGRESS',
      retryAfterSeconds: 2,
    })
    await scene.chain.control.mine()
    expect(await first).toMatchObject({ result: { success: true } })
  })

  it('continues a pending settlement, and then always returns the same response', async () => {
    const proxy = await scene.openProxy()
    const service = await scene.open({ rpcUrls: [proxy.url], environment: impatient })
    const { body, payTo } = await scene.plan()
    proxy.setFault('eth_getTransactionReceipt', { kind: 'refuse' })
    const pending = await service.settleWithKey(body, 'order-6')
    expect(pending.result).toMatchObject({ errorReason: 'settlement_pending' })
    proxy.clearFaults()
    await reconcileUntil(service, pending.result, 'confirmed')
    const { transaction } = pending.result
    const told = { success: true, transaction }
    expect(await service.settleWithKey(body, 'order-6')).toMatchObject({ isReplayed: false, result: told })
    expect(await service.settleWithKey(body, 'order-6')).toMatchObject({ isReplayed: true, result: told })
    // Without the key it is a duplicate: the key's request has consumed the success.
    expect(await service.settle(body)).toMatchObject({ errorReason: 'duplicate_settlement' })
    expect(await scene.countTransfersTo(payTo)).toBe(1)
  })
})

describe('a node without EIP-1559', () => {
  it('receives legacy transactions', async () => {
    const proxy = await scene.openProxy()
    proxy.setFault('eth_getBlockByNumber', { kind: 'tamper', change: withoutBaseFee })
    proxy.setFault('eth_feeHistory', { kind: 'error', code: -32601, message: 'Method not found' })
    const service = await scene.open({ rpcUrls: [proxy.url] })
    const { body, payTo } = await scene.plan()
    const { success, transaction } = await service.settle(body)
    expect(success).toBe(true)
    expect(await scene.chain.balanceOf(payTo)).toBe(10_000n)
    const sent = await scene.chain.client.getTransaction({ hash: `0x${transaction.slice(2)}` })
    expect(sent.type).toBe('legacy')
  })
})

describe('several endpoints', () => {
  it.each([
    ['is down', '*', { kind: 'status', status: 503 }],
    ['rejects everything', '*', { kind: 'error', code: -32000, message: 'Must be authenticated!' }],
    [
      'accepts transactions but does not propagate them',
      'eth_sendRawTransaction',
      { kind: 'error', code: -32000, message: 'txpool is full' },
    ],
  ] as const)('settle when the first %s', async (_what, method, fault) => {
    const first = await scene.openProxy()
    const [before, after] = [await scene.plan(), await scene.plan()]
    const running = await scene.open({ rpcUrls: [first.url, scene.chain.url] })
    first.setFault(method, fault)
    const started = await scene.open({ rpcUrls: [first.url, scene.chain.url] })
    expect(await running.settle(before.body)).toMatchObject({ success: true })
    expect(await started.verify(after.body)).toEqual({ isValid: true, payer: after.payer })
    expect(await started.settle(after.body)).toMatchObject({ success: true })
  })

  it('stop the start when one serves another chain, and name it', async () => {
    const other = await scene.openProxy()
    other.setFault('eth_chainId', { kind: 'tamper', change: () => '0x1' })
    for (const rpcUrls of [[other.url], [scene.chain.url, other.url]]) {
      await expect(scene.open({ rpcUrls })).rejects.toThrow(
        `eip155 cannot open: EVM_RPC_URL_${scene.chain.chainId}: the endpoint serves chain 1`,
      )
    }
  })
})

describe('the transaction hash', () => {
  it('of a settlement is computed from our bytes, whatever the node returns', async () => {
    const proxy = await scene.openProxy()
    const service = await scene.open({ rpcUrls: [proxy.url] })
    proxy.setFault('eth_sendRawTransaction', { kind: 'tamper', change: () => `0x${'ab'.repeat(32)}` })
    const { body, payTo } = await scene.plan()
    const { success, transaction } = await service.settle(body)
    expect(success).toBe(true)
    const { to, input } = await scene.chain.client.getTransaction({ hash: `0x${transaction.slice(2)}` })
    expect(to?.toLowerCase()).toBe(scene.chain.token.verifyingContract.toLowerCase())
    expect(input).toContain(payTo.slice(2).toLowerCase())
    expect(input.slice(0, 10)).toBe(toFunctionSelector(vrsForm))
  })
})
