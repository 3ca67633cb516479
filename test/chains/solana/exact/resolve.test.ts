import { Keypair } from '@solana/web3.js'
import { describe, expect, it } from 'vitest'
import { newestTransaction } from '../../../../src/stores/postgres/journal/settlementStates.js'
import { reconcileUntil } from '../../../support/coreClient.js'
import { createMemoryLogger } from '../../../support/memoryLogger.js'
import { pollUntil } from '../../../support/pollUntil.js'
import { shiftedClock } from '../../../support/shiftedClock.js'
import { useScene } from '../../../support/useScene.js'
import { openScene, type SolanaServiceOptions } from '../scene.js'

const scene = useScene(openScene)

const shortWait = { SETTLE_WAIT_SECONDS: '1' }

const open = async (options: SolanaServiceOptions = {}) => {
  const clock = shiftedClock()
  const logger = createMemoryLogger()
  const service = await scene.open({ clock, logger, ...options })
  const recheck = async () => {
    clock.shift(60_000)
    await service.core.detectReorgs()
  }
  return { service, clock, recheck }
}

const readRow = async (transaction: string) => {
  const { rows } = await scene.database.pool().query(
    `select state, reason, is_final, block_number::text as number, block_hash as hash from settlements s
       where ${newestTransaction('s')} = $1`,
    [transaction],
  )
  expect(rows).toHaveLength(1)
  return rows[0]
}

const blockOf = async (transaction: string) => {
  const landed = scene.chain.ledger.find(transaction)
  if (landed === null) throw new Error('The transaction is not in a block')
  return { number: String(landed.slot), hash: scene.chain.slots.blockhashAt(landed.slot) }
}

describe('the block of a payment', () => {
  it('is recorded with slot and blockhash, and final once finalized', async () => {
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

  it('can be orphaned: the same bytes then land in another block', async () => {
    const { service, recheck } = await open()
    const blockhash = scene.chain.slots.blockhashAt(scene.chain.slots.now())
    scene.chain.slots.warp(3)
    const { body, payTo } = scene.plan({ blockhash })
    const settled = await service.settle(body)
    const { transaction } = settled
    const before = await blockOf(transaction)
    scene.chain.slots.warp(1)
    scene.chain.ledger.orphanFrom(BigInt(before.number))
    expect(scene.chain.holdingOf(payTo)).toBe(0n)
    await recheck()
    await recheck()
    expect(await readRow(transaction)).toMatchObject({ state: 'pending' })
    await reconcileUntil(service, settled, 'confirmed')
    expect(scene.chain.holdingOf(payTo)).toBe(10_000n)
    const after = await readRow(transaction)
    expect(after).toMatchObject({ state: 'confirmed', ...(await blockOf(transaction)) })
    expect(after.hash).not.toBe(before.hash)
  })

  it('is not orphaned by a node that does not have it, also once it is finalized', async () => {
    const proxy = await scene.openProxy()
    const { service, recheck } = await open({ rpcUrls: [proxy.url] })
    const { transaction } = await service.settle(scene.plan().body)
    proxy.setFault('getBlock', { kind: 'tamper', change: () => null })
    scene.chain.slots.warp(40)
    await recheck()
    await recheck()
    await recheck()
    expect(await readRow(transaction)).toMatchObject({ state: 'confirmed', is_final: false })
    proxy.clearFaults()
    await recheck()
    expect(await readRow(transaction)).toMatchObject({ state: 'confirmed', is_final: true })
  })

  it('stays canonical while the endpoints disagree', async () => {
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

describe('an open settlement', () => {
  it('does not fail while one endpoint still reports the blockhash as valid', async () => {
    const proxy = await scene.openProxy()
    const { service, clock } = await open({ rpcUrls: [proxy.url, scene.chain.url], environment: shortWait })
    scene.chain.behaviour.dropsSends = true
    const { settlementId, transaction } = await service.settle(scene.plan().body)
    scene.chain.slots.warp(300)
    clock.shift(120_000)
    proxy.setFault('isBlockhashValid', {
      kind: 'tamper',
      change: () => ({ context: { slot: 1_000_000 }, value: true }),
    })
    await service.reconcile()
    expect(await readRow(transaction)).toMatchObject({ state: 'pending' })
    proxy.clearFaults()
    await reconcileUntil(service, { settlementId }, 'failed')
  })

  it('does not fail on an endpoint that lacks the blocks of that time', async () => {
    const proxy = await scene.openProxy()
    const { service, clock } = await open({ rpcUrls: [proxy.url], environment: shortWait })
    scene.chain.behaviour.dropsSends = true
    const { transaction } = await service.settle(scene.plan().body)
    scene.chain.slots.warp(300)
    clock.shift(120_000)
    const newest = Number(scene.chain.slots.now())
    proxy.setFault('getFirstAvailableBlock', { kind: 'tamper', change: () => newest })
    await service.reconcile()
    expect(await readRow(transaction)).toMatchObject({ state: 'pending' })
  })

  it('does not fail on an endpoint that is behind the one that reports the blockhash as expired', async () => {
    const proxy = await scene.openProxy()
    const { service, clock } = await open({ rpcUrls: [proxy.url], environment: shortWait })
    scene.chain.behaviour.dropsSends = true
    const { settlementId, transaction } = await service.settle(scene.plan().body)
    scene.chain.slots.warp(300)
    clock.shift(120_000)
    proxy.setFault('getSignatureStatuses', {
      kind: 'tamper',
      change: () => ({ context: { slot: 1 }, value: [null] }),
    })
    await service.reconcile()
    expect(await readRow(transaction)).toMatchObject({ state: 'pending' })
    proxy.clearFaults()
    await reconcileUntil(service, { settlementId }, 'failed')
  })

  it('is found in the ledger history', async () => {
    const proxy = await scene.openProxy()
    const { service, clock } = await open({ rpcUrls: [proxy.url], environment: shortWait })
    proxy.setFault('getSignatureStatuses', { kind: 'error', code: -32_000, message: 'not now' })
    const { body, payTo } = scene.plan()
    const { settlementId, transaction } = await service.settle(body)
    expect(await readRow(transaction)).toMatchObject({ state: 'pending' })
    await pollUntil(() => scene.chain.holdingOf(payTo) === 10_000n, 'the payment to arrive')
    proxy.clearFaults()
    scene.chain.slots.warp(1_000)
    clock.shift(400_000)
    await reconcileUntil(service, { settlementId }, 'confirmed')
  })

  it('above the cross-check amount needs two endpoints that report the same', async () => {
    const proxy = await scene.openProxy()
    const environment = { ...shortWait, SOLANA_CROSS_CHECK_AMOUNT: '10000' }
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
    await reconcileUntil(service, answer, 'confirmed')
    expect(await service.settle(body)).toMatchObject({ success: true, transaction: answer.transaction })
  })
})

describe('a cluster', () => {
  it('is not offered while no fee payer has funds', async () => {
    const { service } = await open({ feePayers: [createUnfundedKey()] })
    expect(service.listFeePayers()).toEqual([])
    await expect(service.verify(scene.plan().body)).resolves.toMatchObject({ isValid: false })
  })

  it.each([
    ['no funds left', 0n],
    ['less than the rent-exempt minimum', 895_000n],
  ])(
    'reports SERVICE_UNAVAILABLE, not an invalid payment, when its fee payer has %s',
    async (_, lamports) => {
      const feePayer = createFundedKey()
      const { service } = await open({ feePayers: [feePayer] })
      scene.chain.fund(feePayer.publicKey.toBase58(), lamports)
      const { body, payTo } = scene.plan({ feePayer })
      await expect(service.verify(body)).rejects.toThrow('not settling')
      await expect(service.settle(body)).rejects.toThrow('not settling')
      expect(scene.chain.holdingOf(payTo)).toBe(0n)
    },
  )

  it('announces each funded fee payer in turn, and no other', async () => {
    const [funded, other] = [createFundedKey(), createFundedKey()]
    const { service } = await open({ feePayers: [createUnfundedKey(), funded, other] })
    const announced = Array.from({ length: 8 }, () => service.listFeePayers()).flat()
    expect(new Set(announced)).toEqual(new Set([funded, other].map(({ publicKey }) => publicKey.toBase58())))
    const { body, payTo } = scene.plan({ feePayer: funded })
    expect(await service.settle(body)).toMatchObject({ success: true })
    expect(scene.chain.holdingOf(payTo)).toBe(10_000n)
  })

  it('stops the start when the endpoint serves another cluster', async () => {
    const proxy = await scene.openProxy()
    proxy.setFault('getGenesisHash', {
      kind: 'tamper',
      change: () => 'EtWTRABZaYq6iMfeYKouRu166VU2xqa1wcaWoxPkrZBG',
    })
    await expect(scene.open({ rpcUrls: [proxy.url] })).rejects.toThrow('EtWTRABZaYq6iMfeYKouRu166VU2xqa1')
  })
})

const createUnfundedKey = () => Keypair.generate()
const createFundedKey = () => {
  const keypair = createUnfundedKey()
  scene.chain.fund(keypair.publicKey.toBase58(), 1_000_000_000n)
  return keypair
}
