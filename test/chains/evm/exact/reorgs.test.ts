import { type Hex, isHex } from 'viem'
import { describe, expect, it } from 'vitest'
import { newestTransaction } from '../../../../src/stores/postgres/journal/settlementStates.js'
import { reconcileUntil } from '../../../support/coreClient.js'
import { encodeTransfer } from '../../../support/evm/transfer.js'
import { createEoa } from '../../../support/evm/wallets.js'
import { createMemoryLogger } from '../../../support/memoryLogger.js'
import { shiftedClock } from '../../../support/shiftedClock.js'
import { useScene } from '../../../support/useScene.js'
import {
  eventually,
  openScene,
  type PlannedPayment,
  readRecordedBytes,
  refuseSends,
  type Service,
  type ServiceOptions,
} from '../scene.js'
import { sendAsStranger } from '../strangers.js'

/* Reorgs after `success: true`: blocks of confirmed payments are orphaned. */

const scene = useScene(openScene)

/** Another instance, for requests that are answered while the payment is pending. */
const openImpatient = async (rpcUrls: readonly string[] = [scene.chain.url]) =>
  (await open({ rpcUrls, environment: { SETTLE_WAIT_SECONDS: '1' } })).service

const readRow = async (payer: string) => {
  const { rows } = await scene.database.pool().query(
    `select state, reason, ${newestTransaction('s')} as transaction, block_number::text as number, block_hash as hash, is_final, consumed_by
     from settlements s where payer = $1 order by created_at`,
    [payer],
  )
  expect(rows).toHaveLength(1)
  return rows[0]
}

const readBlockOf = async (transaction: string) => {
  if (!isHex(transaction)) throw new Error('There is no transaction')
  const { blockHash, blockNumber } = await scene.chain.client.getTransactionReceipt({ hash: transaction })
  return { number: `${blockNumber}`, hash: blockHash }
}

const open = async (options: ServiceOptions = {}) => {
  const logger = createMemoryLogger()
  const clock = shiftedClock()
  const { environment, ...rest } = options
  const service = await scene.open({
    logger,
    clock,
    ...rest,
    environment: {
      [`EVM_FINALITY_DEPTH_${scene.chain.chainId}`]: '6',
      ...environment,
    },
  })
  return { service, logger, clock }
}

/** A payment for which success was returned. */
const settlePlan = async (service: Service) => {
  const plan = await scene.plan()
  const result = await service.settle(plan.body)
  expect(result).toMatchObject({ success: true })
  return { ...plan, result, transaction: result.transaction }
}

interface Reorg {
  /** They are in the first new block; default: all new ones are empty. */
  readonly transactions?: readonly Hex[]
  /** Looks at the chain, or changes it, before anything that the service sends again is mined. */
  meanwhile?(): Promise<unknown>
}

/** Replaces the last blocks, and mines on top. The service may send the same bytes again at any time. */
const takeBack = async (depth: number, { transactions = [], meanwhile }: Reorg = {}) => {
  const { control } = scene.chain
  await control.setAutomine(false)
  await control.reorg(depth, transactions)
  await meanwhile?.()
  await control.setAutomine(true)
  await control.mine()
}

const readBytes = (transaction: string): Promise<Hex> => readRecordedBytes(scene, transaction)

const recheckTwice = async ({ core }: Service) => {
  await core.detectReorgs()
  await core.detectReorgs()
}

const statusOf = async ({ core }: Service, id: string | undefined) =>
  (await core.useCases.core.getSettlement(id ?? '')).status

const readMetric = async ({ core }: Service, name: string) => {
  const text = await core.metrics.registry.getSingleMetricAsString(name)
  return Number(/ (\d+)$/m.exec(text)?.[1])
}

/** From the orphaned block to the next confirmation: only the first consumer receives success. */
const expectComeback = async (
  service: Service,
  { body, payer, payTo, result, transaction }: Awaited<ReturnType<typeof settlePlan>>,
) => {
  const { consumed_by: consumer } = await readRow(payer)
  expect(await readRow(payer)).toMatchObject({
    state: 'pending',
    hash: null,
    consumed_by: expect.any(String),
  })
  expect(await statusOf(service, result.settlementId)).toBe('pending')
  // While pending again: the same request waits, any other is refused.
  const impatient = await openImpatient()
  expect(await impatient.settle(body)).toMatchObject({ success: false, errorReason: 'settlement_pending' })
  expect(await service.settle(body, 'key-of-another')).toMatchObject({ errorReason: 'duplicate_settlement' })

  await reconcileUntil(service, result, 'confirmed')
  expect(await readRow(payer)).toMatchObject({
    state: 'confirmed',
    transaction,
    ...(await readBlockOf(transaction)),
    is_final: false,
    consumed_by: consumer,
  })
  expect(await service.settle(body)).toMatchObject({ success: false, errorReason: 'duplicate_settlement' })
  expect(await service.verify(body)).toMatchObject({ isValid: false })
  expect(await scene.countTransfersTo(payTo)).toBe(1)
  expect(await scene.chain.balanceOf(payTo)).toBe(10_000n)
}

describe('a confirmed payment', () => {
  it('is recorded with the block of its receipt, and final at sufficient depth', async () => {
    const proxy = await scene.openProxy()
    const { service, clock } = await open({ rpcUrls: [proxy.url] })
    const { payer, transaction } = await settlePlan(service)
    expect(await readRow(payer)).toMatchObject({ ...(await readBlockOf(transaction)), is_final: false })
    await scene.chain.control.mine(5)
    await service.core.detectReorgs()
    expect(await readRow(payer)).toMatchObject({ state: 'confirmed', is_final: false })
    await scene.chain.control.mine()
    clock.shift(5_000)
    await service.core.detectReorgs()
    expect(await readRow(payer)).toMatchObject({ state: 'confirmed', is_final: true })

    const isAskedFor = async () => {
      const { number } = await readBlockOf(transaction)
      return proxy.calls.some(
        ({ method, params }) =>
          method === 'eth_getBlockByNumber' && params[0] === `0x${BigInt(number).toString(16)}`,
      )
    }
    expect(await isAskedFor()).toBe(true)
    proxy.clearCalls()
    clock.shift(600_000)
    await service.core.detectReorgs()
    expect(await isAskedFor()).toBe(false)
    // Even when the chain does reorganize deeper than that.
    await takeBack(7)
    await recheckTwice(service)
    expect(await readRow(payer)).toMatchObject({ state: 'confirmed', is_final: true })
  })

  it('costs one request per block, for any number of payments', async () => {
    const proxy = await scene.openProxy()
    const { service } = await open({ rpcUrls: [proxy.url] })
    const plans = await Promise.all(Array.from({ length: 5 }, () => scene.plan()))
    const answers = await Promise.all(plans.map(({ body }) => service.settle(body)))
    expect(answers.every(({ success }) => success)).toBe(true)
    const blocks = new Set(
      (await Promise.all(plans.map(({ payer }) => readRow(payer)))).map(({ hash }) => hash),
    )
    // Blocks of other tests may still be checked, also by number.
    const { rows } = await scene.database
      .pool()
      .query('select distinct block_hash from settlements where block_hash is not null and not is_final')
    expect(rows.length).toBeGreaterThanOrEqual(blocks.size)
    proxy.clearCalls()
    await service.core.detectReorgs()
    const asked = proxy.calls.filter(
      ({ method, params }) => method === 'eth_getBlockByNumber' && params[0] !== 'latest',
    )
    expect(asked.length).toBeLessThanOrEqual(rows.length)
  })
})

describe('a confirmed payment whose block is orphaned', () => {
  it.each([1, 2, 3])(
    'with %i blocks is pending again, rebroadcast, and earns no second success',
    async (depth) => {
      const { service, logger } = await open()
      const settled = await settlePlan(service)
      const { payer, payTo, result, transaction } = settled
      const before = await readRow(payer)
      const counted = await readMetric(service, 'quittance_settlements_reorged_total')
      await scene.chain.control.mine(depth - 1)
      await takeBack(depth, {
        meanwhile: async () => expect(await scene.chain.balanceOf(payTo)).toBe(0n),
      })

      await service.core.detectReorgs()
      expect(await readRow(payer), 'once proves nothing').toEqual(before)
      await service.core.detectReorgs()
      expect(logger.lines.filter(({ message }) => message === 'settlement.reorged')).toMatchObject([
        {
          level: 'warn',
          fields: {
            settlementId: result.settlementId,
            network: scene.chain.network,
            transaction,
            blockNumber: before.number,
            blockHash: before.hash,
            isConsumed: true,
          },
        },
      ])
      expect(await readMetric(service, 'quittance_settlements_reorged_total')).toBe(counted + 1)
      await expectComeback(service, settled)
    },
  )

  it('is confirmed again with its new block when it is mined elsewhere', async () => {
    const { service } = await open()
    const settled = await settlePlan(service)
    const before = await readRow(settled.payer)
    await scene.chain.control.mine()
    await takeBack(2, { transactions: [await readBytes(settled.transaction)] })
    await recheckTwice(service)
    await expectComeback(service, settled)
    expect((await readRow(settled.payer)).hash).not.toBe(before.hash)
  })

  it('returns the stored response for a repeated Idempotency-Key, and pending for every other request', async () => {
    const { service } = await open()
    const { body, payer } = await scene.plan()
    const first = await service.settleWithKey(body, 'reorg-1')
    expect(first).toMatchObject({ result: { success: true } })
    await takeBack(1)
    await recheckTwice(service)
    expect(await readRow(payer)).toMatchObject({ state: 'pending' })
    expect(await service.settleWithKey(body, 'reorg-1')).toEqual({ ...first, isReplayed: true })
    const impatient = await openImpatient()
    expect((await impatient.settleWithKey(body, 'reorg-2')).result).toMatchObject({
      errorReason: 'settlement_pending',
    })
    await reconcileUntil(service, first.result, 'confirmed')
    expect((await service.settleWithKey(body, 'reorg-2')).result).toMatchObject({
      errorReason: 'duplicate_settlement',
    })
    expect(await service.settleWithKey(body, 'reorg-1')).toEqual({ ...first, isReplayed: true })
  })

  it('is found by the next process, and reopened once under concurrency', async () => {
    const { service: first } = await open()
    const { payer } = await settlePlan(first)
    await first.core.close()
    await takeBack(1)
    const services = await Promise.all([open(), open(), open()])
    for (let round = 0; round < 2; round++) {
      await Promise.all(services.map(({ service }) => service.core.detectReorgs()))
    }
    expect(await readRow(payer)).toMatchObject({ state: 'pending' })
    const said = services
      .flatMap(({ logger }) => logger.messages())
      .filter((each) => each === 'settlement.reorged')
    expect(said).toHaveLength(1)
  })

  it('that another account executed is confirmed with the block of that transaction', async () => {
    const { service } = await open()
    const { body, payer, payTo } = await scene.plan()
    const proxy = await scene.openProxy()
    await scene.chain.control.setAutomine(false)
    const impatient = await openImpatient([proxy.url])
    const pending = await impatient.settle(body)
    expect(pending).toMatchObject({ errorReason: 'settlement_pending' })
    refuseSends(proxy)
    await scene.chain.control.dropAllTransactions()
    await scene.chain.control.setAutomine(true)
    const transactionHash = await sendAsStranger(scene, encodeTransfer(body))
    await reconcileUntil(service, pending, 'confirmed')
    expect(await service.settle(body)).toMatchObject({ success: true, transaction: transactionHash })
    expect(await readRow(payer)).toMatchObject(await readBlockOf(transactionHash))

    // The other account does not rebroadcast; ours are, and may have failed in a later block meanwhile.
    const head = await scene.chain.control.getHead()
    await takeBack(Number(head.number) - Number((await readRow(payer)).number) + 1)
    await recheckTwice(service)
    expect(await readRow(payer)).toMatchObject({ state: 'pending' })
    await reconcileUntil(service, pending, 'confirmed')
    expect(await readRow(payer)).toMatchObject({ state: 'confirmed' })
    expect((await readRow(payer)).transaction).not.toBe(transactionHash)
    expect(await scene.chain.balanceOf(payTo)).toBe(10_000n)
    expect(await service.settle(body)).toMatchObject({ errorReason: 'duplicate_settlement' })
  })

  it('reopens every payment of the block, and no other', async () => {
    const { service, logger } = await open()
    const earlier = await settlePlan(service)
    const plans = await Promise.all(Array.from({ length: 4 }, () => scene.plan()))
    await scene.chain.control.setAutomine(false)
    let isSettled = false
    const settling = Promise.all(plans.map(({ body }) => service.settle(body))).finally(() => {
      isSettled = true
    })
    await eventually(async () => {
      await scene.chain.control.mine()
      return isSettled || null
    })
    const answers = await settling
    await scene.chain.control.setAutomine(true)
    expect(answers.map(({ success }) => success)).toEqual([true, true, true, true])
    const head = await scene.chain.control.getHead()
    const rows = await Promise.all(plans.map(({ payer }) => readRow(payer)))
    const lowest = Math.min(...rows.map(({ number }) => Number(number)))
    await takeBack(Number(head.number) - lowest + 1)
    await recheckTwice(service)
    for (const { payer } of plans) expect(await readRow(payer)).toMatchObject({ state: 'pending' })
    expect(await readRow(earlier.payer)).toMatchObject({ state: 'confirmed' })
    expect(logger.messages().filter((each) => each === 'settlement.reorged')).toHaveLength(4)
    for (const answer of answers) await reconcileUntil(service, answer, 'confirmed')
    for (const { payer, payTo } of plans) {
      expect(await readRow(payer)).toMatchObject({ state: 'confirmed' })
      expect(await scene.chain.balanceOf(payTo)).toBe(10_000n)
    }
  })
})

describe('a faulty node', () => {
  const otherHash = `0x${'ee'.repeat(32)}`
  const lieAboutHashes = (result: unknown, params: readonly unknown[]) =>
    params[0] === 'latest' || typeof result !== 'object' || result === null
      ? result
      : { ...result, hash: otherHash }

  const settleThrough = async (rpcUrls: readonly string[]) => {
    const { service, clock } = await open({ rpcUrls })
    const { payer } = await settlePlan(service)
    await scene.chain.control.mine(2)
    return { service, clock, payer }
  }

  it('that alone reports a block as orphaned reopens nothing', async () => {
    const proxy = await scene.openProxy()
    const { service, payer } = await settleThrough([proxy.url, scene.chain.url])
    proxy.setFault('eth_getBlockByNumber', { kind: 'tamper', change: lieAboutHashes })
    for (let round = 0; round < 4; round++) await service.core.detectReorgs()
    expect(await readRow(payer)).toMatchObject({ state: 'confirmed' })
  })

  it('that reports a block as orphaned only once reopens nothing', async () => {
    const proxy = await scene.openProxy()
    const { service, clock, payer } = await settleThrough([proxy.url])
    for (let round = 0; round < 3; round++) {
      proxy.setFault('eth_getBlockByNumber', { kind: 'tamper', change: lieAboutHashes })
      await service.core.detectReorgs()
      proxy.clearFaults()
      await service.core.detectReorgs()
      clock.shift(600_000)
    }
    expect(await readRow(payer)).toMatchObject({ state: 'confirmed' })
  })

  it.each([
    ['lags behind', { kind: 'tamper', change: () => null }],
    ['fails', { kind: 'error', code: -32_000, message: 'header not found' }],
    ['is down', { kind: 'refuse' }],
  ] as const)('that %s reopens nothing', async (_, fault) => {
    const proxy = await scene.openProxy()
    const { service, payer } = await settleThrough([proxy.url])
    await takeBack(3)
    proxy.setFault('eth_getBlockByNumber', fault)
    for (let round = 0; round < 3; round++) await service.core.detectReorgs()
    expect(await readRow(payer)).toMatchObject({ state: 'confirmed' })
    // Detected as soon as the node is correct again.
    proxy.clearFaults()
    await recheckTwice(service)
    expect(await readRow(payer)).toMatchObject({ state: 'pending' })
  })

  it('whose head is the differing block reopens nothing', async () => {
    const { service } = await open()
    const { payer } = await settlePlan(service)
    await scene.chain.control.setAutomine(false)
    await scene.chain.control.reorg(1)
    for (let round = 0; round < 3; round++) await service.core.detectReorgs()
    expect(await readRow(payer)).toMatchObject({ state: 'confirmed' })
    await scene.chain.control.setAutomine(true)
    await scene.chain.control.mine()
    await recheckTwice(service)
    expect(await readRow(payer)).toMatchObject({ state: 'pending' })
  })
})

describe('a payment that waits for confirmations', () => {
  const openCareful = () =>
    open({
      environment: {
        [`EVM_CONFIRMATIONS_${scene.chain.chainId}`]: '3',
      },
    })

  const isMined = ({ payTo }: PlannedPayment) =>
    eventually(async () => ((await scene.chain.balanceOf(payTo)) === 0n ? null : true))

  it('is confirmed with its new block when it is mined again elsewhere', async () => {
    const { service } = await openCareful()
    const plan = await scene.plan()
    const settling = service.settle(plan.body)
    await isMined(plan)
    const { rows } = await scene.database
      .pool()
      .query(`select ${newestTransaction('s')} as transaction from settlements s where payer = $1`, [
        plan.payer,
      ])
    await scene.chain.control.reorg(1, [await readBytes(rows[0].transaction)])
    await scene.chain.control.mine(2)
    const answer = await settling
    expect(answer).toMatchObject({ success: true })
    expect(await readRow(plan.payer)).toMatchObject(await readBlockOf(answer.transaction))
    expect(await scene.countTransfersTo(plan.payTo)).toBe(1)
  })

  it.each([1, 2])(
    'that is orphaned with %i blocks is not confirmed before it is mined again',
    async (depth) => {
      const environment = { [`EVM_CONFIRMATIONS_${scene.chain.chainId}`]: '3' }
      const { service } = await open({ environment })
      const { service: impatient } = await open({ environment: { ...environment, SETTLE_WAIT_SECONDS: '1' } })
      const plan = await scene.plan()
      const settling = impatient.settle(plan.body)
      await isMined(plan)
      await scene.chain.control.mine(depth - 1)
      // What is sent again meanwhile is mined with one block on top at most.
      await scene.chain.control.setAutomine(false)
      await scene.chain.control.reorg(depth)
      await scene.chain.control.mine(2)
      const pending = await settling
      expect(pending).toMatchObject({ errorReason: 'settlement_pending' })
      await scene.chain.control.setAutomine(true)
      await service.reconcile()
      await scene.chain.control.mine(2)
      await reconcileUntil(service, pending, 'confirmed')
      expect(await service.settle(plan.body)).toMatchObject({ success: true })
      expect(await service.settle(plan.body)).toMatchObject({ errorReason: 'duplicate_settlement' })
      expect(await scene.countTransfersTo(plan.payTo)).toBe(1)
    },
  )
})

describe('a confirmed payment that is orphaned and cannot be executed again', () => {
  it('because the payer spent the funds is pending, and paid when there are funds again', async () => {
    const { chain } = scene
    const { service } = await open()
    const wallet = createEoa()
    const { body, payer, payTo } = await scene.plan({ wallet })
    const settled = await service.settle(body)
    const { success, transaction } = settled
    expect(success).toBe(true)
    await takeBack(1, { meanwhile: () => chain.mint(wallet.address, -10_000n) })
    await recheckTwice(service)
    // Rebroadcast, mined and reverted in a block that could still be orphaned.
    await service.reconcile()
    await service.reconcile()
    expect(await readRow(payer)).toMatchObject({ state: 'pending' })
    await chain.control.mine(6)
    await service.reconcile()
    expect(await readRow(payer)).toMatchObject({ state: 'pending', transaction })
    await chain.mint(wallet.address, 10_000n)
    await reconcileUntil(service, settled, 'confirmed')
    expect(await readRow(payer)).toMatchObject({ state: 'confirmed' })
    expect(await chain.balanceOf(payTo)).toBe(10_000n)
    expect(await service.settle(body, 'key-of-another')).toMatchObject({
      errorReason: 'duplicate_settlement',
    })
  })

  // Last, because it moves the chain's clock.
  it('because it expired fails at finality, with a log entry and a metric, and cannot be retried', async () => {
    const proxy = await scene.openProxy()
    const { service, logger, clock } = await open({ rpcUrls: [proxy.url] })
    const settled = await settlePlan(service)
    const { body, payer, payTo, result } = settled
    proxy.setFault('eth_sendRawTransaction', { kind: 'refuse' })
    await takeBack(1)
    await recheckTwice(service)
    expect(await readRow(payer)).toMatchObject({ state: 'pending' })

    const lifeSeconds = 3_600
    await scene.chain.control.increaseTime(lifeSeconds)
    clock.shift(lifeSeconds * 1_000)
    // Expired, in a block that could still be orphaned.
    await scene.chain.control.mine(3)
    await service.reconcile()
    expect(await readRow(payer)).toMatchObject({ state: 'pending' })
    await scene.chain.control.mine(6)
    await reconcileUntil(service, result, 'failed')
    expect(await readRow(payer)).toMatchObject({
      state: 'failed',
      reason: 'authorization_expired_unsettled',
      consumed_by: expect.any(String),
    })
    expect(logger.lines.filter(({ message }) => message === 'settlement.lost_after_success')).toMatchObject([
      {
        level: 'error',
        fields: { settlementId: result.settlementId, reason: 'authorization_expired_unsettled', payer },
      },
    ])
    expect(await readMetric(service, 'quittance_settlements_lost_total')).toBe(1)
    proxy.clearFaults()
    expect(await service.settle(body)).toMatchObject({
      success: false,
      errorReason: 'authorization_expired_unsettled',
      settlementId: result.settlementId,
      status: 'failed',
    })
    expect(await scene.chain.balanceOf(payTo)).toBe(0n)
  })
})
