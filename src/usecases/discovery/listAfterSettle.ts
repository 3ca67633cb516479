import { createHash } from 'node:crypto'
import { setNewest } from '../../concurrency/boundedMap.js'
import { withinDeadline, withSignal } from '../../concurrency/deadline.js'
import { type Declaration, findProblem, readDeclaration } from '../../extensions/bazaar/declaration.js'
import { checkRules, explainDeclaration } from '../../extensions/bazaar/explainDeclaration.js'
import { maxExtraLength } from '../../extensions/bazaar/recipients.js'
import type { PaymentExtension, SettledPayment } from '../../extensions/extension.js'
import type { Clock } from '../../ports/clock.js'
import type {
  DiscoveryCatalogue,
  ListedResource,
  ListedTerms,
  SchemaValidator,
} from '../../ports/discovery.js'
import { foldAddress } from '../../protocol/assetId.js'
import type { Fields, JsonObject } from '../../protocol/fields.js'
import type { Payment } from '../../protocol/payment.js'
import type { ListingQueue } from './listingQueue.js'
import { planRecord } from './planRecord.js'
import { settlementRules } from './resolveConflict.js'

interface ListAfterSettleDependencies {
  readonly catalogue: Pick<DiscoveryCatalogue, 'record'>
  readonly queue: ListingQueue
  readonly clock: Clock
  readonly allowsPrivateHosts: boolean
  /** Not the one of `POST /discovery/validate`: who explains declarations must not delay listings. */
  readonly schemaValidator: SchemaValidator
  readonly probesOwners: boolean
}

export interface SettledListing {
  /** For the settle answer, without waiting for anything. Null: the payment declares nothing. */
  readonly answer: JsonObject | null
  /** What the next settle answer says. Never rejects. */
  readonly outcome: Promise<JsonObject | null>
}

const turnMs = 10_000
const recordMs = 5_000
const maxOutcomes = 1_000
/** Who was too slow on a busy machine is checked again; each check costs a quarter of a second. */
const slowForMs = 600_000

/** What became of a settlement with the same text, payee and caller. */
interface Outcome {
  readonly answer: JsonObject
  /** Milliseconds since the epoch: until then the declaration is refused without being checked; null: it is valid. */
  readonly refusedUntilMs: number | null
}

export const createListAfterSettle = ({
  catalogue,
  queue,
  clock,
  allowsPrivateHosts,
  schemaValidator,
  probesOwners,
}: ListAfterSettleDependencies): ((settled: SettledPayment) => SettledListing) => {
  const outcomes = new Map<string, Outcome>()

  /** Null: `info` is valid against `schema`. */
  const judge = async (
    declaration: Declaration,
    owner: string,
    stopped: AbortSignal,
  ): Promise<Outcome | null> => {
    const { failed } = await withinDeadline({ milliseconds: turnMs, stopped }, (signal) =>
      explainDeclaration(declaration, { allowsPrivateHosts, schemaValidator }, { owner, signal }),
    )
    if (failed === null) return null
    const refusedUntilMs =
      failed.name === 'validation_time' ? clock.now().getTime() + slowForMs : Number.POSITIVE_INFINITY
    return { answer: reject(failed.name, failed.reason), refusedUntilMs }
  }

  const record = async (
    settlement: Parameters<typeof catalogue.record>[0],
    stopped: AbortSignal,
  ): Promise<Outcome> => {
    const { plan, id } = await withinDeadline({ milliseconds: recordMs, stopped }, (signal) =>
      withSignal(catalogue.record(settlement), signal),
    )
    if (plan.kind === 'pending') return toOutcome(wait('ownership_unproven'))
    if (plan.kind === 'refused') return toOutcome(reject(plan.rule, plan.reason))
    const resource = settlement.key.url
    return toOutcome({ status: 'success', listing: 'listed', resource, ...(id === null ? {} : { id }) })
  }

  const findRefusal = ({ answer, refusedUntilMs }: Outcome): JsonObject | null =>
    refusedUntilMs !== null && clock.now().getTime() < refusedUntilMs ? answer : null

  return (settled) => {
    const { payment, result, caller } = settled
    const declaration = readDeclaration(payment)
    if (declaration === null) return at(null)
    const schemaVerdict = { kind: 'valid' } as const
    const { failed, listing } = checkRules(declaration, { allowsPrivateHosts, schemaVerdict })
    if (failed !== null) return at(reject(failed.name, failed.reason))
    if (listing === null) return at(null)
    if (!result.success) return at(wait('settlement_pending'))

    const terms = readTerms(payment)
    const payTo = foldAddress(terms.payTo)
    const settledAt = clock.now()
    const accountId = caller === 'anonymous' ? null : caller
    const digest = digestOf(listing, [terms.network, payTo, accountId])
    const known = outcomes.get(digest)
    const refused = known === undefined ? null : findRefusal(known)
    if (refused !== null) return at(refused)
    const plan = planRecord({
      resource: listing,
      terms,
      accountId,
      settledAt,
      probesOwners,
    })
    const payer = result.payer === undefined ? payTo : foldAddress(result.payer)
    const { owner, holders } = readShares(settled)
    const outcome = queue.add({
      owner,
      holders,
      attempt: async (signal) => {
        const earlier = outcomes.get(digest)
        const repeated = earlier === undefined ? null : findRefusal(earlier)
        if (repeated !== null) return repeated
        const isValid = earlier?.refusedUntilMs === null
        const refusal = isValid ? null : await judge(declaration, owner, signal)
        const { key } = listing
        const recorded =
          refusal ??
          (await record(
            { key, network: terms.network, payer, payTo, claimant: owner, settledAt, plan },
            signal,
          ))
        setNewest(outcomes, digest, recorded, maxOutcomes)
        return recorded.answer
      },
    })
    if (outcome === null) return at(wait('catalogue_busy'))
    return {
      answer: known?.answer ?? wait('listing_queued'),
      outcome: outcome.then((answer) => answer ?? wait('catalogue_unavailable')),
    }
  }
}

export const createBazaarExtension = (
  listAfterSettle: (settled: SettledPayment) => SettledListing,
): PaymentExtension => ({
  keys: ['bazaar'],
  findProblem,
  onSettled: async (settled) => {
    const { answer } = listAfterSettle(settled)
    return answer === null ? null : { key: 'bazaar', answer }
  },
})

const at = (answer: JsonObject | null): SettledListing => ({ answer, outcome: Promise.resolve(answer) })

/** Not the origin of the resource: anyone can settle for it, and would fill the share of the shop. */
const readShares = ({ caller, requester }: SettledPayment) => {
  const { name, site } = requester ?? { name: caller, site: null }
  return { owner: site ?? name, holders: [`requester ${name}`, ...(site === null ? [] : [`site ${site}`])] }
}

const toOutcome = (answer: JsonObject): Outcome => ({ answer, refusedUntilMs: null })

const digestOf = (listing: ListedResource, parts: readonly (string | null)[]): string =>
  createHash('sha256')
    .update(JSON.stringify([listing, parts]))
    .digest('base64')

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
