import { Keypair } from '@solana/web3.js'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { createMemoryLogger } from '../../../support/memoryLogger.js'
import { shiftedClock } from '../../../support/shiftedClock.js'
import { openScene, type SolanaScene, type SolanaServiceOptions } from '../scene.js'

/* What becomes of payments afterwards: blocks that are final, that are taken back, and nodes that disagree. */

let scene: SolanaScene

beforeAll(async () => {
  scene = await openScene()
})
afterEach(() => scene.reset())
afterAll(() => scene.close())

/** Who waits for what does not come. */
const impatient = { SETTLE_WAIT_SECONDS: '1' }

const open = async (options: SolanaServiceOptions = {}) => {
  const clock = shiftedClock()
  const logger = createMemoryLogger()
  const service = await scene.open({ clock, logger, ...options })
  const recheck = async () => {
    clock.shift(60_000)
    await service.core.recheckBlocks()
  }
  return { service, clock, recheck }
}

const readRow = async (transaction: string) => {
  const { rows } = await scene.database
    .pool()
    .query(
      'select state, reason, is_final, block_number::text as number, block_hash as hash from settlements where transaction = $1',
      [transaction],
    )
  expect(rows).toHaveLength(1)
  return rows[0]
}

const blockOf = async (transaction: string) => {
  const landed = scene.chain.ledger.find(transaction)
  if (landed === null) throw new Error('It is in no block')
  return { number: String(landed.slot), hash: scene.chain.slots.blockhashAt(landed.slot) }
}

describe('the block of a payment', () => {
  it('is written down with slot and blockhash, and is final once the cluster calls it so', async () => {
    const { service, recheck } = await open()
    const { transaction } = await service.settle(scene.plan().body)
    expect(await readRow(transaction)).toMatchObject({
      state: 'confirmed',
      is_final: false,
      ...(await blockOf(transaction)),
    })
    await recheck()
    expect(await readRow(transaction)).toMatchObject({ is_final: false })
    scene.chain.slots.warp(40)
    await recheck()
    expect(await readRow(transaction)).toMatchObject({ state: 'confirmed', is_final: true })
  })

  it('that is taken back does not take the payment with it: the same bytes come into another one', async () => {
    const { service, recheck } = await open()
    const blockhash = scene.chain.slots.blockhashAt(scene.chain.slots.now())
    scene.chain.slots.warp(3)
    const { body, payTo } = scene.plan({ blockhash })
    const { transaction } = await service.settle(body)
    const before = await blockOf(transaction)
    scene.chain.slots.warp(1)
    scene.chain.ledger.takeBack(BigInt(before.number))
    expect(scene.chain.holdingOf(payTo)).toBe(0n)
    await recheck()
    await recheck()
    expect(await readRow(transaction)).toMatchObject({ state: 'pending' })
    await service.reconcile()
    await service.reconcile()
    expect(scene.chain.holdingOf(payTo)).toBe(10_000n)
    const after = await readRow(transaction)
    expect(after).toMatchObject({ state: 'confirmed', ...(await blockOf(transaction)) })
    expect(after.hash).not.toBe(before.hash)
  })

  it('that one node calls gone and another one does not keeps the payment', async () => {
    const proxy = await scene.openProxy()
    const { service, recheck } = await open({ rpcUrls: [proxy.url, scene.chain.url] })
    const { transaction } = await service.settle(scene.plan().body)
    proxy.setFault('getBlock', { kind: 'tamper', change: () => ({ blockhash: '1'.repeat(32) }) })
    await recheck()
    await recheck()
    await recheck()
    expect(await readRow(transaction)).toMatchObject({ state: 'confirmed' })
  })
})

describe('a settlement that nobody attends any more', () => {
  it('is not failed where one node still knows the blockhash', async () => {
    const proxy = await scene.openProxy()
    const { service, clock } = await open({ rpcUrls: [proxy.url, scene.chain.url], environment: impatient })
    scene.chain.behaviour.dropsSends = true
    const { transaction } = await service.settle(scene.plan().body)
    scene.chain.slots.warp(300)
    clock.shift(120_000)
    proxy.setFault('isBlockhashValid', {
      kind: 'tamper',
      change: () => ({ context: { slot: 1_000_000 }, value: true }),
    })
    await service.reconcile()
    expect(await readRow(transaction)).toMatchObject({ state: 'pending' })
    proxy.clearFaults()
    await service.reconcile()
    expect(await readRow(transaction)).toMatchObject({ state: 'failed' })
  })

  it('is not failed by a node that has not got the blocks of that time', async () => {
    const proxy = await scene.openProxy()
    const { service, clock } = await open({ rpcUrls: [proxy.url], environment: impatient })
    scene.chain.behaviour.dropsSends = true
    const { transaction } = await service.settle(scene.plan().body)
    scene.chain.slots.warp(300)
    clock.shift(120_000)
    const newest = Number(scene.chain.slots.now())
    proxy.setFault('getFirstAvailableBlock', { kind: 'tamper', change: () => newest })
    await service.reconcile()
    expect(await readRow(transaction)).toMatchObject({ state: 'pending' })
  })

  it('is not failed by a node that is behind the one that calls the blockhash used up', async () => {
    const proxy = await scene.openProxy()
    const { service, clock } = await open({ rpcUrls: [proxy.url], environment: impatient })
    scene.chain.behaviour.dropsSends = true
    const { transaction } = await service.settle(scene.plan().body)
    scene.chain.slots.warp(300)
    clock.shift(120_000)
    proxy.setFault('getSignatureStatuses', {
      kind: 'tamper',
      change: () => ({ context: { slot: 1 }, value: [null] }),
    })
    await service.reconcile()
    expect(await readRow(transaction)).toMatchObject({ state: 'pending' })
    proxy.clearFaults()
    await service.reconcile()
    expect(await readRow(transaction)).toMatchObject({ state: 'failed' })
  })

  it('is found although its block is long past', async () => {
    const proxy = await scene.openProxy()
    const { service, clock } = await open({ rpcUrls: [proxy.url], environment: impatient })
    proxy.setFault('getSignatureStatuses', { kind: 'error', code: -32_000, message: 'not now' })
    const { transaction } = await service.settle(scene.plan().body)
    expect(await readRow(transaction)).toMatchObject({ state: 'pending' })
    proxy.clearFaults()
    scene.chain.slots.warp(1_000)
    clock.shift(400_000)
    await service.reconcile()
    expect(await readRow(transaction)).toMatchObject({ state: 'confirmed' })
  })

  it('above the cross-check amount is confirmed only when two nodes tell the same', async () => {
    const proxy = await scene.openProxy()
    const environment = { ...impatient, SOLANA_CROSS_CHECK_AMOUNT: '10000' }
    const { service } = await open({ rpcUrls: [proxy.url, scene.chain.url], environment })
    proxy.setFault('getSignatureStatuses', {
      kind: 'tamper',
      change: () => ({
        context: { slot: 1 },
        value: [{ slot: 5, err: null, confirmationStatus: 'confirmed' }],
      }),
    })
    const { body } = scene.plan()
    const answer = await service.settle(body)
    expect(answer).toMatchObject({ success: false, errorReason: 'settlement_pending' })
    proxy.clearFaults()
    await service.reconcile()
    expect(await service.settle(body)).toMatchObject({ success: true, transaction: answer.transaction })
  })
})

describe('a cluster', () => {
  it('is not served while no fee payer can pay', async () => {
    const { service } = await open({ feePayers: [createPauper()] })
    expect(service.listFeePayers()).toEqual([])
    await expect(service.verify(scene.plan().body)).resolves.toMatchObject({ isValid: false })
  })

  it.each([
    ['nothing any more', 0n],
    ['less than what an account must keep', 895_000n],
  ])('blames no payer for a fee payer that owns %s', async (_, lamports) => {
    const feePayer = createRich()
    const { service } = await open({ feePayers: [feePayer] })
    scene.chain.fund(feePayer.publicKey.toBase58(), lamports)
    const { body, payTo } = scene.plan({ feePayer })
    await expect(service.verify(body)).rejects.toThrow('not settling')
    await expect(service.settle(body)).rejects.toThrow('not settling')
    expect(scene.chain.holdingOf(payTo)).toBe(0n)
  })

  it('announces each fee payer that can pay in turn, and none that cannot', async () => {
    const [rich, other] = [createRich(), createRich()]
    const { service } = await open({ feePayers: [createPauper(), rich, other] })
    const announced = Array.from({ length: 8 }, () => service.listFeePayers()).flat()
    expect(new Set(announced)).toEqual(new Set([rich, other].map(({ publicKey }) => publicKey.toBase58())))
    const { body, payTo } = scene.plan({ feePayer: rich })
    expect(await service.settle(body)).toMatchObject({ success: true })
    expect(scene.chain.holdingOf(payTo)).toBe(10_000n)
  })

  it('that the endpoint does not serve stops the start', async () => {
    const proxy = await scene.openProxy()
    proxy.setFault('getGenesisHash', {
      kind: 'tamper',
      change: () => 'EtWTRABZaYq6iMfeYKouRu166VU2xqa1wcaWoxPkrZBG',
    })
    await expect(scene.open({ rpcUrls: [proxy.url] })).rejects.toThrow('EtWTRABZaYq6iMfeYKouRu166VU2xqa1')
  })
})

const createPauper = () => Keypair.generate()
const createRich = () => {
  const keypair = createPauper()
  scene.chain.fund(keypair.publicKey.toBase58(), 1_000_000_000n)
  return keypair
}
