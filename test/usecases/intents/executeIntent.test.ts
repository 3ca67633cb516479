import { randomUUID } from 'node:crypto'
import { beforeEach, describe, expect, it } from 'vitest'
import { z } from 'zod'
import type { AppError } from '../../../src/errors.js'
import { systemClock } from '../../../src/platform/clock.js'
import type { SettlementJournal } from '../../../src/ports/settlementJournal.js'
import type { IntentRequest, IntentRequirements } from '../../../src/protocol/intents.js'
import { specificationTiers } from '../../../src/protocol/tiers.js'
import {
  createDirectNetwork,
  type DirectChain,
  type DirectTransfer,
  type LookUp,
} from '../../../src/schemes/exactDirect/directChain.js'
import { hashMemo } from '../../../src/schemes/exactDirect/memo.js'
import { createExactDirectScheme } from '../../../src/schemes/exactDirect/scheme.js'
import { createSchemeRegistry } from '../../../src/schemes/registry.js'
import type { Scheme } from '../../../src/schemes/scheme.js'
import { createIntentStore } from '../../../src/stores/postgres/intents/intentStore.js'
import { createSettlementJournal } from '../../../src/stores/postgres/journal/settlementJournal.js'
import { createReconcileSettlements } from '../../../src/usecases/core/recover/reconcileSettlements.js'
import { type ClaimRules, noClaimRules } from '../../../src/usecases/core/verify/claimRules.js'
import { createIntents } from '../../../src/usecases/intents/index.js'
import { emptyTables } from '../../support/emptyTables.js'
import { addInstance } from '../../support/instances.js'
import { createManualClock } from '../../support/manualClock.js'
import { createMemoryCounter } from '../../support/memoryCounter.js'
import { createMemoryIdempotency } from '../../support/memoryIdempotency.js'
import { createMemoryLogger } from '../../support/memoryLogger.js'
import { noSpendingLimits } from '../../support/noSpendingLimits.js'
import { plainPayment } from '../../support/plainPayment.js'
import { pollUntil, waitLimitMs } from '../../support/pollUntil.js'
import { useTestDatabase } from '../../support/postgres.js'
import { rejectionOf } from '../../support/rejectionOf.js'
import { createUnlimitedSettle } from '../../support/settleAuthorization.js'
import { createToyDirectChain } from '../../support/toyDirectChain.js'
import { createToyScheme, type ToyScript, type ToySettle, toyAuthorized } from '../../support/toyScheme.js'

const caller = 'anonymous'

const terms: IntentRequest = {
  payer: 'alice',
  payee: 'bob',
  amount: '10000',
  asset: 'gold',
  expiresIn: 3_600,
}

/** Transactions are unique in the journal. */
const sendAs =
  (state: 'confirmed' | 'pending', named?: string): ToySettle =>
  async (_payment, recorder) => {
    const transaction = named ?? `tx-${randomUUID()}`
    await recorder.record({ transaction, bytes: transaction })
    return { state, transaction }
  }

const memoRules: ClaimRules = {
  ...noClaimRules,
  findStatement: async ({ kind }, payTo) =>
    kind.scheme === 'exact-direct'
      ? {
          network: kind.network,
          payTo,
          accountId: null,
          demands: { memo: true, signedClaim: false, uniqueAmount: false, ownKey: false },
        }
      : null,
}

/** The code of an error, and its reason where it has one. */
const refusalOf = async (attempt: Promise<unknown>): Promise<string> => {
  const { code, reason } = z
    .object({ code: z.string(), reason: z.string().nullable() })
    .parse(await rejectionOf(attempt))
  return reason === null ? code : `${code} ${reason}`
}

const completed = { status: 'completed' }

const payloadFor = (
  requirements: IntentRequirements,
  proof: { readonly nonce?: string; readonly from?: string } = {},
) => ({
  x402Version: 2,
  accepted: requirements,
  payload: { from: 'alice', nonce: randomUUID(), ...proof },
})

describe('an intent', () => {
  const { pool } = useTestDatabase()
  beforeEach(() => emptyTables(pool, 'intents', 'webhook_deliveries'))

  interface World {
    readonly toy?: ToyScript
    readonly schemes?: readonly Scheme[]
    readonly watch?: (journal: SettlementJournal) => SettlementJournal
    /** Adds an `exact-direct` route. */
    readonly direct?: DirectChain
    /** The payee has stated that claims show the preimage of the memo. */
    readonly demandsMemo?: boolean
    /** Of reads of a network. */
    readonly deadlineMs?: number
  }

  const open = async ({
    toy = {},
    schemes = [],
    watch = (journal) => journal,
    direct,
    demandsMemo = false,
    deadlineMs = waitLimitMs,
  }: World = {}) => {
    const journal = watch(createSettlementJournal(pool, await addInstance(pool)))
    const clock = createManualClock()
    const registry = createSchemeRegistry([
      createToyScheme({ settle: sendAs('confirmed'), ...toy }),
      ...schemes,
      ...(direct === undefined
        ? []
        : [createExactDirectScheme(direct, { clock, network: createDirectNetwork(direct) })]),
    ])
    const logger = createMemoryLogger()
    const settleAuthorization = createUnlimitedSettle({
      registry,
      journal,
      holdFunds: async (_payment, verdict) => verdict,
      logger,
    })
    const store = createIntentStore(pool)
    const isServing = () => true
    const intents = createIntents({
      store,
      journal,
      idempotency: createMemoryIdempotency(),
      registry,
      isServing,
      settleAuthorization,
      ...(demandsMemo ? { claimRules: memoRules } : {}),
      clock,
      logger,
      deadlineMs,
    })
    const { useCases, jobs } = intents
    const stopped = new AbortController().signal
    const reconcile = createReconcileSettlements({
      registry,
      journal,
      counter: createMemoryCounter(),
      limits: noSpendingLimits,
      clock: systemClock,
      logger,
      deadlineMs: waitLimitMs,
    })

    const createUnder = (idempotencyKey: string | null, changes: Partial<IntentRequest> = {}, by = caller) =>
      useCases.createIntent({ terms: { ...terms, ...changes }, caller: by, idempotencyKey })
    const create = async (changes: Partial<IntentRequest> = {}, by = caller) =>
      (await createUnder(null, changes, by)).answer
    const route = async (changes: Partial<IntentRequest> = {}, by = caller) => {
      const { intent, recommendedRoute } = await create(changes, by)
      return await useCases.selectRoute({ id: intent.id, caller: by, routeId: recommendedRoute?.id ?? '' })
    }
    const routeDirect = async (changes: Partial<IntentRequest> = {}, by = caller) => {
      const { intent, availableRoutes } = await create(changes, by)
      const found = availableRoutes.find(({ scheme }) => scheme === 'exact-direct')
      return await useCases.selectRoute({ id: intent.id, caller: by, routeId: found?.id ?? '' })
    }
    /** Selects a route that is not of `exact-direct`. */
    const selectOther = async (id: string) => {
      const { availableRoutes } = await useCases.getIntent({ id, caller })
      const other = availableRoutes.find(({ scheme }) => scheme !== 'exact-direct')
      await useCases.selectRoute({ id, caller, routeId: other?.id ?? '' })
    }
    const execute = (id: string, paymentPayload: object, by = caller, routeId?: string) =>
      useCases.executeIntent({ id, caller: by, paymentPayload: { ...paymentPayload }, quota: null, routeId })
    /** As `/settle` does. */
    const settle = (requirements: IntentRequirements, proof: object, by = caller) =>
      settleAuthorization({
        payment: plainPayment({
          requirements: { ...requirements, amount: 10_000n, minAmount: null },
          proof: { ...proof },
        }),
        caller: by,
        quota: null,
        fingerprint: randomUUID(),
        consumer: randomUUID(),
      })
    const statusOf = async (id: string, by = caller) =>
      (await useCases.getIntent({ id, caller: by })).intent.status
    return {
      useCases,
      journal,
      clock,
      settle,
      create,
      createUnder,
      route,
      routeDirect,
      selectOther,
      execute,
      statusOf,
      runJob: (name: keyof typeof jobs) => jobs[name].run(stopped),
      reconcile: () => reconcile(stopped),
    }
  }

  /** An intent that a process bound which then was killed: it never sends, and never returns. */
  const bindAndDie = async () => {
    const hung = await open({ toy: { settle: () => new Promise(() => undefined) } })
    const { intent, paymentRequirements } = await hung.route()
    const payload = payloadFor(paymentRequirements)
    void hung.execute(intent.id, payload).catch(() => undefined)
    const isExecuting = async () => (await hung.statusOf(intent.id)) === 'executing'
    await pollUntil(isExecuting, 'the intent to be bound')
    await pool.query("update instances set seen_at = now() - interval '1 minute'")
    return { intent, paymentRequirements, payload }
  }

  /** Those that did not fail. */
  const listSettlements = async (id: string) => {
    const { rows } = await pool.query(
      "select consumed_by from settlements where fingerprint = $1 and state <> 'failed'",
      [`intent:${id}`],
    )
    return rows
  }

  const listEvents = async (account: string) => {
    const { rows } = await pool.query<{ type: string; data: { status: string } }>(
      'select type, data from webhook_deliveries where account_id = $1 order by created_at, id',
      [account],
    )
    return rows.map(({ type, data }) => `${type} ${data.status}`)
  }

  it('is paid by the payment that its route requires', async () => {
    const { route, execute, useCases } = await open()
    const { intent, paymentRequirements } = await route()
    expect(paymentRequirements).toEqual({
      scheme: 'exact',
      network: 'toy:1',
      amount: '10000',
      asset: 'gold',
      payTo: 'bob',
      maxTimeoutSeconds: 300,
      extra: {},
    })
    const executed = await execute(intent.id, payloadFor(paymentRequirements))
    const { transaction } = executed
    expect(transaction).toMatch(/^tx-/)
    expect(executed).toMatchObject({ status: 'completed', transaction, txHashes: [transaction] })
    expect(executed.intent).toMatchObject({
      status: 'completed',
      settledAmount: '10000',
      transaction,
    })
    expect((await useCases.getIntent({ id: intent.id, caller })).intent).toEqual(executed.intent)
  })

  it('is paid by a payment of version 1', async () => {
    const toy = { kind: { scheme: 'exact', network: 'eip155:84532' } }
    const { route, execute } = await open({ toy })
    const { intent } = await route()
    const payload = { from: 'alice', nonce: randomUUID() }
    const written = { x402Version: 1, scheme: 'exact', network: 'base-sepolia', payload }
    expect(await execute(intent.id, written)).toMatchObject(completed)
  })

  it('answers a repeated execution its result, and pays once', async () => {
    const { route, execute } = await open()
    const { intent, paymentRequirements } = await route()
    const payload = payloadFor(paymentRequirements)
    const [first, second] = await Promise.all([execute(intent.id, payload), execute(intent.id, payload)])
    expect(first.status).toBe('completed')
    expect(second).toEqual(first)
    expect(await execute(intent.id, payload)).toEqual(first)
    expect(await listSettlements(intent.id)).toHaveLength(1)
  })

  it('is paid by exactly one of two payments at once', async () => {
    const { route, execute, statusOf } = await open()
    for (let round = 0; round < 5; round++) {
      const { intent, paymentRequirements } = await route()
      const outcomes = await Promise.allSettled(
        Array.from({ length: 4 }, () => execute(intent.id, payloadFor(paymentRequirements))),
      )
      const paid = outcomes.filter(({ status }) => status === 'fulfilled')
      expect(paid).toHaveLength(1)
      for (const outcome of outcomes) {
        if (outcome.status === 'rejected')
          expect(outcome.reason).toMatchObject({ code: 'INTENT_NOT_PENDING' })
      }
      expect(await statusOf(intent.id)).toBe('completed')
      expect(await listSettlements(intent.id)).toHaveLength(1)
    }
  })

  it('is not paid by the payment of another intent', async () => {
    const { route, execute, statusOf } = await open()
    const [first, second] = [await route(), await route()]
    const payload = payloadFor(first.paymentRequirements)
    const outcomes = await Promise.allSettled([
      execute(first.intent.id, payload),
      execute(second.intent.id, payload),
    ])
    expect(outcomes.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected'])
    const loser = outcomes[0]?.status === 'rejected' ? first : second
    expect(await refusalOf(execute(loser.intent.id, payload))).toBe('PAYMENT_REFUSED duplicate_settlement')
    expect(await statusOf(loser.intent.id)).toBe('routed')
  })

  it.each(['anonymous', '2f6f3c1e-6f0b-4a53-9b0e-0d6f7c9a1b11'])(
    'of %s is not paid by a payment that /settle took, also of the same caller, nor the other way round',
    async (account) => {
      const { route, execute, settle } = await open()
      const before = await route({}, account)
      const settled = payloadFor(before.paymentRequirements)
      expect(await settle(before.paymentRequirements, settled.payload, account)).toMatchObject({
        success: true,
      })
      expect(await refusalOf(execute(before.intent.id, settled, account))).toBe(
        'PAYMENT_REFUSED duplicate_settlement',
      )

      const executed = payloadFor(before.paymentRequirements)
      expect(await execute(before.intent.id, executed, account)).toMatchObject(completed)
      expect(await settle(before.paymentRequirements, executed.payload, account)).toMatchObject({
        success: false,
        errorReason: 'duplicate_settlement',
      })
    },
  )

  const otherNetwork = createToyScheme({ kind: { scheme: 'exact', network: 'toy:2' } })
  const direct = createToyScheme({ kind: { scheme: 'exact-direct', network: 'toy:1' } })

  it.each([
    ['another payer', { payload: { from: 'mallory', nonce: 'n-1' } }, 'payer_mismatch'],
    ['another network', { accepted: { network: 'toy:2' } }, 'network_mismatch'],
    ['another scheme', { accepted: { scheme: 'exact-direct' } }, 'unsupported_scheme'],
    ['another amount', { accepted: { amount: '9999' } }, 'accepted_requirements_mismatch'],
    ['another recipient', { accepted: { payTo: 'mallory' } }, 'accepted_requirements_mismatch'],
    ['another asset', { accepted: { asset: 'lead' } }, 'accepted_requirements_mismatch'],
  ])('refuses a payment of %s, and can be paid afterwards', async (_name, changes, reason) => {
    const { route, execute, statusOf } = await open({ schemes: [otherNetwork, direct] })
    const { intent, paymentRequirements } = await route({ targetNetwork: 'toy:1' })
    const { accepted = {}, ...rest } = { accepted: undefined, ...changes }
    const payload = { ...payloadFor({ ...paymentRequirements, ...accepted }), ...rest }
    // The first of two schemes is selected.
    expect(await refusalOf(execute(intent.id, payload))).toBe(`PAYMENT_REFUSED ${reason}`)
    expect(await statusOf(intent.id)).toBe('routed')
    expect(await execute(intent.id, payloadFor(paymentRequirements))).toMatchObject(completed)
  })

  it('is judged by its own requirements, whatever the body adds', async () => {
    const { route, execute } = await open()
    const { intent, paymentRequirements } = await route()
    const cheap = { ...paymentRequirements, amount: '1' }
    const forged = { ...payloadFor(cheap), paymentRequirements: cheap }
    expect(await rejectionOf(execute(intent.id, forged))).toMatchObject({
      reason: 'accepted_requirements_mismatch',
    })
  })

  it('that is refused before anything is sent can be paid with another payment', async () => {
    let isFunded = false
    const settle: ToySettle = async (...given) =>
      isFunded
        ? await sendAs('confirmed', 'tx-funded')(...given)
        : { state: 'failed', reason: 'insufficient_funds' }
    const { route, execute, statusOf } = await open({ toy: { settle } })
    const { intent, paymentRequirements } = await route()
    const payload = payloadFor(paymentRequirements)
    expect(await refusalOf(execute(intent.id, payload))).toBe('PAYMENT_REFUSED insufficient_funds')
    expect(await statusOf(intent.id)).toBe('routed')
    isFunded = true
    expect(await execute(intent.id, payload)).toMatchObject({ status: 'completed', transaction: 'tx-funded' })
  })

  it('fails when its payment is proven to have failed after it was sent', async () => {
    const settle: ToySettle = async (_payment, recorder) => {
      await recorder.record({ transaction: 'tx-failed', bytes: 'b' })
      return { state: 'failed', reason: 'transaction_failed', transaction: 'tx-failed' }
    }
    const { route, execute } = await open({ toy: { settle } })
    const { intent, paymentRequirements } = await route()
    const payload = payloadFor(paymentRequirements)
    const failed = await execute(intent.id, payload)
    expect(failed).toMatchObject({ status: 'failed', transaction: 'tx-failed' })
    expect(failed.intent).toMatchObject({ errorReason: 'transaction_failed' })
    expect(await execute(intent.id, payload)).toEqual(failed)
    expect(await refusalOf(execute(intent.id, payloadFor(paymentRequirements)))).toBe('INTENT_NOT_PENDING')
  })

  const pending = sendAs('pending')

  it('executes until the outcome is known, and then completes, also if nothing asks', async () => {
    const { route, execute, statusOf, reconcile, runJob } = await open({ toy: { settle: pending } })
    const { intent, paymentRequirements } = await route()
    const payload = payloadFor(paymentRequirements)
    expect(await execute(intent.id, payload)).toMatchObject({ status: 'executing', transaction: '' })
    expect(await refusalOf(execute(intent.id, payloadFor(paymentRequirements)))).toBe('INTENT_NOT_PENDING')
    await runJob('finishIntents')
    expect(await statusOf(intent.id)).toBe('executing')
    await reconcile()
    await runJob('finishIntents')
    expect(await statusOf(intent.id)).toBe('completed')
    expect(await execute(intent.id, payload)).toMatchObject(completed)
    expect(await listSettlements(intent.id)).toEqual([{ consumed_by: `intent:${intent.id}` }])
  })

  it('keeps the success of its payment from /settle of the same account', async () => {
    const account = randomUUID()
    const { route, execute, settle, statusOf, reconcile, runJob } = await open({ toy: { settle: pending } })
    const { intent, paymentRequirements } = await route({}, account)
    const payload = payloadFor(paymentRequirements)
    expect(await execute(intent.id, payload, account)).toMatchObject({ status: 'executing' })
    await reconcile()
    expect(await settle(paymentRequirements, payload.payload, account)).toMatchObject({
      success: false,
      errorReason: 'duplicate_settlement',
    })
    await runJob('finishIntents')
    expect(await statusOf(intent.id, account)).toBe('completed')
  })

  it('stays executing after its time is over, until the outcome is known', async () => {
    const { route, execute, statusOf, clock, runJob } = await open({ toy: { settle: pending } })
    const { intent, paymentRequirements } = await route({ expiresIn: 10 })
    const payload = payloadFor(paymentRequirements)
    await execute(intent.id, payload)
    await clock.advance(10_000)
    await runJob('expireIntents')
    expect(await statusOf(intent.id)).toBe('executing')
    expect(await execute(intent.id, payload)).toMatchObject({ status: 'executing' })
  })

  it('is not bound, and nothing is sent, if the process ends after the claim', async () => {
    let sent = 0
    const settle: ToySettle = async (...given) => {
      sent += 1
      return await sendAs('confirmed')(...given)
    }
    // The process stops between the claim and what follows.
    const crashing = await open({
      toy: { settle },
      watch: (journal) => ({
        ...journal,
        claim: async (...given) => {
          await journal.claim(...given)
          throw new Error('The process ended')
        },
      }),
    })
    const { intent, paymentRequirements } = await crashing.route()
    const payload = payloadFor(paymentRequirements)
    await crashing.execute(intent.id, payload).catch(() => undefined)
    expect(sent).toBe(0)
    expect(await crashing.statusOf(intent.id)).toBe('routed')
    await pool.query("update instances set seen_at = now() - interval '1 minute'")

    const { execute, statusOf } = await open({ toy: { settle } })
    expect(await execute(intent.id, payload)).toMatchObject(completed)
    expect(sent).toBe(1)
    expect(await statusOf(intent.id)).toBe('completed')
  })

  it('that was bound before the process ended can be paid again once the claim is abandoned', async () => {
    const { intent, paymentRequirements } = await bindAndDie()
    const { reconcile, runJob, execute, statusOf } = await open()
    await reconcile()
    await runJob('finishIntents')
    expect(await statusOf(intent.id)).toBe('routed')
    expect(await execute(intent.id, payloadFor(paymentRequirements))).toMatchObject(completed)
  })

  it('is not executed without a route, and with a named one it is selected first', async () => {
    const { create, execute, useCases } = await open()
    const { intent, recommendedRoute } = await create()
    const payload = payloadFor({
      ...{ scheme: 'exact', network: 'toy:1', amount: '10000', asset: 'gold', payTo: 'bob' },
      ...{ maxTimeoutSeconds: 300, extra: {} },
    })
    expect(await refusalOf(execute(intent.id, payload))).toBe('NO_ROUTE_SELECTED')
    expect(await refusalOf(execute(intent.id, payload, caller, 'route_none'))).toBe('NOT_FOUND')
    expect(await execute(intent.id, payload, caller, recommendedRoute?.id)).toMatchObject(completed)
    const call = { id: intent.id, caller, routeId: recommendedRoute?.id ?? '' }
    expect(await refusalOf(useCases.selectRoute(call))).toBe('INTENT_NOT_PENDING')
  })

  it('has routes for five minutes, and new ones after a refresh', async () => {
    const { route, execute, useCases, clock } = await open()
    const { intent, paymentRequirements, selectedRoute } = await route()
    await clock.advance(300_000)
    const payload = payloadFor(paymentRequirements)
    expect(await refusalOf(execute(intent.id, payload))).toBe('ROUTE_EXPIRED')
    const call = { id: intent.id, caller, routeId: selectedRoute.id }
    expect(await refusalOf(useCases.selectRoute(call))).toBe('ROUTE_EXPIRED')
    expect((await useCases.refreshIntent(call)).intent.status).toBe('routed')
    expect(await execute(intent.id, payload)).toMatchObject(completed)
  })

  it.each([
    ['below the amount that one host cannot confirm', 10_001n, 'routed'],
    ['at that amount', 10_000n, 'ROUTE_EXPIRED'],
    ['above that amount', 1n, 'ROUTE_EXPIRED'],
  ])('of which the route was planned before the limit is %s', async (_, limit, selected) => {
    let isLimited = false
    const toy = { network: { isTooLarge: (amount: bigint) => isLimited && amount >= limit } }
    const { create, execute, useCases, statusOf } = await open({ toy })
    const { intent, recommendedRoute } = await create()
    isLimited = true
    const call = { id: intent.id, caller, routeId: recommendedRoute?.id ?? '' }
    const answer = useCases.selectRoute(call).then(
      (routed) => routed.intent.status,
      (error: AppError) => error.code,
    )
    expect(await answer).toBe(selected)
    expect(await statusOf(intent.id)).toBe(selected === 'routed' ? 'routed' : 'pending')
    // What was paid is judged when it is executed.
    isLimited = false
    const { scheme = '', network = '', amount = '', asset = '', payTo = '' } = recommendedRoute ?? {}
    const payload = payloadFor({ scheme, network, amount, asset, payTo, maxTimeoutSeconds: 300, extra: {} })
    expect(await execute(intent.id, payload, caller, call.routeId)).toMatchObject(completed)
  })

  it('whose route vanished is pending again', async () => {
    let balance = 10_000n
    const { route, execute, useCases, clock } = await open({
      toy: { network: { balances: { read: async () => balance } } },
    })
    const { intent, paymentRequirements } = await route()
    balance = 0n
    await clock.advance(2_000)
    const after = await useCases.refreshIntent({ id: intent.id, caller })
    expect(after).toMatchObject({
      intent: { status: 'pending' },
      availableRoutes: [],
      recommendedRoute: null,
    })
    expect(after.unavailable).toMatchObject([{ reason: 'insufficient_balance' }])
    expect(await refusalOf(execute(intent.id, payloadFor(paymentRequirements)))).toBe('NO_ROUTE_SELECTED')
    expect((await useCases.getIntent({ id: intent.id, caller })).intent.selectedRoute).toBeUndefined()
  })

  it('is not paid after it was cancelled or expired', async () => {
    const { route, execute, useCases, clock, statusOf, runJob } = await open()
    const account = randomUUID()
    const cancelled = await route({}, account)
    const call = { id: cancelled.intent.id, caller: account, token: null }
    await useCases.cancelIntent(call)
    await useCases.cancelIntent(call)
    expect(
      await refusalOf(execute(cancelled.intent.id, payloadFor(cancelled.paymentRequirements), account)),
    ).toBe('INTENT_NOT_PENDING')

    const late = await route({ expiresIn: 10 })
    await clock.advance(10_000)
    expect(await statusOf(late.intent.id)).toBe('expired')
    const payload = payloadFor(late.paymentRequirements)
    expect(await refusalOf(execute(late.intent.id, payload))).toBe('INTENT_EXPIRED')
    await runJob('expireIntents')
    expect(await refusalOf(execute(late.intent.id, payload))).toBe('INTENT_EXPIRED')
  })

  it('of a payer who is the payee has no routes', async () => {
    const { create } = await open()
    expect(await create({ payee: 'alice' })).toMatchObject({
      availableRoutes: [],
      recommendedRoute: null,
      unavailable: [{ network: 'toy:1', reason: 'self_payment' }],
    })
  })

  describe('of an account', () => {
    const account = randomUUID()

    it('is visible to its keys only', async () => {
      const { route, execute, useCases } = await open()
      const { intent, paymentRequirements, selectedRoute } = await route({}, account)
      for (const foreign of ['anonymous', randomUUID()]) {
        const call = { id: intent.id, caller: foreign, routeId: selectedRoute.id, token: null }
        const { getIntent, selectRoute, cancelIntent, refreshIntent } = useCases
        for (const use of [getIntent, selectRoute, cancelIntent, refreshIntent]) {
          expect(await refusalOf(use(call))).toBe('NOT_FOUND')
        }
        expect(await refusalOf(execute(intent.id, payloadFor(paymentRequirements), foreign))).toBe(
          'NOT_FOUND',
        )
        expect((await useCases.listIntents({ caller: foreign, limit: 10 })).intents).not.toContainEqual(
          expect.objectContaining({ id: intent.id }),
        )
      }
      expect(await execute(intent.id, payloadFor(paymentRequirements), account)).toMatchObject(completed)
    })

    it('reports what becomes of it', async () => {
      const { route, execute, create, useCases, clock, runJob } = await open()
      const mine = randomUUID()
      const { intent, paymentRequirements } = await route({}, mine)
      await execute(intent.id, payloadFor(paymentRequirements), mine)
      expect((await listEvents(mine)).filter((line) => line.startsWith('intent'))).toEqual([
        'intent.created pending',
        'intent.routed routed',
        'intent.executing executing',
        'intent.completed completed',
      ])
      const theirs = randomUUID()
      const cancelled = await create({}, theirs)
      await useCases.cancelIntent({ id: cancelled.intent.id, caller: theirs, token: null })
      await create({ expiresIn: 10 }, theirs)
      await clock.advance(10_000)
      await runJob('expireIntents')
      await runJob('expireIntents')
      expect((await listEvents(theirs)).toSorted()).toEqual([
        'intent.cancelled cancelled',
        'intent.created pending',
        'intent.created pending',
        'intent.expired expired',
      ])
    })

    it('is listed, newest first, by status and page by page', async () => {
      const { create, useCases, clock } = await open()
      const mine = randomUUID()
      const ids: string[] = []
      for (let at = 0; at < 3; at++) {
        ids.unshift((await create({}, mine)).intent.id)
        await clock.advance(1_000)
      }
      await useCases.cancelIntent({ id: ids[1] ?? '', caller: mine, token: null })
      const first = await useCases.listIntents({ caller: mine, limit: 2 })
      const second = await useCases.listIntents({ caller: mine, limit: 2, cursor: first.nextCursor })
      expect(first.intents.map(({ id }) => id)).toEqual(ids.slice(0, 2))
      expect(second).toMatchObject({ intents: [{ id: ids[2] }] })
      expect(second.nextCursor).toBeUndefined()
      const cancelled = await useCases.listIntents({ caller: mine, limit: 10, status: 'cancelled' })
      expect(cancelled.intents.map(({ id }) => id)).toEqual([ids[1]])
      await clock.advance(3_600_000)
      expect(await useCases.listIntents({ caller: mine, limit: 10, status: 'pending' })).toEqual({
        intents: [],
      })
    })
  })

  it('is refused by the verification of its payment, and stays routed', async () => {
    const verify: Scheme['verify'] = async () => ({
      isValid: false,
      payer: 'alice',
      reason: 'invalid_exact_evm_payload_signature',
    })
    const { route, execute, statusOf } = await open({ toy: { verify } })
    const { intent, paymentRequirements } = await route()
    expect(await refusalOf(execute(intent.id, payloadFor(paymentRequirements)))).toBe(
      'PAYMENT_REFUSED invalid_exact_evm_payload_signature',
    )
    expect(await statusOf(intent.id)).toBe('routed')
  })

  describe('that the payer pays with a transfer of its own', () => {
    /** Finds one after the other; the last one again and again. */
    const openDirect = (...found: readonly LookUp[]) => openDirectBeside([], ...found)
    const openDirectBeside = async (schemes: readonly Scheme[], ...found: readonly LookUp[]) => {
      let balance = 50_000n
      const left = [...found]
      const lookUp = async (): Promise<LookUp> => {
        const next = left.length > 1 ? left.shift() : left[0]
        return next ?? { state: 'missing' }
      }
      const { chain } = createToyDirectChain({ lookUp, readBalance: async () => balance })
      const opened = await open({ direct: chain, schemes })
      const spend = () => {
        balance = 0n
      }
      const find = (...next: readonly LookUp[]) => void left.splice(0, left.length, ...next)
      return { ...opened, spend, find }
    }

    const transfer: DirectTransfer = { asset: 'gold', from: 'alice', to: 'bob', amount: 10_000n, memo: null }
    const createdAtMs = createManualClock().now().getTime()
    const includedAfter = (seconds: number): LookUp => ({
      state: 'successful',
      includedAt: new Date(createdAtMs + seconds * 1_000),
      transfers: [transfer],
    })
    const pending: LookUp = { state: 'pending' }
    const proofOf = (
      requirements: IntentRequirements,
      txHash = `tx-${randomUUID().replaceAll('-', '')}`,
    ) => ({
      x402Version: 2,
      accepted: requirements,
      payload: { txHash, from: 'alice', to: 'bob', amount: '10000' },
    })

    it.each([
      ['the routes were computed again', 0, 'refresh'],
      ['the routes expired', 400, null],
      ['the intent expired', 600 + 899, 'expire'],
    ] as const)('is completed although %s after the transfer', async (_name, seconds, event) => {
      const { routeDirect, execute, useCases, runJob, clock, spend, statusOf } = await openDirect(
        includedAfter(1),
      )
      const { intent, paymentRequirements, selectedRoute } = await routeDirect({ expiresIn: 600 })
      spend()
      await clock.advance(Math.max(seconds, 3) * 1_000)
      if (event === 'refresh') {
        const refreshed = await useCases.refreshIntent({ id: intent.id, caller })
        expect(refreshed.unavailable).toMatchObject([{ reason: 'insufficient_balance' }])
        expect(refreshed.intent).toMatchObject({ status: 'routed', paymentRequirements })
      }
      if (event === 'expire') await runJob('expireIntents')
      expect(await statusOf(intent.id)).toBe('routed')
      const payload = proofOf(paymentRequirements)
      expect(await execute(intent.id, payload, caller, selectedRoute.id)).toMatchObject({
        status: 'completed',
        transaction: payload.payload.txHash,
      })
    })

    it('expires 15 minutes later than it says, and is only executed from then on', async () => {
      const { routeDirect, execute, useCases, runJob, clock, statusOf } = await openDirect(includedAfter(1))
      const account = randomUUID()
      const { intent, paymentRequirements, selectedRoute } = await routeDirect({ expiresIn: 600 }, account)
      await clock.advance(600_000)
      const call = { id: intent.id, caller: account, routeId: selectedRoute.id, token: null }
      for (const change of [useCases.selectRoute, useCases.refreshIntent, useCases.cancelIntent]) {
        expect(await refusalOf(change(call))).toBe('INTENT_EXPIRED')
      }
      await clock.advance(900_000)
      await runJob('expireIntents')
      expect(await statusOf(intent.id, account)).toBe('expired')
      expect(await execute(intent.id, proofOf(paymentRequirements), account)).toMatchObject(completed)
    })

    const hour = 3_600
    it.each([
      ['at the last moment', [], hour + 900, 'completed'],
      ['a moment later', [], hour + 901, 'INTENT_EXPIRED'],
      ['not final at first, a moment later', [pending, pending], hour + 901, 'INTENT_EXPIRED'],
    ] as const)(
      'is completed hours after it expired by a transfer that was in time: %s',
      async (_, first, at, expected) => {
        const { routeDirect, execute, runJob, clock, statusOf } = await openDirect(
          ...first,
          includedAfter(at),
        )
        const { intent, paymentRequirements } = await routeDirect({ expiresIn: hour })
        await clock.advance(6 * hour * 1_000)
        await runJob('expireIntents')
        expect(await statusOf(intent.id)).toBe('expired')
        const answer = execute(intent.id, proofOf(paymentRequirements))
        if (expected === 'completed') expect(await answer).toMatchObject(completed)
        else expect(await refusalOf(answer)).toBe(expected)
        await runJob('expireIntents')
        expect(await statusOf(intent.id)).toBe(expected === 'completed' ? 'completed' : 'expired')
      },
    )

    describe('whose payee demands a memo', () => {
      it('has one preimage per route, whichever route was selected meanwhile', async () => {
        const { routeDirect, selectOther, useCases } = await open({
          direct: createToyDirectChain({ lookUp: async () => includedAfter(1) }).chain,
          demandsMemo: true,
        })
        const { intent, paymentRequirements, selectedRoute } = await routeDirect()
        const { memo, memoPreimage } = paymentRequirements.extra
        expect(memo).toBe(hashMemo(String(memoPreimage)))
        await selectOther(intent.id)
        const again = await useCases.selectRoute({ id: intent.id, caller, routeId: selectedRoute.id })
        expect(again.paymentRequirements).toEqual(paymentRequirements)
        const another = await routeDirect()
        expect(another.paymentRequirements.extra.memoPreimage).not.toBe(memoPreimage)
      })

      it('is completed by the transfer of a route that was replaced', async () => {
        let memo = ''
        const lookUp = async (): Promise<LookUp> => ({
          state: 'successful',
          includedAt: new Date(createdAtMs + 1_000),
          transfers: [{ ...transfer, memo }],
        })
        const { routeDirect, selectOther, execute, clock } = await open({
          direct: createToyDirectChain({ lookUp }).chain,
          demandsMemo: true,
        })
        const { intent, paymentRequirements, selectedRoute } = await routeDirect()
        memo = String(paymentRequirements.extra.memo)
        await selectOther(intent.id)
        await clock.advance(3_000)
        const executed = await execute(intent.id, proofOf(paymentRequirements), caller, selectedRoute.id)
        expect(executed).toMatchObject(completed)
      })

      it('keeps a preimage that an older version has drawn', async () => {
        const { routeDirect, useCases } = await open({
          direct: createToyDirectChain().chain,
          demandsMemo: true,
        })
        const { intent, selectedRoute } = await routeDirect()
        const drawn = 'f'.repeat(64)
        await pool.query(
          "update intents set selected = jsonb_set(selected::jsonb, '{requirements,extra,memoPreimage}', $2::jsonb) where id = $1",
          [intent.id, JSON.stringify(drawn)],
        )
        const again = await useCases.selectRoute({ id: intent.id, caller, routeId: selectedRoute.id })
        expect(again.paymentRequirements.extra).toMatchObject({
          memoPreimage: drawn,
          memo: hashMemo(drawn),
        })
      })
    })

    it('is completed by a transfer of the first hour in its last minute', async () => {
      const { routeDirect, execute, clock } = await openDirect(includedAfter(1))
      const { intent, paymentRequirements } = await routeDirect({ expiresIn: hour })
      await clock.advance((hour + 899) * 1_000)
      expect(await execute(intent.id, proofOf(paymentRequirements))).toMatchObject(completed)
    })

    it.each([
      [60, 'completed'],
      [61, 'INTENT_NOT_PENDING'],
    ])('cancelled after 60 s, and paid by a transfer after %d s: %s', async (at, expected) => {
      const { routeDirect, execute, useCases, clock, statusOf } = await openDirect(includedAfter(at))
      const account = randomUUID()
      const { intent, paymentRequirements } = await routeDirect({}, account)
      await clock.advance(60_000)
      await useCases.cancelIntent({ id: intent.id, caller: account, token: null })
      await clock.advance(7_200_000)
      const answer = execute(intent.id, proofOf(paymentRequirements), account)
      if (expected === 'completed') expect(await answer).toMatchObject(completed)
      else expect(await refusalOf(answer)).toBe(expected)
      expect(await statusOf(intent.id, account)).toBe(expected === 'completed' ? 'completed' : 'cancelled')
    })

    it('cancelled, stays so after a proof that turns out to be wrong, and is completed by the right one', async () => {
      const opened = await openDirect(pending, pending, { state: 'failed' })
      const { routeDirect, execute, useCases, clock, statusOf, find } = opened
      const account = randomUUID()
      const { intent, paymentRequirements } = await routeDirect({}, account)
      await clock.advance(60_000)
      const { closedAt } = (await useCases.cancelIntent({ id: intent.id, caller: account, token: null }))
        .intent
      await clock.advance(60_000)
      expect(await refusalOf(execute(intent.id, proofOf(paymentRequirements), account))).toBe(
        'PAYMENT_REFUSED transaction_failed',
      )
      expect((await useCases.getIntent({ id: intent.id, caller: account })).intent).toMatchObject({
        status: 'cancelled',
        closedAt,
      })
      find(includedAfter(1))
      await execute(intent.id, proofOf(paymentRequirements), account)
      expect(await statusOf(intent.id, account)).toBe('completed')
    })

    it('on a route that was selected before another one is completed after it expired', async () => {
      const { routeDirect, selectOther, execute, clock } = await openDirect(includedAfter(1))
      const { intent, paymentRequirements, selectedRoute } = await routeDirect({ expiresIn: 600 })
      await selectOther(intent.id)
      await clock.advance(hour * 1_000)
      expect(await execute(intent.id, proofOf(paymentRequirements), caller, selectedRoute.id)).toMatchObject(
        completed,
      )
    })

    it.each(['cancelled', 'expired', 'in its last minutes'] as const)(
      '%s keeps its route, whatever routes strangers who know its id name without a payment',
      async (ending) => {
        const { chain } = createToyDirectChain({
          network: 'toy:2',
          lookUp: async () => ({ state: 'missing' }),
        })
        const { useCases, create, execute, clock, find } = await openDirectBeside(
          [
            createExactDirectScheme(chain, {
              clock: createManualClock(),
              network: createDirectNetwork(chain),
            }),
          ],
          { state: 'missing' },
        )
        const { intent, availableRoutes, intentToken = null } = await create({ expiresIn: 600 })
        const [mine, other] = ['toy:1', 'toy:2'].map((network) =>
          availableRoutes.find((route) => route.network === network && route.scheme === 'exact-direct'),
        )
        const call = { id: intent.id, caller, token: intentToken }
        const selected = await useCases.selectRoute({ ...call, routeId: mine?.id ?? '' })
        await clock.advance(60_000)
        if (ending === 'cancelled') await useCases.cancelIntent(call)
        await clock.advance((ending === 'in its last minutes' ? 700 : hour) * 1_000)
        const foreign = { ...selected.paymentRequirements, network: 'toy:2' }
        await rejectionOf(execute(intent.id, proofOf(foreign), caller, other?.id))
        const after = (await useCases.getIntent(call)).intent
        expect(after.selectedRoute).toEqual(selected.selectedRoute)
        find(includedAfter(1))
        expect(await execute(intent.id, proofOf(selected.paymentRequirements))).toMatchObject(completed)
      },
    )

    it.each([
      ['found at once', [includedAfter(-61)]],
      ['not final at first', [pending, pending, includedAfter(-61)]],
    ] as const)('refuses a transfer of more than a minute before it: %s', async (_name, found) => {
      const { routeDirect, execute, statusOf, find } = await openDirect(...found)
      const { intent, paymentRequirements } = await routeDirect()
      const payload = proofOf(paymentRequirements)
      expect(await refusalOf(execute(intent.id, payload))).toBe('PAYMENT_REFUSED transaction_too_old')
      expect(await statusOf(intent.id)).toBe('routed')
      // Clocks of block producers may be behind.
      find(includedAfter(-59))
      expect(await execute(intent.id, proofOf(paymentRequirements))).toMatchObject(completed)
    })

    it('is not failed by a proof that turns out to be wrong', async () => {
      const { routeDirect, execute, useCases, find } = await openDirect(pending, pending, { state: 'failed' })
      const { intent, paymentRequirements } = await routeDirect()
      const wrong = execute(intent.id, proofOf(paymentRequirements))
      expect(await refusalOf(wrong)).toBe('PAYMENT_REFUSED transaction_failed')
      const after = (await useCases.getIntent({ id: intent.id, caller })).intent
      expect(after.status).toBe('routed')
      expect(after.settlementId).toBeUndefined()
      find(includedAfter(1))
      expect(await execute(intent.id, proofOf(paymentRequirements))).toMatchObject(completed)
    })
  })

  it('that was bound before the process ended is paid by a retry before anything else looked at it', async () => {
    const { intent, payload } = await bindAndDie()
    const { execute, statusOf } = await open()
    expect(await execute(intent.id, payload)).toMatchObject(completed)
    expect(await statusOf(intent.id)).toBe('completed')
    expect(await listSettlements(intent.id)).toHaveLength(1)
  })

  it('of no account charges no quota, also with the key of one', async () => {
    const charges: unknown[] = []
    const { route, useCases } = await open({
      watch: (journal) => ({
        ...journal,
        claim: async (claimed, quota) => {
          charges.push(quota)
          return await journal.claim(claimed)
        },
      }),
    })
    const tier = specificationTiers.table.builder
    if (tier === undefined) throw new Error('There is no such tier')
    const account = randomUUID()
    for (const by of [caller, account]) {
      const { intent, paymentRequirements } = await route({}, by)
      const paymentPayload = payloadFor(paymentRequirements)
      const quota = { accountId: account, tier }
      await useCases.executeIntent({ id: intent.id, caller: account, paymentPayload, quota })
    }
    expect(charges).toEqual([null, { customer: account, tier, at: expect.any(Date) }])
  })

  it('answers that its network cannot be read if the terms of its route do not arrive in time', async () => {
    let isHung = false
    const describeAsset: Scheme['describeAsset'] = async () =>
      isHung ? await new Promise<never>(() => undefined) : { asset: 'gold', decimals: 6, extra: {} }
    const { create, execute, useCases } = await open({ toy: { describeAsset }, deadlineMs: 500 })
    const { intent, recommendedRoute } = await create()
    const routeId = recommendedRoute?.id ?? ''
    isHung = true
    const unavailable = { code: 'SERVICE_UNAVAILABLE', retryAfterSeconds: 1 }
    expect(await rejectionOf(useCases.selectRoute({ id: intent.id, caller, routeId }))).toMatchObject(
      unavailable,
    )
    expect(await rejectionOf(execute(intent.id, {}, caller, routeId))).toMatchObject(unavailable)
  })

  describe('that is created under an Idempotency-Key', () => {
    const account = randomUUID()

    it.each([caller, account])('by %s is created once, and answered as it is now', async (by) => {
      const { createUnder, useCases } = await open()
      const { answer, isReplayed } = await createUnder('order-1', {}, by)
      expect(isReplayed).toBe(false)
      const { intentToken, ...shown } = answer
      expect(await createUnder('order-1', {}, by)).toEqual({ answer: shown, isReplayed: true })
      await useCases.cancelIntent({ id: answer.intent.id, caller: by, token: intentToken ?? null })
      expect(await createUnder('order-1', {}, by)).toMatchObject({
        answer: { intent: { id: answer.intent.id, status: 'cancelled' } },
      })
      const other = await createUnder('order-2', {}, by)
      expect(other.answer.intent.id).not.toBe(answer.intent.id)
    })

    it('is not cancelled by a stranger who repeats body and key', async () => {
      const { createUnder, useCases, statusOf } = await open()
      const { answer } = await createUnder('order-6')
      const repeated = await createUnder('order-6')
      const { id } = repeated.answer.intent
      for (const token of [null, 'qtn_intent_guess', repeated.answer.intentToken ?? null]) {
        for (const by of [caller, account]) {
          expect(await refusalOf(useCases.cancelIntent({ id, caller: by, token }))).toBe('FORBIDDEN')
        }
      }
      expect(await statusOf(id)).toBe('pending')
      await useCases.cancelIntent({ id, caller, token: answer.intentToken ?? null })
      expect(await statusOf(id)).toBe('cancelled')
    })

    it('has an id of its own in each installation, if it has no account', async () => {
      const ids: string[] = []
      for (let installation = 0; installation < 2; installation++) {
        const { createUnder } = await open()
        ids.push((await createUnder('order-7')).answer.intent.id)
        await emptyTables(pool, 'intents')
      }
      expect(new Set(ids).size).toBe(2)
    })

    it('is refused with another body, unless strangers share the key', async () => {
      const { createUnder } = await open()
      await createUnder('order-3', {}, account)
      expect(await refusalOf(createUnder('order-3', { amount: '1' }, account))).toBe('PAYLOAD_MISMATCH')
      await createUnder('order-3')
      expect((await createUnder('order-3', { amount: '1' })).isReplayed).toBe(false)
    })

    it('is created by a later request if the first one failed', async () => {
      const { createUnder } = await open({ toy: { network: { isAsset: (text) => text === 'gold' } } })
      expect(await refusalOf(createUnder('order-4', { asset: 'lead' }))).toBe('INVALID_REQUEST')
      expect(await refusalOf(createUnder('order-4', { asset: 'lead' }))).toBe('INVALID_REQUEST')
    })

    it('is refused while the first request is in progress', async () => {
      const { createUnder } = await open()
      const outcomes = await Promise.allSettled([createUnder('order-5'), createUnder('order-5')])
      expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'rejected'])
      expect(outcomes[1]).toMatchObject({ reason: { code: 'REQUEST_IN_PROGRESS' } })
    })
  })

  it('names its payer in any spelling of the network', async () => {
    const toy: ToyScript = {
      network: { normalizeAddress: (text) => text.toLowerCase() },
      verify: async (payment) =>
        toyAuthorized(payment, {
          payer: 'ALICE',
          settle: (recorder, options) => sendAs('confirmed')(payment, recorder, options),
        }),
    }
    const { route, execute } = await open({ toy })
    const { intent, paymentRequirements } = await route()
    expect(await execute(intent.id, payloadFor(paymentRequirements))).toMatchObject(completed)
  })
})
