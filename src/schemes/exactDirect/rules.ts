import type { Payment } from '../../protocol/payment.js'
import type { Reason } from '../../protocol/reasons.js'
import type { Rule, Trace } from '../../protocol/rules/rules.js'
import type { DirectChain } from './directChain.js'
import type { Inquiry } from './inquiry.js'
import type { Judgement } from './judge.js'
import type { DirectProof } from './payload.js'

export interface ReadProof {
  readonly proof: DirectProof
  readonly asset: string
}

/** Notes the transfer that the transaction must contain. Null: a settlement looks it up later. */
export const noteTransaction = (
  { query, terms }: Inquiry,
  judgement: Judgement | null,
  trace: Trace,
): void => {
  const { amount, asset, from, to } = terms
  trace.note('transaction', judgement === null || judgement.state === 'paid' ? null : judgement, {
    found: query.transaction,
    expected: `a final transaction with a transfer of ${amount} of ${asset} from ${from} to ${to}`,
  })
}

interface DirectCandidate extends ReadProof {
  readonly payment: Payment
}

/** Rules that need no look-up. */
export const createRules = (
  chain: DirectChain,
): readonly Rule<DirectCandidate, { readonly reason: Reason; readonly message?: string }>[] => [
  {
    name: 'named_asset',
    check: ({ payment, asset }) => {
      const claimed = chain.readClaimedAsset(payment.proof)
      if (claimed === 'invalid') {
        return { reason: 'invalid_payload_structure', message: 'payload: the asset is malformed' }
      }
      return claimed === null || claimed === asset ? null : { reason: 'asset_mismatch' }
    },
    compare: ({ payment, asset }) => ({
      found: chain.readClaimedAsset(payment.proof) ?? 'none, which is that of the requirements',
      expected: asset,
    }),
  },
  {
    name: 'recipient',
    check: ({ payment, proof }) =>
      proof.to === chain.readAddress(payment.requirements.payTo) ? null : { reason: 'recipient_mismatch' },
    compare: ({ payment, proof }) => ({
      path: 'paymentPayload.payload.to',
      found: proof.to,
      expected: payment.requirements.payTo,
    }),
  },
  {
    name: 'self_payment',
    check: ({ proof }) => (proof.from === proof.to ? { reason: 'self_payment' } : null),
    compare: ({ proof }) => ({
      path: 'paymentPayload.payload.from',
      found: proof.from,
      expected: `another account than ${proof.to}`,
    }),
  },
  {
    name: 'required_amount',
    check: ({ payment }) =>
      payment.requirements.amount === 0n ? { reason: 'invalid_payment_amount' } : null,
    compare: ({ payment }) => ({
      path: 'paymentRequirements.amount',
      found: payment.requirements.amount,
      expected: 'at least 1',
    }),
  },
]
