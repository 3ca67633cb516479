import type { Core } from '../../src/compose.js'
import { AppError } from '../../src/errors.js'
import type { Explanation } from '../../src/protocol/explanations.js'
import type { SettleResult, VerifyResult } from '../../src/protocol/results.js'
import { wirePaymentRequest } from '../../src/protocol/wire.js'
import type { SettleResponse } from '../../src/usecases/core/useCases.js'
import { pollUntil } from './pollUntil.js'

export interface CoreClient {
  readonly core: Core
  verify(body: unknown, caller?: string): Promise<VerifyResult>
  explain(body: unknown, caller?: string): Promise<Explanation>
  settle(body: unknown, caller?: string): Promise<SettleResult>
  settleWithKey(body: unknown, idempotencyKey: string, caller?: string): Promise<SettleResponse>
  /** One reconciler round. It finds no row owned by a request that a client of this process has an answer to. */
  reconcile(): Promise<void>
}

/** Calls of `settle`, by all clients of this process, that have no answer yet. */
const underWay = new Set<symbol>()
/** The calls that were under way when a settlement was answered as pending: one of them may own its row. */
const answeredAsPending = new Map<string, ReadonlySet<symbol>>()

const trackSettle = async <T>(settling: Promise<T>, resultOf: (answer: T) => SettleResult): Promise<T> => {
  const call = Symbol('settle')
  underWay.add(call)
  let answer: T
  try {
    answer = await settling
  } finally {
    underWay.delete(call)
  }
  const { errorReason, settlementId } = resultOf(answer)
  if (errorReason === 'settlement_pending' && settlementId !== undefined) {
    answeredAsPending.set(settlementId, new Set(underWay))
  }
  return answer
}

/** Null while the database is late: the limits of its pools are less than a busy machine needs. */
const readServed = async <T>(reading: Promise<T>): Promise<T | null> => {
  try {
    return await reading
  } catch (error) {
    if (error instanceof AppError && error.code === 'SERVICE_UNAVAILABLE') return null
    throw error
  }
}

/** An answer waits two seconds for the row to be released; on a slow database it is released later. */
const waitForReleases = async ({ useCases }: Core): Promise<void> => {
  if (answeredAsPending.size === 0) return
  const read = () => readServed(useCases.core.listSettlements({ status: 'pending', limit: 200 }))
  await pollUntil(
    async () => {
      const page = await read()
      if (page === null) return false
      const waiting = page.settlements.filter(({ id }) => answeredAsPending.has(id))
      const owned = waiting.filter(({ id, isOwned }) => {
        const others = answeredAsPending.get(id) ?? new Set()
        return isOwned && [...others].every((call) => !underWay.has(call))
      })
      // A later owner is a round of the reconciler.
      for (const { id, isOwned } of waiting) if (!isOwned) answeredAsPending.delete(id)
      return owned.length === 0
    },
    'the requests that were answered as pending to release their settlements',
    read,
  )
}

export const createCoreClient = (core: Core): CoreClient => {
  const { verifyPayment, explainPayment, settlePayment } = core.useCases.core
  const settleWithKey = (body: unknown, idempotencyKey: string | null, caller: string) =>
    trackSettle(
      settlePayment({ body: wirePaymentRequest.parse(body), caller, quota: null, idempotencyKey }),
      ({ result }) => result,
    )
  return {
    core,
    verify: (body, caller = 'anonymous') =>
      verifyPayment({
        body: wirePaymentRequest.parse(body),
        caller,
        quota: null,
        isAwaited: () => true,
      }),
    explain: (body, caller = 'anonymous') => explainPayment({ body, caller, isAwaited: () => true }),
    settle: async (body, caller = 'anonymous') => (await settleWithKey(body, null, caller)).result,
    settleWithKey: async (body, idempotencyKey, caller = 'anonymous') =>
      await settleWithKey(body, idempotencyKey, caller),
    reconcile: async () => {
      await waitForReleases(core)
      await core.reconcileSettlements()
    },
  }
}

type Rounds = Pick<CoreClient, 'core' | 'reconcile'>
type Asked = Pick<SettleResult, 'settlementId'>

/**
 * Repeats rounds until the settlement is not pending. One round can come before what the payment waits for: a send, a block,
 * or a view of it by the endpoint that is read from.
 */
export const reconcileUntilDecided = async (
  { core, reconcile }: Rounds,
  { settlementId = '' }: Asked,
  wanted = 'decided',
) => {
  const read = () => readServed(core.useCases.core.getSettlement(settlementId))
  return await pollUntil(
    async () => {
      await reconcile()
      const settlement = await read()
      return settlement?.status !== 'pending' && settlement
    },
    `the settlement to be ${wanted}`,
    read,
  )
}

/** Fails at once when the settlement is decided otherwise. */
export const reconcileUntil = async (client: Rounds, asked: Asked, status: 'confirmed' | 'failed') => {
  const decided = await reconcileUntilDecided(client, asked, status)
  if (decided.status !== status) throw new Error(`The settlement is ${decided.status}`)
  return decided
}
