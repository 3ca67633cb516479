import { withSignal } from '../../concurrency/deadline.js'
import { type Declaration, readDeclaration } from '../../extensions/bazaar/declaration.js'
import { explainDeclaration } from '../../extensions/bazaar/explainDeclaration.js'
import { findProblem } from '../../extensions/bazaar/findProblem.js'
import type { PaymentExtension, SettledPayment } from '../../extensions/extension.js'
import { createFailureLog } from '../../failureLog.js'
import type { Clock } from '../../ports/clock.js'
import type { DiscoveryCatalogue, ListedTerms } from '../../ports/discoveryCatalogue.js'
import type { Logger } from '../../ports/logger.js'
import type { SchemaValidator } from '../../ports/schemaValidator.js'
import type { Fields } from '../../protocol/fields.js'
import { foldAddress } from '../../protocol/foldAddress.js'
import type { JsonObject } from '../../protocol/jsonObject.js'
import type { Payment } from '../../protocol/payment.js'
import { planRecord } from './planRecord.js'
import { settlementRules } from './settlementRules.js'

export interface ListAfterSettleDependencies {
  readonly catalogue: Pick<DiscoveryCatalogue, 'record'>
  readonly clock: Clock
  readonly logger: Logger
  readonly allowsPrivateHosts: boolean
  readonly schemaValidator: SchemaValidator
  readonly probesOwners: boolean
}

const deadlineMs = 1_000
/** Recordings at once: beyond this the database has more important work. */
const maxRecordings = 64
const maxExtraLength = 4_096

export const createBazaarExtension = ({
  catalogue,
  clock,
  logger,
  allowsPrivateHosts,
  schemaValidator,
  probesOwners,
}: ListAfterSettleDependencies): PaymentExtension => {
  const failures = createFailureLog({
    logger,
    event: 'discovery.record_failed',
    recovered: 'discovery.record_recovered',
  })
  let recordings = 0

  const list = async ({ payment, result, caller }: SettledPayment, declaration: Declaration) => {
    const explaining = explainDeclaration(declaration, { allowsPrivateHosts, schemaValidator })
    const { failed, listing } = await withSignal(explaining, AbortSignal.timeout(deadlineMs))
    if (failed !== null) return reject(failed.name, failed.reason)
    if (listing === null) return null
    if (!result.success) {
      return wait('settlement_pending')
    }
    if (recordings >= maxRecordings) return wait('catalogue_busy')
    const terms = readTerms(payment)
    const payTo = foldAddress(terms.payTo)
    const settledAt = clock.now()
    const accountId = caller === 'anonymous' ? null : caller
    recordings += 1
    const recording = catalogue
      .record({
        key: listing.key,
        network: terms.network,
        payer: result.payer === undefined ? payTo : foldAddress(result.payer),
        payTo,
        settledAt,
        plan: planRecord({
          resource: listing,
          terms,
          accountId,
          settledAt,
          url: declaration.resource ?? '',
          probesOwners,
        }),
      })
      .finally(() => {
        recordings -= 1
      })
    const { plan, id } = await withSignal(recording, AbortSignal.timeout(deadlineMs))
    failures.succeeded('catalogue')
    if (plan.kind === 'pending') return wait('ownership_unproven')
    if (plan.kind === 'refused') return reject(plan.rule, plan.reason)
    return { status: 'success', listing: 'listed', resource: listing.key.url, ...(id === null ? {} : { id }) }
  }

  return {
    keys: ['bazaar'],
    findProblem,
    onSettled: async (settled) => {
      try {
        const declaration = readDeclaration(settled.payment)
        if (declaration === null) return null
        const answer = await list(settled, declaration)
        return answer === null ? null : { key: 'bazaar', answer }
      } catch (error) {
        failures.failed('catalogue', { error })
        return { key: 'bazaar', answer: wait('catalogue_unavailable') }
      }
    },
  }
}

// `status`, `rejectedReason`, `reason` and `code` are the names that x402's clients read and log.
const reject = (rule: string, reason: string): JsonObject => ({
  status: 'rejected',
  listing: 'rejected',
  rule,
  code: rule,
  reason,
  rejectedReason: reason,
})

const wait = (rule: keyof typeof settlementRules): JsonObject => ({
  status: 'processing',
  listing: 'pending',
  rule,
  code: rule,
  reason: settlementRules[rule],
})

const readTerms = ({ requirements, acceptedAmount }: Payment): ListedTerms => ({
  scheme: requirements.scheme,
  network: requirements.network,
  // x402 puts the charge of `upto` in the place of the maximum.
  amount: String(acceptedAmount ?? requirements.amount),
  asset: requirements.asset,
  payTo: requirements.payTo,
  maxTimeoutSeconds: requirements.maxTimeoutSeconds,
  extra: boundExtra(requirements.extra),
})

const boundExtra = (extra: Fields): Fields => (JSON.stringify(extra).length > maxExtraLength ? {} : extra)
