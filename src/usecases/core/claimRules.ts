import type { Recipient, RecipientStatement } from '../../ports/recipientStatements.js'
import type { Reason } from '../../protocol/reasons.js'
import type { ClaimPolicy, PaymentDemands } from '../../protocol/recipients.js'
import type { Scheme } from '../../schemes/scheme.js'
import { normalizeWith } from '../../schemes/spelling.js'

/** Null where the recipient has stated nothing. */
export type FindStatement = (recipient: Recipient) => Promise<RecipientStatement | null>

export interface ClaimAttempt {
  readonly payTo: string
  /** Account id, or `anonymous`. */
  readonly caller: string
  /** False: nothing is consumed. */
  readonly isForSettle: boolean
}

export type ClaimJudgement =
  | { readonly refusal: { readonly reason: Reason; readonly message: string } }
  /** Absent: none. */
  | { readonly demands?: PaymentDemands }

/**
 * Whether the caller may claim payments to a recipient, and what they must show. It depends on what the recipient stated
 * and on the instance, never on the request: a stranger writes requests of its own. Throws if the statement cannot be read.
 */
export interface ClaimRules {
  judge(scheme: Scheme, attempt: ClaimAttempt): Promise<ClaimJudgement>
  /** Null where the recipient has stated nothing, or the scheme needs no statements. */
  findDemands(scheme: Scheme, payTo: string): Promise<PaymentDemands | null>
}

/** For schemes whose payments carry a signature. */
export const noClaimRules: ClaimRules = {
  judge: async () => ({}),
  findDemands: async () => null,
}

export interface ClaimRulesDependencies {
  readonly findStatement: FindStatement
  /** Of recipients without a statement. */
  readonly policy: ClaimPolicy
}

export const createClaimRules = ({ findStatement, policy }: ClaimRulesDependencies): ClaimRules => {
  const find = async (scheme: Scheme, payTo: string): Promise<RecipientStatement | null> => {
    if (scheme.publicProof === undefined) return null
    return await findStatement({ network: scheme.kind.network, payTo: normalizeWith(scheme, payTo) })
  }
  return {
    judge: async (scheme, { payTo, caller, isForSettle }) => {
      if (scheme.publicProof === undefined) return {}
      const statement = await find(scheme, payTo)
      if (statement === null) {
        return policy === 'keyed' && isForSettle && caller === 'anonymous' ? refuse(messages.keyed) : {}
      }
      const { demands, accountId } = statement
      if (demands.ownKey && caller !== accountId) return refuse(messages.ownKey)
      return { demands }
    },
    findDemands: async (scheme, payTo) => (await find(scheme, payTo))?.demands ?? null,
  }
}

const messages = {
  keyed: 'This instance lets only callers with an API key claim payments that clients make themselves',
  ownKey: 'The recipient has stated that only an API key of its own project can claim its payments',
} as const

const refuse = (message: string): ClaimJudgement => ({ refusal: { reason: 'claim_not_permitted', message } })
