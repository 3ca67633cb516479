import { describe, it } from 'vitest'
import { systemClock } from '../../../src/platform/clock.js'
import type { IdempotencyStore } from '../../../src/ports/idempotencyStore.js'
import type { SettlementJournal } from '../../../src/ports/settlementJournal.js'
import { createSchemeRegistry } from '../../../src/schemes/registry.js'
import { createConcurrencyLimits } from '../../../src/usecases/core/limits.js'
import { createSettleAuthorization } from '../../../src/usecases/core/settle/settleAuthorization.js'
import { createSettlePayment } from '../../../src/usecases/core/settle/settlePayment.js'
import type { HoldFunds } from '../../../src/usecases/core/verify/holdFunds.js'
import { createVerifyPayment } from '../../../src/usecases/core/verify/verifyPayment.js'
import { createMemoryJournal } from '../../support/memoryJournal.js'
import { createMemoryLogger } from '../../support/memoryLogger.js'
import { noSpendingLimits } from '../../support/noSpendingLimits.js'
import { createToyScheme, type ToyScript, toyBody } from '../../support/toyScheme.js'

/** A store that never responds. */
const silence = (): Promise<never> => new Promise(() => undefined)
// Longer than a test may take: what waits for it does not end.
const unreachableMs = 3_600_000
const lost = (): Promise<never> => Promise.reject(new Error('Connection terminated'))

const setup = ({
  scheme = {},
  journal = {},
  idempotency = {},
  holdFunds = async (_payment, verdict) => verdict,
}: {
  readonly scheme?: ToyScript
  readonly journal?: Partial<SettlementJournal>
  readonly idempotency?: Partial<IdempotencyStore>
  readonly holdFunds?: HoldFunds
}) => {
  const logger = createMemoryLogger()
  const registry = createSchemeRegistry([createToyScheme(scheme)])
  const kept: SettlementJournal = { ...createMemoryJournal(), ...journal }
  const settle = createSettlePayment({
    idempotency: {
      begin: async () => ({ state: 'started' }),
      isMismatch: async () => false,
      answer: async () => {},
      fail: async () => {},
      release: async () => {},
      forget: async () => {},
      purge: async () => {},
      ...idempotency,
    },
    settleAuthorization: createSettleAuthorization({
      holdFunds,
      registry,
      journal: kept,
      limits: noSpendingLimits,
      concurrency: createConcurrencyLimits({ settlesAtOncePerPayer: 0, settlesAtOncePerCaller: 0 }),
      clock: systemClock,
      logger,
      waitMs: unreachableMs,
    }),
    logger,
  })
  const verify = createVerifyPayment({
    holdFunds,
    registry,
    journal: kept,
    quotaGate: async () => null,
    logger,
    deadlineMs: unreachableMs,
  })
  const request = { body: toyBody(), caller: 'anonymous', quota: null }
  return {
    settle: async () => (await settle({ ...request, idempotencyKey: 'key-1' })).result,
    verify: () => verify({ ...request, isAwaited: () => true }),
  }
}

const unsent = { settle: () => Promise.reject(new Error('no node answers')) }
const undecided: ToyScript = {
  settle: async (_payment, recorder) => {
    await recorder.record({ transaction: 'tx-1', bytes: 'bytes' })
    return { state: 'pending', transaction: 'tx-1' }
  },
}

describe('a store that stops responding delays a decided response only briefly:', () => {
  it.concurrent('for a settled payment that is in the journal', async ({ expect }) => {
    const { settle } = setup({ idempotency: { answer: silence } })
    expect(await settle()).toMatchObject({ success: true, transaction: 'tx-1' })
  })

  it.concurrent('for a payment that may be in the journal', async ({ expect }) => {
    const { settle } = setup({ journal: { close: lost, find: silence }, idempotency: { release: silence } })
    expect(await settle()).toMatchObject({ errorReason: 'settlement_pending', transaction: 'tx-1' })
  })

  it.concurrent('for a pending payment', async ({ expect }) => {
    const { settle } = setup({ scheme: undecided, journal: { release: silence, find: silence } })
    expect(await settle()).toMatchObject({ errorReason: 'settlement_pending', transaction: 'tx-1' })
  })

  it.concurrent('for a payment that was never sent', async ({ expect }) => {
    const { settle } = setup({
      scheme: unsent,
      journal: { abandon: silence },
      idempotency: { forget: silence },
    })
    await expect(settle()).rejects.toMatchObject({ code: 'SETTLEMENT_FAILED' })
  })

  it.concurrent('for a payment that the chain refuses', async ({ expect }) => {
    const { verify } = setup({
      scheme: { verify: async () => ({ isValid: false, reason: 'insufficient_funds', payer: 'alice' }) },
      journal: { findOpen: silence },
    })
    await expect(verify()).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' })
  })
})

describe('the journal is asked about a verified payment', () => {
  const holding =
    (found: { readonly isUnclaimed?: true }): HoldFunds =>
    async (_payment, verdict) =>
      verdict.isValid ? { ...verdict, isHoldable: true, ...found } : verdict

  it.concurrent('unless its hold found no settlement', async ({ expect }) => {
    const { verify } = setup({ journal: { findOpen: silence }, holdFunds: holding({ isUnclaimed: true }) })
    expect(await verify()).toMatchObject({ isValid: true })
  })

  it.concurrent('where its hold found one, or did not look', async ({ expect }) => {
    const { verify } = setup({ journal: { findOpen: silence }, holdFunds: holding({}) })
    await expect(verify()).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' })
  })
})
