import { Connection, Keypair, PublicKey, TransactionInstruction } from '@solana/web3.js'
import { beforeAll, describe, expect, it } from 'vitest'
import { reconcileUntil } from '../../../support/coreClient.js'
import { pollUntil } from '../../../support/pollUntil.js'
import { shiftedClock } from '../../../support/shiftedClock.js'
import { lighthouseProgram, token2022Program } from '../../../support/solana/programs.js'
import { readSentTransaction } from '../../../support/solana/sentTransaction.js'
import { useScene } from '../../../support/useScene.js'
import { openScene, type PaymentPlan } from '../scene.js'

const scene = useScene(openScene)
let token2022: string

beforeAll(async () => {
  token2022 = Keypair.generate().publicKey.toBase58()
  scene.chain.createMint({ mint: token2022, program: token2022Program })
})

const anyToken = { SOLANA_TOKENS_mainnet: '*' }
const shortWait = { SETTLE_WAIT_SECONDS: '1' }

/** A wallet assertion; the Lighthouse program is not deployed on the test chain. */
const lighthouse = () =>
  new TransactionInstruction({
    programId: new PublicKey(lighthouseProgram),
    keys: [],
    data: Buffer.from([10]),
  })

const forms: readonly (readonly [string, () => PaymentPlan])[] = [
  ['three instructions and no memo', () => ({ memo: null })],
  ['a memo', () => ({})],
  ['the memo required by extra.memo', () => ({ memo: 'order 7', extra: { memo: 'order 7' } })],
  ['no extra.feePayer', () => ({ extra: {} })],
  ['a legacy message', () => ({ isLegacy: true })],
  ['Token-2022', () => ({ asset: token2022, program: token2022Program })],
]

describe('settle on Solana', () => {
  it.each(forms)('moves exactly the amount of a payment with %s', async (_, plan) => {
    const service = await scene.open({ environment: anyToken })
    const { amount = 10_000n, asset, program, ...rest } = plan()
    const token = {
      ...(asset === undefined ? {} : { asset }),
      ...(program === undefined ? {} : { program }),
    }
    const { body, payer, payTo } = scene.plan({ ...rest, ...token, amount, balance: 25_000n })
    expect(await service.verify(body)).toMatchObject({ isValid: true, payer: payer.publicKey.toBase58() })
    expect(scene.chain.holdingOf(payTo, asset, program)).toBe(0n)
    const answer = await service.settle(body)
    expect(answer).toMatchObject({ success: true, payer: payer.publicKey.toBase58() })
    expect(scene.chain.holdingOf(payTo, asset, program)).toBe(amount)
    expect(scene.chain.holdingOf(payer.publicKey.toBase58(), asset, program)).toBe(25_000n - amount)
    expect(scene.chain.balanceOf(payer.publicKey.toBase58())).toBe(0n)
  })

  it('costs two signatures plus the priority fee', async () => {
    const service = await scene.open()
    const feePayer = scene.chain.feePayers[0]?.publicKey.toBase58() ?? ''
    const before = scene.chain.balanceOf(feePayer)
    await service.settle(scene.plan().body)
    expect(before - scene.chain.balanceOf(feePayer)).toBe(10_001n)
  })

  it('returns a transaction id that clients find on chain, which is our signature', async () => {
    const service = await scene.open()
    const { transaction } = await service.settle(scene.plan().body)
    const connection = new Connection(scene.chain.url, 'confirmed')
    const found = await connection.getTransaction(transaction, { maxSupportedTransactionVersion: 0 })
    expect(found?.meta?.err).toBeNull()
    expect(found?.transaction.signatures[0]).toBe(transaction)
  })

  it('allows three Lighthouse assertions and a memo', async () => {
    const service = await scene.open()
    const { body } = scene.plan({ change: (all) => [...all, lighthouse(), lighthouse(), lighthouse()] })
    // The layout passes; only the simulation fails, because the program does not exist.
    expect(await service.verify(body)).toMatchObject({
      invalidReason: 'invalid_exact_svm_transaction_simulation_failed',
    })
  })

  it('resends the same bytes until they are in a block', async () => {
    const proxy = await scene.openProxy()
    const service = await scene.open({ rpcUrls: [proxy.url] })
    scene.chain.behaviour.dropsSends = true
    const { body, payTo } = scene.plan()
    const settling = service.settle(body)
    await pollUntil(() => (proxy.count('sendTransaction') > 0 ? true : null), 'the first send')
    scene.chain.behaviour.dropsSends = false
    expect(await settling).toMatchObject({ success: true })
    expect(scene.chain.holdingOf(payTo)).toBe(10_000n)
    const sent = proxy.calls.filter(({ method }) => method === 'sendTransaction')
    expect(new Set(sent.map(({ params }) => params[0])).size).toBe(1)
  })

  it('is pending while the result is unknown, and succeeds once the transaction lands', async () => {
    const service = await scene.open({ environment: shortWait })
    scene.chain.behaviour.dropsSends = true
    const { body, payTo } = scene.plan()
    const pending = await service.settle(body)
    expect(pending).toMatchObject({ success: false, errorReason: 'settlement_pending' })
    expect(pending.transaction).not.toBe('')
    scene.chain.behaviour.dropsSends = false
    await reconcileUntil(service, pending, 'confirmed')
    expect(await service.settle(body)).toMatchObject({ success: true, transaction: pending.transaction })
    expect(scene.chain.holdingOf(payTo)).toBe(10_000n)
  })

  it('fails only when the blockhash has expired in a finalized block without the transaction', async () => {
    const clock = shiftedClock()
    const service = await scene.open({ environment: shortWait, clock })
    scene.chain.behaviour.dropsSends = true
    const { body, payTo } = scene.plan()
    const { settlementId, transaction } = await service.settle(body)
    const isPending = async () => (await service.settle(body)).errorReason === 'settlement_pending'

    // Expired for the newest block, but not for a finalized one.
    scene.chain.slots.warp(152)
    clock.shift(62_000)
    await service.reconcile()
    expect(await isPending()).toBe(true)

    scene.chain.slots.warp(300)
    clock.shift(120_000)
    await reconcileUntil(service, { settlementId }, 'failed')
    expect(await service.settle(body)).toMatchObject({
      success: false,
      errorReason: 'settle_exact_svm_block_height_exceeded',
    })
    const { rows } = await scene.database
      .pool()
      .query('select state, reason from settlements where transaction = $1', [transaction])
    expect(rows).toEqual([{ state: 'failed', reason: 'settle_exact_svm_block_height_exceeded' }])
    expect(scene.chain.holdingOf(payTo)).toBe(0n)
  })

  it('does not fail before the blockhash has expired by our own clock', async () => {
    const service = await scene.open({ environment: shortWait })
    scene.chain.behaviour.dropsSends = true
    const { body } = scene.plan()
    await service.settle(body)
    scene.chain.slots.warp(1_000)
    await service.reconcile()
    expect(await service.settle(body)).toMatchObject({ errorReason: 'settlement_pending' })
  })

  it('fails when the transaction is in a block with an error', async () => {
    const proxy = await scene.openProxy()
    const service = await scene.open({ rpcUrls: [proxy.url] })
    const { body, payer, payTo } = scene.plan()
    scene.chain.behaviour.landSlots = 10
    const settling = service.settle(body)
    await pollUntil(scene.chain.ledger.hasWaiting, 'the first send')
    // Between simulation and block the payer moves the money away.
    scene.chain.give({ owner: payer.publicKey.toBase58(), amount: -10_000n })
    scene.chain.slots.warp(10)
    const sent = proxy.calls.find(({ method }) => method === 'sendTransaction')
    const { signature } = readSentTransaction(Buffer.from(String(sent?.params[0]), 'base64'))
    await pollUntil(() => scene.chain.ledger.find(signature) !== null, 'the transaction to be in a block')
    scene.chain.slots.warp(31)
    expect(await settling).toMatchObject({
      success: false,
      errorReason: 'invalid_exact_svm_transaction_failed',
    })
    expect(scene.chain.holdingOf(payTo)).toBe(0n)
  })
})
