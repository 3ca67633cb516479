import { fitsTemplate, toResourceKey } from '../../extensions/bazaar/resourceKey.js'
import type {
  CatalogueEntry,
  ListedResource,
  ListedTerms,
  RecordPlan,
} from '../../ports/discoveryCatalogue.js'
import type { ChallengedRecipient, OwnerChallenge, ProbeAnswer } from '../../ports/ownerChallenges.js'
import type { ProbeMethod, ProbeTarget } from '../../ports/resourceProbe.js'
import { foldAddress } from '../../protocol/foldAddress.js'
import { refuse, settlementRules } from './settlementRules.js'

export interface ConflictingSettlement {
  readonly resource: ListedResource
  readonly terms: ListedTerms
  readonly settledAt: Date
  readonly url: string
  readonly probesOwners: boolean
}

/** `added`: the resource asks to pay the owner's recipients and this one; `moved`: only this one. */
export type ResolvedConflict =
  | Extract<RecordPlan, { readonly kind: 'refused' | 'pending' }>
  | { readonly kind: 'added' }
  | { readonly kind: 'moved' }

const hourMs = 3_600_000
const validMs = { named: 7 * 24 * hourMs, other: 24 * hourMs, unusable: hourMs } as const
/** After it no answer counts. */
export const longestValidMs = Math.max(...Object.values(validMs))

/** A settlement for a listed resource by another account to another recipient: decided by what the resource answered. */
export const resolveConflict = (
  settlement: ConflictingSettlement,
  { terms }: Pick<CatalogueEntry, 'terms'>,
  challenge: OwnerChallenge | null,
): ResolvedConflict => {
  const { resource, settledAt, probesOwners } = settlement
  if (!probesOwners) return refuse('claimed_by_another_payee')
  if (resource.type === 'mcp') {
    return refuse(
      'claimed_by_another_payee',
      `${settlementRules.claimed_by_another_payee} MCP servers are not asked whom they want paid.`,
    )
  }
  const target = findTarget(settlement)
  if (target === null) {
    return refuse(
      'ownership_unproven',
      'The resource is listed for another payee, and it is not asked: the URL of the settlement does not fit `routeTemplate`.',
    )
  }
  if (challenge !== null && challenge.answer === null) return ask(null)
  const answer = challenge?.answer ?? null
  const challenger = toRecipient(settlement.terms)
  if (answer === null || hasExpired(answer, challenger, settledAt)) return ask(target)
  if (answer.recipients === null) {
    return refuse(
      'ownership_unproven',
      `The resource is listed for another payee, and was asked whom it wants paid. ${answer.problem ?? ''} It is asked again by a settlement an hour later.`,
    )
  }
  if (!includes(answer.recipients, challenger)) {
    return refuse(
      'claimed_by_another_payee',
      'The resource is listed for another payee, and its 402 answer does not ask to pay the recipient of this settlement. It is asked again by a settlement a day later.',
    )
  }
  const { recipients } = answer
  return { kind: terms.some((each) => includes(recipients, toRecipient(each))) ? 'added' : 'moved' }
}

const ask = (target: ProbeTarget | null): ResolvedConflict => ({ kind: 'pending', target })

const hasExpired = (
  { recipients, answeredAt }: ProbeAnswer,
  challenger: ChallengedRecipient,
  at: Date,
): boolean => {
  const kind = recipients === null ? 'unusable' : includes(recipients, challenger) ? 'named' : 'other'
  return at.getTime() - answeredAt.getTime() >= validMs[kind]
}

const toRecipient = ({ network, payTo }: ListedTerms): ChallengedRecipient => ({
  network,
  payTo: foldAddress(payTo),
})

const includes = (
  recipients: readonly ChallengedRecipient[],
  { network, payTo }: ChallengedRecipient,
): boolean => recipients.some((each) => each.network === network && each.payTo === payTo)

/** A route template cannot be requested: the settlement's own URL is, where it fits the template. */
const findTarget = ({ resource, url: given }: ConflictingSettlement): ProbeTarget | null => {
  const { url } = toResourceKey(given, { routeTemplate: null, toolName: '' })
  return fitsTemplate(url, resource.key.url) ? { url, method: findMethod(resource.method) } : null
}

/** DELETE is never sent; HEAD has no body to read. */
const findMethod = (method: string | null): ProbeMethod =>
  method === 'POST' || method === 'PUT' || method === 'PATCH' ? method : 'GET'
