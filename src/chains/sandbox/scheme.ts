import { withSignal } from '../../concurrency/deadline.js'
import type { Clock } from '../../ports/clock.js'
import type { SandboxScenarios } from '../../ports/sandbox.js'
import type { Settlement } from '../../ports/settlementJournal.js'
import type { Payment } from '../../protocol/payment.js'
import type { Network } from '../../schemes/network.js'
import type { OfflineScheme } from '../../schemes/offlineScheme.js'
import type {
  Authorized,
  Outcome,
  Refusal,
  Scheme,
  Verification,
  VerifyOptions,
} from '../../schemes/scheme.js'
import { readSettleAmount, type SettleAmount } from '../../schemes/settleAmount.js'
import { type Course, createTransactionHash, formatCourse, readCourse, resolveCourse } from './course.js'
import type { FixedPayer } from './fixedPayers.js'
import { createFindScript, identifyKeyless, listNamedPayers, type Scripted } from './payers.js'

interface SandboxDependencies {
  readonly offline: OfflineScheme
  readonly network: Network
  readonly fixed: readonly FixedPayer[]
  readonly scenarios: SandboxScenarios | undefined
  readonly clock: Clock
}

/** A scheme without a chain: scripts decide the payments of payers without keys, an offline reader all others. */
export const createSandboxScheme = (dependencies: SandboxDependencies): Scheme => {
  const { offline, fixed, scenarios, clock } = dependencies
  const { kind, describeAsset } = offline
  const { id: network, forms, signers } = offline.network
  const findScript = createFindScript({ network, fixed, scenarios, clock })
  const isFixed = (payer: string): boolean => fixed.some(({ address }) => address === payer)

  const identify = (payment: Payment): string | null => {
    const payers = listNamedPayers(payment, offline)
    const fixedPayer = payers.find(isFixed)
    if (fixedPayer !== undefined) return identifyKeyless(payment, fixedPayer, clock.now())
    const [payer] = payers
    return (
      offline.identify(payment) ?? (payer === undefined ? null : identifyKeyless(payment, payer, clock.now()))
    )
  }

  const authorize = (
    facts: Omit<Authorized, 'isValid' | 'details' | 'settle'>,
    course: Course,
  ): Authorized => ({
    isValid: true,
    ...facts,
    details: formatCourse(course),
    settle: async (recorder) => {
      const { authorizationId } = facts
      const bytes = createTransactionHash(authorizationId, recorder.settlementId)
      const transaction = forms.formatTransaction(bytes)
      await recorder.record({ transaction, bytes: `sandbox ${authorizationId}` })
      return decide(course, { transaction, atMs: course.sentAtMs, ...facts })
    },
  })

  const decide = (
    course: Course,
    {
      transaction,
      atMs,
      amount,
      authorizedAmount,
    }: Pick<Authorized, 'amount' | 'authorizedAmount'> & {
      readonly transaction: string
      readonly atMs: number | null
    },
  ): Outcome => {
    const outcome = resolveCourse(course, { transaction, network, blocks: forms.blocks, atMs })
    if (outcome.state !== 'confirmed') return outcome
    return {
      ...outcome,
      ...(amount === authorizedAmount ? {} : { settledAmount: amount }),
      ...(kind.scheme === 'upto' ? { gasUsed: uptoGas } : {}),
    }
  }

  const verifyScripted = async (
    payment: Payment,
    { payer, script, scenarioId, nowMs }: Scripted,
    { isAwaited, isForSettle = false, trace }: VerifyOptions,
  ): Promise<Verification> => {
    trace?.expect(['script', 'required_amount', 'charge'])
    await pass(script.delayMs, isAwaited)
    const refused = script.verifyRefusal ?? (isForSettle ? script.settleRefusal : null)
    trace?.note('script', refused)
    if (refused !== null) return { isValid: false, payer, reason: refused }
    const isNothing = kind.scheme === 'exact' && payment.requirements.amount === 0n
    trace?.note('required_amount', isNothing ? 'invalid_payment_amount' : null)
    if (isNothing) {
      return { isValid: false, payer, reason: 'invalid_payment_amount' }
    }
    const authorizedAmount = findMaximum(payment)
    const settled = readAmount(payment, isForSettle)
    trace?.note('charge', 'reason' in settled ? settled : null)
    if ('reason' in settled) return { isValid: false, payer, ...settled }
    return authorize(
      {
        payer,
        authorizationId: identify(payment) ?? identifyKeyless(payment, payer, clock.now()),
        authorizedAmount,
        amount: settled.amount,
        expiresAt: null,
      },
      { sentAtMs: nowMs, scenarioId, settle: script.settle, reorg: script.reorg },
    )
  }

  /** Ends early if the caller disconnected. */
  const pass = async (delayMs: number, isAwaited: () => boolean): Promise<void> => {
    for (let leftMs = delayMs; leftMs > 0; leftMs -= pollMs) {
      await clock.sleep(Math.min(leftMs, pollMs))
      if (!isAwaited()) throw new Error('The caller is gone')
    }
  }

  const readSigned = async (
    payment: Payment,
    { isForSettle = false, trace }: VerifyOptions,
  ): Promise<Authorized | Refusal> => {
    const now = clock.now()
    const reading = await offline.read(payment, { now, isForSettle, trace })
    if (!reading.isValid) return reading
    const { holds, isValid: _, ...facts } = reading
    return authorize(
      holds ? { ...facts, hold: { spender: signers[0] ?? '', balance: unlimited, allowance: null } } : facts,
      { sentAtMs: now.getTime(), scenarioId: null, settle: confirmedAtOnce, reorg: null },
    )
  }

  const readClock = async (scenarioId: string | null): Promise<number | null> =>
    scenarioId === null ? clock.now().getTime() : ((await scenarios?.find(scenarioId))?.clockMs ?? null)

  const resolve = async (settlement: Settlement): Promise<Outcome> => {
    const transaction = settlement.transaction ?? settlement.broadcasts.at(-1)?.transaction
    if (transaction === undefined) throw new Error('The settlement has no recorded transaction')
    const course = readCourse(settlement.details)
    return decide(course, { ...settlement, transaction, atMs: await readClock(course.scenarioId) })
  }

  return {
    kind,
    network: dependencies.network,
    describeKind: () => ({ extra: offline.extra, extensions: [] }),
    // There is no chain that knows which nonces are used.
    journalClaims: { publicProof: null },
    settledState: null,
    describeAsset,
    identify,
    verify: async (payment, options) => {
      const scripted = await findScript(listNamedPayers(payment, offline))
      return scripted === null
        ? await readSigned(payment, options)
        : await verifyScripted(payment, scripted, options)
    },
    resolve: (settlement, signal) => withSignal(resolve(settlement), signal),
  }
}

const pollMs = 100

/** About what a settlement by permit uses. */
const uptoGas = 112_233n

const unlimited = 2n ** 256n - 1n

const confirmedAtOnce = { failure: null, pendingSeconds: 0 } as const

/** Without a readable authorization, it is what the client accepted. */
const findMaximum = ({ requirements, acceptedAmount }: Payment): bigint =>
  requirements.scheme === 'upto' ? (acceptedAmount ?? requirements.amount) : requirements.amount

const readAmount = (payment: Payment, isForSettle: boolean): SettleAmount =>
  payment.requirements.scheme === 'upto'
    ? readSettleAmount(payment, {
        authorizedMaximum: findMaximum(payment),
        isForSettle,
        isRequiredAmountCharge: true,
      })
    : { amount: payment.requirements.amount }
