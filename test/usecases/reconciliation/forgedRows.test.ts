import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { silentLogger } from '../../../src/platform/logger.js'
import type { SettlementJournal } from '../../../src/ports/settlementJournal.js'
import { isRefused, readPayment } from '../../../src/protocol/readPayment.js'
import type { DifferenceKind } from '../../../src/protocol/reconciliation.js'
import { wirePaymentRequest } from '../../../src/protocol/wire.js'
import { createSchemeRegistry } from '../../../src/schemes/registry.js'
import { createSettlementJournal } from '../../../src/stores/postgres/journal/settlementJournal.js'
import { createReconciliationStore } from '../../../src/stores/postgres/reconciliation/reconciliationStore.js'
import { fingerprintRequest } from '../../../src/usecases/core/idempotency/fingerprint.js'
import { createConcurrencyLimits } from '../../../src/usecases/core/limits.js'
import { createSettleAuthorization } from '../../../src/usecases/core/settle/settleAuthorization.js'
import { createVerifyPayment } from '../../../src/usecases/core/verify/verifyPayment.js'
import { createReconciliation } from '../../../src/usecases/reconciliation/index.js'
import { amount, openScene, otherTokenId, type Scene } from '../../chains/near/scene.js'
import { claimOf } from '../../support/claimOf.js'
import { emptyTables } from '../../support/emptyTables.js'
import { addInstance } from '../../support/instances.js'
import { transferCall } from '../../support/near/payment.js'
import { noSpendingLimits } from '../../support/noSpendingLimits.js'
import { pollUntil, waitLimitMs } from '../../support/pollUntil.js'
import { useTestDatabase } from '../../support/postgres.js'

/* Direct payments on a NEAR test chain, settled by the use case; then a row is changed by hand in Postgres. */

const { pool, otherPool } = useTestDatabase()
let scene: Scene
let journal: SettlementJournal
let merchant: string

beforeAll(async () => {
  scene = await openScene()
  merchant = scene.addMerchant()
})
afterAll(() => scene.close())
beforeEach(async () => {
  await emptyTables(pool, 'consumed_authorizations', 'settlements', 'instances', 'webhook_deliveries')
  scene.token.mint(scene.payer.id, 10n * amount)
  journal = createSettlementJournal(pool, await addInstance(pool))
})

const open = () => {
  const registry = createSchemeRegistry([scene.scheme])
  const { clock } = scene
  const settleAuthorization = createSettleAuthorization({
    registry,
    journal,
    holdFunds: async (_payment, verdict) => verdict,
    limits: noSpendingLimits,
    concurrency: createConcurrencyLimits({ settlesAtOncePerPayer: 0, settlesAtOncePerCaller: 0 }),
    clock,
    logger: silentLogger,
    waitMs: waitLimitMs,
  })
  const verifyPayment = createVerifyPayment({
    registry,
    journal,
    quotaGate: async () => null,
    holdFunds: async (_payment, verdict) => verdict,
    logger: silentLogger,
    deadlineMs: waitLimitMs,
  })
  const store = createReconciliationStore(pool, otherPool)
  const { useCases } = createReconciliation({
    store,
    nightlyStore: store,
    journal,
    registry,
    gauges: { setLastReconciliation: () => undefined },
    clock,
    logger: silentLogger,
  })
  return {
    verify: (body: unknown) =>
      verifyPayment({
        body: wirePaymentRequest.parse(body),
        caller: 'anonymous',
        quota: null,
        isAwaited: () => true,
      }),
    settle: (body: unknown) => {
      const request = wirePaymentRequest.parse(body)
      const payment = readPayment(request)
      if (isRefused(payment)) throw new Error(payment.reason)
      return settleAuthorization({
        payment,
        fingerprint: fingerprintRequest(request),
        consumer: randomUUID(),
        caller: 'anonymous',
        quota: null,
      })
    },
    reconcile: () =>
      useCases.reconcilePeriod({
        from: new Date(Date.now() - 3 * 3_600_000),
        to: new Date(Date.now() + 3_600_000),
        limit: 100,
      }),
  }
}

/** Twice the required amount: a row that says less than was paid is seen. */
const pay = async (paid = 2n * amount) =>
  scene.bodyOf(await scene.pay([transferCall({ to: merchant, amount: paid })]), { payTo: merchant })

/** A sound payment, and one whose row will be forged. */
const settleTwo = async () => {
  const { settle } = open()
  expect(await settle(await pay())).toMatchObject({ success: true })
  const body = await pay()
  const answer = await settle(body)
  expect(answer).toMatchObject({ success: true, amount: `${2n * amount}` })
  const settlement = await journal.find(answer.settlementId ?? '')
  if (settlement === null) throw new Error('It has no row')
  return { body, settlement }
}

/** Claimed while the transaction is not final. */
const settleLate = async (paid: bigint) => {
  scene.proxy.setFault('tx', { kind: 'tamper', change: () => ({ final_execution_status: 'INCLUDED' }) })
  const settling = open().settle(await pay(paid))
  const isRecorded = async () => (await pool.query('select from broadcasts')).rowCount === 1
  await pollUntil(isRecorded, 'the transaction to be recorded')
  scene.proxy.clearFaults()
  const { settlementId = '' } = await settling
  return { settlementId }
}

const set = (columns: string) => (id: string) =>
  pool.query(`update settlements set ${columns} where id = $1`, [id])

/** As the columns of a confirmed row allow. */
const asFailed = `state = 'failed', settled_amount = null, consumed_by = null`

const copy = (changes: string) => (id: string) =>
  pool.query(
    `insert into settlements select (jsonb_populate_record(s, ${changes})).* from settlements s where id = $1`,
    [id],
  )

describe('a forged row of a direct payment', () => {
  it('is told from sound ones: those have no difference', async () => {
    await settleTwo()
    const page = await open().reconcile()
    expect(page.differences).toEqual([])
    expect(page).toMatchObject({ isBalanced: true, checked: { settlements: 2, onChain: 2 } })
  })

  const forgeries: readonly (readonly [string, DifferenceKind, (id: string) => Promise<unknown>])[] = [
    ['another asset', 'payment_differs', set(`asset = '${otherTokenId}'`)],
    ['another payee', 'payment_differs', set(`pay_to = 'mallory.testnet'`)],
    ['another payer', 'payment_differs', set(`payer = 'mallory.testnet'`)],
    ['another authorization', 'payment_differs', set(`authorization_id = authorization_id || 'x'`)],
    ['another transaction', 'payment_differs', set(`transaction = 'another'`)],
    ['another claimed amount', 'payment_differs', set('amount = amount - 1')],
    ['another authorized amount', 'payment_differs', set('authorized_amount = authorized_amount + 1')],
    ['another settled amount', 'payment_differs', set('settled_amount = settled_amount - 1')],
    [
      'less in every amount',
      'payment_differs',
      set('amount = amount - 1, authorized_amount = amount - 1, settled_amount = amount - 1'),
    ],
    [
      'only the required amount',
      'payment_differs',
      set(`amount = ${amount}, authorized_amount = ${amount}, settled_amount = ${amount}`),
    ],
    [
      'more in every amount',
      'payment_differs',
      set('amount = amount + 1, authorized_amount = amount + 1, settled_amount = amount + 1'),
    ],
    [
      'less in every amount and in the details',
      'authorization_differs',
      set(`amount = 1, authorized_amount = 1, settled_amount = 1,
        details = details || '{"amount": "1", "isLimited": true}'`),
    ],
    [
      'another payee, in the details and in the authorization too',
      'payment_missing',
      set(`pay_to = 'mallory.testnet', details = details || '{"to": "mallory.testnet"}',
        authorization_id = replace(authorization_id, pay_to, 'mallory.testnet')`),
    ],
    ['another network', 'authorization_differs', set(`network = 'near:elsewhere'`)],
    ['another scheme', 'authorization_differs', set(`scheme = 'exact'`)],
    ['another caller', 'authorization_differs', set(`caller = '${randomUUID()}'`)],
    ['another expiry', 'payment_differs', set('expires_at = now()')],
    [
      'another time',
      'payment_missing',
      set(`created_at = created_at + interval '50 minutes', details = details || '{"maxAgeSeconds": 1}'`),
    ],
    ['the state failed', 'payment_unrecorded', set(`${asFailed}, reason = 'transaction_failed'`)],
    [
      'the state failed',
      'authorization_differs',
      set(`${asFailed}, reason = 'settlement_abandoned', transaction = null`),
    ],
    [
      'the state failed, with its consumer',
      'payment_unrecorded',
      set(`state = 'failed', reason = 'transaction_failed', settled_amount = null`),
    ],
    [
      'the state pending',
      'authorization_differs',
      set(`state = 'pending', settled_amount = null, consumed_by = null, closed_at = null`),
    ],
    [
      'the state pending and another payee',
      'payment_differs',
      set(`state = 'pending', settled_amount = null, closed_at = null, pay_to = 'mallory.testnet'`),
    ],
    [
      'the state failed and another payee',
      'payment_differs',
      set(
        `state = 'failed', reason = 'transaction_failed', settled_amount = null, pay_to = 'mallory.testnet'`,
      ),
    ],
  ]
  it.each(forgeries)('with %s is a difference: %s', async (_, kind, forge) => {
    const { settlement } = await settleTwo()
    await forge(settlement.id)
    const page = await open().reconcile()
    expect(page.differences).toContainEqual(expect.objectContaining({ kind, settlementId: settlement.id }))
    expect(page.isBalanced).toBe(false)
    const named = page.differences.filter(({ settlementId }) => settlementId !== undefined)
    expect(new Set(named.map(({ settlementId }) => settlementId))).toEqual(new Set([settlement.id]))
  })

  it('that was deleted is a difference', async () => {
    const { settlement } = await settleTwo()
    await pool.query('delete from settlements where id = $1', [settlement.id])
    const page = await open().reconcile()
    expect(page.differences).toContainEqual(
      expect.objectContaining({
        kind: 'settlement_missing',
        settlementId: settlement.id,
        message: expect.stringContaining('consumed authorization'),
      }),
    )
  })

  it.each<[string, DifferenceKind, string]>([
    ['under another authorization', 'payment_differs', `'{"id": "$id", "authorization_id": "other"}'`],
    ['under another authorization', 'payment_duplicated', `'{"id": "$id", "authorization_id": "other"}'`],
    [
      'that names another transaction',
      'payment_missing',
      `jsonb_build_object('id', '$id', 'transaction', 'another', 'authorization_id', replace(authorization_id,
        transaction, 'another'), 'details', details || '{"transaction": "another"}',
        'created_at', created_at - interval '2 hours')`,
    ],
  ])('that is a copy %s is a difference: %s', async (_, kind, changes) => {
    const { settlement } = await settleTwo()
    const id = randomUUID()
    await copy(changes.replace('$id', id))(settlement.id)
    const { differences } = await open().reconcile()
    expect(differences).toContainEqual(expect.objectContaining({ kind, settlementId: id }))
  })

  it('is told from one whose surplus was found after the claim, and is not part of it', async () => {
    const { settlementId } = await settleLate(3n * amount)
    expect(await journal.find(settlementId)).toMatchObject({ state: 'confirmed', settledAmount: amount })
    expect((await open().reconcile()).differences).toEqual([])
  })

  it('that was failed and is confirmed is a difference', async () => {
    const { reconcile } = open()
    const { settlementId } = await settleLate(amount - 1n)
    expect(await journal.find(settlementId)).toMatchObject({ state: 'failed' })
    expect((await reconcile()).isBalanced).toBe(true)
    await pool.query(
      `update settlements set state = 'confirmed', settled_amount = amount, reason = null where id = $1`,
      [settlementId],
    )
    expect((await reconcile()).differences).toContainEqual(
      expect.objectContaining({ kind: 'payment_missing', settlementId }),
    )
  })
})

describe('the proof of a settled payment', () => {
  it.each<[string, (id: string) => Promise<unknown>]>([
    ['was set to failed', set(`${asFailed}, reason = 'transaction_failed'`)],
    ['was deleted', (id) => pool.query('delete from settlements where id = $1', [id])],
    ['has another authorization', set(`authorization_id = authorization_id || 'x'`)],
  ])('settles nothing again when its row %s', async (_, forge) => {
    const { body, settlement } = await settleTwo()
    await forge(settlement.id)
    const { verify, settle } = open()
    const refusal = { errorReason: 'duplicate_settlement', retryable: false }
    expect(await settle(body)).toMatchObject({ success: false, ...refusal })
    expect(await verify(body)).toMatchObject({ isValid: false, invalidReason: 'duplicate_settlement' })
  })

  it('settles again after a claim that was abandoned', async () => {
    const { settle, reconcile } = open()
    const body = await pay()
    const payment = readPayment(wirePaymentRequest.parse(body))
    if (isRefused(payment)) throw new Error(payment.reason)
    const verdict = await scene.scheme.verify(payment, { isAwaited: () => true, isForSettle: true })
    if (!verdict.isValid) throw new Error(verdict.reason)
    const { asset, payTo } = payment.requirements
    const claimed = await journal.claim(
      claimOf({ ...verdict, scheme: 'exact-direct', network: scene.scheme.kind.network, asset, payTo }),
    )
    expect(await journal.abandon(claimed?.id ?? '')).toBe(true)
    expect(await settle(body)).toMatchObject({ success: true })
    expect((await reconcile()).differences).toEqual([])
  })
})

describe('what records consumed authorizations', () => {
  it.each([
    'delete from consumed_authorizations',
    'update consumed_authorizations set settlement_id = gen_random_uuid()',
    'truncate consumed_authorizations',
  ])('is append-only: %s', async (statement) => {
    await settleTwo()
    await expect(pool.query(statement)).rejects.toThrow('append-only')
  })
})
