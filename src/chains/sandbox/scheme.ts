import { withSignal } from '../../concurrency/deadline.js'
import type { Clock } from '../../ports/clock.js'
import type { SandboxScenarios } from '../../ports/sandbox.js'
import type { Settlement } from '../../ports/settlementJournal.js'
import { type Fields, isFields, type JsonObject } from '../../protocol/fields.js'
import type { Payment } from '../../protocol/payment.js'
import type { Network } from '../../schemes/network.js'
import type { OfflineContract, OfflineScheme } from '../../schemes/offlineScheme.js'
import type {
  Authorized,
  Outcome,
  Refusal,
  Scheme,
  Verification,
  VerifyOptions,
} from '../../schemes/scheme.js'
import { readSettleAmount, type SettleAmount } from '../../schemes/settleAmount.js'
import { sharedOutcome } from '../../schemes/sharedOutcome.js'
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
  const { kind, describeAsset, contract, continues, channelStreams } = offline
  const { id: network, forms, signers } = offline.network
  const findScript = createFindScript({ network, fixed, scenarios, clock })
  const isFixed = (payer: string): boolean => fixed.some(({ address }) => address === payer)

  const identify = (payment: Payment): string | null => {
    if (contract !== undefined) return offline.identify(payment)
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
    { added = {}, prepare }: { readonly added?: JsonObject; readonly prepare?: () => Promise<void> } = {},
  ): Authorized => {
    const details = { ...formatCourse(course), ...added }
    return {
      isValid: true,
      ...facts,
      details,
      settle: async (recorder) => {
        await prepare?.()
        const { authorizationId } = facts
        const bytes = createTransactionHash(authorizationId, recorder.settlementId)
        const transaction = forms.formatTransaction(bytes)
        await recorder.record({ transaction, bytes: `sandbox ${authorizationId}` })
        return await decide(course, { transaction, atMs: course.sentAtMs, ...facts, details })
      },
    }
  }

  const decide = async (
    course: Course,
    {
      transaction,
      atMs,
      amount,
      authorizedAmount,
      details: { call },
    }: Pick<Authorized, 'amount' | 'authorizedAmount' | 'details'> & {
      readonly transaction: string
      readonly atMs: number | null
    },
  ): Promise<Outcome> => {
    const outcome = resolveCourse(course, { transaction, network, blocks: forms.blocks, atMs })
    if (outcome.state !== 'confirmed') return outcome
    const executed = contract === undefined ? {} : await contract.execute(toCall(call), transaction)
    if ('revertedAs' in executed) return { state: 'failed', reason: executed.revertedAs, transaction }
    const { amount: settledAmount = amount } = executed
    return {
      ...outcome,
      ...(settledAmount === authorizedAmount ? {} : { settledAmount }),
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
    { isForSettle = false, trace, requester }: VerifyOptions,
  ): Promise<Authorized | Refusal> => {
    const now = clock.now()
    const reading = await offline.read(payment, { now, isForSettle, trace })
    if (!reading.isValid) return reading
    const { holds, call, isShared = false, isValid: _, ...facts } = reading
    return authorize(
      holds ? { ...facts, hold: { spender: signers[0] ?? '', balance: unlimited, allowance: null } } : facts,
      { sentAtMs: now.getTime(), scenarioId: null, settle: confirmedAtOnce, reorg: null },
      {
        added: { ...(call === undefined ? {} : { call }), ...(isShared ? sharedOutcome : {}) },
        prepare: async () => await contract?.prepare(toCall(call), requester),
      },
    )
  }

  const refuseScripted = (
    { payer }: Scripted,
    { keyless }: OfflineContract,
    { trace }: VerifyOptions,
  ): Refusal => {
    trace?.expect(['script'])
    trace?.note('script', keyless)
    return { isValid: false, payer, ...keyless }
  }

  const readClock = async (scenarioId: string | null): Promise<number | null> =>
    scenarioId === null ? clock.now().getTime() : ((await scenarios?.find(scenarioId))?.clockMs ?? null)

  const resolve = async (settlement: Settlement): Promise<Outcome> => {
    const transaction = settlement.transaction ?? settlement.broadcasts.at(-1)?.transaction
    if (transaction === undefined) throw new Error('The settlement has no recorded transaction')
    const course = readCourse(settlement.details)
    return await decide(course, { ...settlement, transaction, atMs: await readClock(course.scenarioId) })
  }

  return {
    kind,
    network: dependencies.network,
    describeKind: () => ({ extra: offline.extra, extensions: [] }),
    // There is no chain that knows which nonces are used.
    journalClaims: { publicProof: null },
    settledState: contract?.settledState ?? null,
    describeAsset,
    identify,
    ...(continues === undefined ? {} : { continues }),
    ...(channelStreams === undefined ? {} : { channelStreams }),
    verify: async (payment, options) => {
      const scripted = await findScript(listNamedPayers(payment, offline))
      if (scripted === null) return await readSigned(payment, options)
      return contract === undefined
        ? await verifyScripted(payment, scripted, options)
        : refuseScripted(scripted, contract, options)
    },
    resolve: (settlement, signal) => withSignal(resolve(settlement), signal),
  }
}

const toCall = (call: unknown): Fields => {
  if (isFields(call)) return call
  throw new Error('The settlement has no call of its contract')
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
