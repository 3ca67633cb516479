import { AppError } from '../../../errors.js'
import type { Clock } from '../../../ports/clock.js'
import type { Logger } from '../../../ports/logger.js'
import { formatDecimal } from '../../../protocol/amount.js'
import { canonicalAsset } from '../../../protocol/assetId.js'
import type { Explanation } from '../../../protocol/explanations.js'
import { describeIssue } from '../../../protocol/fields.js'
import { canonicalNetwork } from '../../../protocol/network.js'
import { readReason } from '../../../protocol/reasons.js'
import type { RuleName } from '../../../protocol/rules/ruleNames.js'
import type { Comparison } from '../../../protocol/rules/rules.js'
import { payloadShape, type WirePaymentRequest, wirePaymentRequest } from '../../../protocol/wire.js'
import { normalizeWith } from '../../../schemes/spelling.js'
import type { CoreUseCases, ExplainRequest } from '../useCases.js'
import type { PreviewHold } from '../verify/holdFunds.js'
import {
  createPaymentJudge,
  type PaymentJudgeDependencies,
  type ReadRequest,
} from '../verify/paymentJudge.js'
import { withVerifyDeadline } from '../verify/verifyPayment.js'
import { readExpected, recordTrace, type TraceRecord } from './recordTrace.js'

interface ExplainPaymentDependencies extends PaymentJudgeDependencies {
  readonly previewHold: PreviewHold
  readonly clock: Clock
  readonly logger: Logger
  readonly deadlineMs: number
}

/** What /verify would answer, and its payer. */
type Verdict = Pick<Explanation, 'verdict' | 'reason' | 'errorCode' | 'payer'>

/**
 * Runs the verification that /verify runs, with a trace, so that both decide alike. It asks no quota, holds no funds,
 * promises no settlement, records nothing and sends nothing.
 */
export const createExplainPayment = (
  dependencies: ExplainPaymentDependencies,
): CoreUseCases['explainPayment'] => {
  const { previewHold, clock, logger, deadlineMs } = dependencies
  const paymentJudge = createPaymentJudge(dependencies)

  const judge = async (
    request: ReadRequest,
    asker: ExplainRequest & { readonly body: WirePaymentRequest },
    record: TraceRecord,
  ): Promise<Verdict> => {
    const { refused, payment } = request
    record.expect(['funds_free', 'settled_once'])
    if (refused !== undefined) {
      // The answer of /verify is known; the chain can only add to it.
      const judged = await paymentJudge.judge(request, asker, record).catch(() => null)
      return invalid({ ...refused, payer: judged?.payer ?? refused.payer })
    }
    const judged = await paymentJudge.judge(request, asker, record)
    const verdict = await previewHold(payment, judged, { caller: asker.caller, purpose: 'verify' })
    if (judged.isValid) record.note('funds_free', verdict.isValid ? null : verdict)
    const conclusion = await paymentJudge.conclude(request, verdict, asker)
    if (conclusion.bySettlement === true) record.noteSettlement('reason' in conclusion ? conclusion : null)
    else record.note('settled_once', null)
    if ('reason' in conclusion) return invalid(conclusion)
    noteAmount(record, 'authorized_amount', judged.isValid ? judged.authorizedAmount : null, request)
    return { verdict: 'valid', payer: conclusion.payer }
  }

  const explain = async (asker: ExplainRequest, record: TraceRecord): Promise<Verdict> => {
    record.expect(['request_form'])
    record.addFact('service_time', clock.now().toISOString())
    const parsed = wirePaymentRequest.safeParse(asker.body, { error: describeIssue })
    if (!parsed.success) {
      noteForm(record, parsed.error.issues)
      return { verdict: 'invalid', errorCode: 'INVALID_REQUEST' }
    }
    record.note('request_form', null)
    const body = parsed.data
    try {
      const read = paymentJudge.read(body, record)
      if ('reason' in read) {
        if (record.findFirstFailed() === 'payload_form') notePayload(record, body)
        return invalid(read)
      }
      noteAmount(record, 'required_amount', read.payment.requirements.amount, read)
      return await judge(read, { ...asker, body }, record)
    } catch (error) {
      if (!(error instanceof AppError) || error.code !== 'INVALID_REQUEST') throw error
      record.noteError(findThrower(error.message), error)
      return { verdict: 'invalid', errorCode: error.code }
    }
  }

  return async (asker) => {
    const record = recordTrace(asker.body)
    const verdict = await withVerifyDeadline(explain(asker, record), asker.isAwaited, deadlineMs).catch(
      (error: unknown): Verdict => {
        if (!asker.isAwaited() || !(error instanceof AppError)) throw error
        logger.warn({ error }, 'payment.unexplained')
        return { verdict: 'unknown', errorCode: error.code }
      },
    )
    // Every verdict has a rule that shows it.
    const reason = readReason(verdict.reason ?? null)
    if (reason !== null && record.findFirstFailed() === null) record.note('verification', reason)
    return { ...verdict, ...readKind(asker.body), rules: record.list(), facts: record.listFacts() }
  }
}

const invalid = ({
  reason,
  payer,
}: {
  readonly reason: string
  readonly payer?: string | null | undefined
}): Verdict => ({ verdict: 'invalid', reason, ...(payer == null ? {} : { payer }) })

const maxProblems = 20

/** Every mistake in the form, not only the first. */
const noteForm = (record: TraceRecord, issues: readonly Issue[]): void => {
  const [first] = issues
  const place = first === undefined || first.path.length === 0 ? '' : `${first.path.map(String).join('.')}: `
  record.noteError('request_form', {
    code: 'INVALID_REQUEST',
    message: `${place}${first?.message ?? 'has the wrong form'}`,
  })
  addOthers(record, 'request_form', issues)
}

/** The refusal names the first mistake of the payload only. */
const notePayload = (record: TraceRecord, { paymentPayload }: WirePaymentRequest): void => {
  const issues = payloadShape.safeParse(paymentPayload, { error: describeIssue }).error?.issues ?? []
  const placed = issues.map(({ path, message }) => ({ path: ['paymentPayload', ...path], message }))
  addOthers(record, 'payload_form', placed)
}

interface Issue {
  readonly path: readonly PropertyKey[]
  readonly message: string
}

const addOthers = (record: TraceRecord, name: RuleName, [, ...others]: readonly Issue[]): void => {
  const problems = others.slice(0, maxProblems).map(
    ({ path, message }): Comparison => ({
      ...(path.length === 0 ? {} : { path: path.map(String).join('.') }),
      expected: readExpected(message),
    }),
  )
  if (problems.length > 0) record.addProblems(name, problems)
}

/** Extensions and terms of the requirements throw; the message begins with the place. */
const findThrower = (message: string) =>
  /^payment(?:Payload|Requirements)\.extensions\./.test(message) ? 'extensions' : 'requirements_terms'

const noteAmount = (
  record: TraceRecord,
  fact: 'required_amount' | 'authorized_amount',
  amount: bigint | null,
  { scheme: { network }, payment: { requirements } }: ReadRequest,
): void => {
  if (amount === null) return
  const normal = (asset: string) => normalizeWith(network, canonicalAsset(network.id, asset))
  const token = network.listTokens().find(({ asset }) => normal(asset) === normal(requirements.asset))
  const units = `${amount} smallest units`
  record.addFact(
    fact,
    token === undefined
      ? units
      : `${formatDecimal({ digits: amount, scale: token.decimals })} ${token.symbol} (${units})`,
  )
}

/** Null names nothing: strangers' requests can have any form. */
const readKind = (body: unknown): Pick<Explanation, 'scheme' | 'network'> => {
  const requirements = wirePaymentRequest.shape.paymentRequirements.safeParse(
    typeof body === 'object' && body !== null && 'paymentRequirements' in body
      ? body.paymentRequirements
      : undefined,
  )
  if (!requirements.success) return {}
  const { scheme, network } = requirements.data
  return { scheme, network: canonicalNetwork(network) }
}
