import { createHash } from 'node:crypto'
import type {
  OfferedAmount,
  Purse,
  Recipient,
  RecipientStatement,
  UniqueAmounts,
} from '../../../ports/recipients.js'
import { canonicalAsset } from '../../../protocol/assetId.js'
import type { PaymentRequirements } from '../../../protocol/payment.js'
import type { Reason } from '../../../protocol/reasons.js'
import type { ClaimPolicy, PaymentDemands } from '../../../protocol/recipients.js'
import { findPublicProof } from '../../../schemes/publicProof.js'
import type { Scheme } from '../../../schemes/scheme.js'
import { normalizeWith } from '../../../schemes/spelling.js'

/** Null where the recipient has stated nothing. */
type FindStatement = (recipient: Recipient) => Promise<RecipientStatement | null>

interface ClaimAttempt {
  readonly requirements: Pick<PaymentRequirements, 'payTo' | 'asset' | 'amount' | 'extra'>
  /** Account id, or `anonymous`. */
  readonly caller: string
  /** False: nothing is consumed. */
  readonly isForSettle: boolean
}

type ClaimJudgement =
  | { readonly refusal: { readonly reason: Reason; readonly message: string } }
  /** Absent: none. */
  | { readonly demands?: PaymentDemands }

/**
 * Whether the caller may claim payments to a recipient, and what they must show. It depends on what the recipient stated
 * and on the instance, never on the request: a stranger writes requests of its own. Throws if the statement cannot be read.
 */
export interface ClaimRules {
  judge(scheme: Scheme, attempt: ClaimAttempt): Promise<ClaimJudgement>
  /** Whether the caller could claim what an intent of it pays. */
  admitsIntents(scheme: Scheme, intent: { readonly payTo: string; readonly caller: string }): Promise<boolean>
  /** Null also where the scheme needs no statements. */
  findStatement(scheme: Scheme, payTo: string): Promise<RecipientStatement | null>
}

/** For schemes whose payments carry a signature. */
export const noClaimRules: ClaimRules = {
  judge: async () => ({}),
  admitsIntents: async () => true,
  findStatement: async () => null,
}

interface ClaimRulesDependencies {
  readonly findStatement: FindStatement
  readonly uniqueAmounts: Pick<UniqueAmounts, 'find'>
  /** It applies to recipients without a statement. */
  readonly policy: ClaimPolicy
}

// Blocks of some networks carry the time at which the block before them was signed.
const blockTimeToleranceMs = 10_000

export const createClaimRules = ({
  findStatement,
  uniqueAmounts,
  policy,
}: ClaimRulesDependencies): ClaimRules => {
  const find = async (scheme: Scheme, payTo: string): Promise<RecipientStatement | null> => {
    if (findPublicProof(scheme) === null) return null
    return await findStatement({ network: scheme.kind.network, payTo: normalizeWith(scheme.network, payTo) })
  }

  const findForbidden = (
    statement: RecipientStatement | null,
    { caller, isForSettle }: Pick<ClaimAttempt, 'caller' | 'isForSettle'>,
  ): string | null => {
    if (statement === null) {
      return policy === 'keyed' && isForSettle && caller === 'anonymous' ? messages.keyed : null
    }
    return statement.demands.ownKey && caller !== statement.accountId ? messages.ownKey : null
  }

  return {
    judge: async (scheme, attempt) => {
      if (findPublicProof(scheme) === null) return {}
      const { requirements } = attempt
      const statement = await find(scheme, requirements.payTo)
      const forbidden = findForbidden(statement, attempt)
      if (forbidden !== null) return refuse('claim_not_permitted', forbidden)
      if (statement === null) return {}
      const { memo, signedClaim, uniqueAmount } = statement.demands
      if (!uniqueAmount) return { demands: { memo, signedClaim, exactSince: null } }
      const offer = await findOffer(uniqueAmounts, scheme, requirements)
      if (offer === null) return refuse('offer_unknown', messages.offer)
      const exactSince = new Date(offer.issuedAt.getTime() - blockTimeToleranceMs)
      return { demands: { memo, signedClaim, exactSince } }
    },

    admitsIntents: async (scheme, { payTo, caller }) => {
      const statement = await find(scheme, payTo)
      // The amount of an intent is fixed when it is created.
      if (statement?.demands.uniqueAmount === true) return false
      if (findPublicProof(scheme) === null) return true
      return findForbidden(statement, { caller, isForSettle: true }) === null
    },

    findStatement: find,
  }
}

const messages = {
  keyed: 'This instance lets only callers with an API key claim payments that clients make themselves',
  ownKey: 'The recipient has stated that only an API key of its own project can claim its payments',
  offer:
    'The recipient has stated that claims show extra.offer with its unique amount, as POST /accepts issued both',
} as const

const refuse = (reason: Reason, message: string): ClaimJudgement => ({ refusal: { reason, message } })

export const digestOffer = (offer: string): Buffer => createHash('sha256').update(offer).digest()

export const findPurse = (scheme: Scheme, payTo: string, asset: string): Purse => ({
  network: scheme.kind.network,
  payTo: normalizeWith(scheme.network, payTo),
  asset: normalizeWith(scheme.network, canonicalAsset(scheme.kind.network, asset)),
})

/** The offer that requirements carry; null if they carry none, or not this amount. */
const findOffer = async (
  uniqueAmounts: Pick<UniqueAmounts, 'find'>,
  scheme: Scheme,
  { payTo, asset, amount, extra }: Pick<PaymentRequirements, 'payTo' | 'asset' | 'amount' | 'extra'>,
): Promise<OfferedAmount | null> => {
  const { offer } = extra
  if (typeof offer !== 'string') return null
  return await uniqueAmounts.find({
    purse: findPurse(scheme, payTo, asset),
    amount,
    digest: digestOffer(offer),
  })
}
