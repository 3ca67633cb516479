import { withinDeadline } from '../../concurrency/deadline.js'
import type { Settlement, SettlementJournal } from '../../ports/settlementJournal.js'
import { foldAddress } from '../../protocol/assetId.js'
import type { ChainCheck, Difference } from '../../protocol/reconciliation.js'
import { findPublicProof, type PublicProof } from '../../schemes/publicProof.js'
import type { SchemeRegistry } from '../../schemes/registry.js'
import type { Outcome } from '../../schemes/scheme.js'

export interface ChainComparison {
  readonly check: ChainCheck
  readonly difference: Difference | null
}

/** Compares a settlement with the chain; reads only. Rejects if the chain does not answer. */
export type CompareWithChain = (settlement: Settlement, stopped: AbortSignal) => Promise<ChainComparison>

interface CompareWithChainDependencies {
  readonly registry: SchemeRegistry
  readonly journal: Pick<SettlementJournal, 'findOpen'>
  readonly deadlineMs: number
}

export const createCompareWithChain =
  ({ registry, journal, deadlineMs }: CompareWithChainDependencies): CompareWithChain =>
  async (settlement, stopped) => {
    const scheme = registry.find(settlement.scheme, settlement.network)
    const proof = scheme === null ? null : findPublicProof(scheme)
    const contradiction = proof === null ? null : proof.findRowContradiction(settlement)
    if (contradiction !== null) {
      const { column, expected, actual } = contradiction
      return differs(settlement, 'payment_differs', {
        message: `The row contradicts itself: ${column} is not what it records of the payment elsewhere`,
        expected: actual,
        actual: expected,
      })
    }
    if (settlement.state === 'claimed' || settlement.state === 'pending') return without('open')
    if (isUnsent(settlement, proof)) return without('unsent')
    if (scheme === null) return without('unavailable')
    // What the payer sent itself is recorded only while it is not final.
    if (settlement.broadcasts.length === 0 && scheme.journalClaims === null) {
      return differs(settlement, 'payment_missing', {
        message: 'The journal says that it is confirmed; it has no transaction that was sent',
        expected: settlement.transaction ?? '',
        actual: 'none',
      })
    }
    // Schemes find the payment by the signed bytes, which are dropped long after it is final.
    if (settlement.broadcasts.some(({ bytes }) => bytes === '')) return without('unproven')
    const outcome = await withinDeadline({ milliseconds: deadlineMs, stopped }, (signal) =>
      scheme.resolve(settlement, signal, { isReadOnly: true }),
    )
    if (outcome.state === 'pending') return without('unproven')
    if (settlement.state === 'confirmed') return judgeConfirmed(settlement, outcome)
    if (outcome.state === 'failed') return without('agrees')
    // A later settlement of the same authorization may have moved the funds.
    const successor = await journal.findOpen(settlement.authorizationId)
    if (successor?.state === 'confirmed' && successor.id !== settlement.id) return without('agrees')
    return differs(settlement, 'payment_unrecorded', {
      message: 'The journal says that it failed; the chain shows the payment',
      expected: 'failed',
      actual: outcome.transaction,
    })
  }

/** A direct payment was made before it was claimed: unless the claim was abandoned, the row names its transaction. */
const isUnsent = ({ state, broadcasts, transaction }: Settlement, proof: PublicProof | null): boolean =>
  state === 'failed' && broadcasts.length === 0 && (proof === null || transaction === null)

const without = (check: ChainCheck): ChainComparison => ({ check, difference: null })

const differs = (
  { id, network, caller }: Settlement,
  kind: Difference['kind'],
  found: Required<Pick<Difference, 'message' | 'expected' | 'actual'>>,
): ChainComparison => ({
  check: 'differs',
  difference: { kind, ...found, settlementId: id, network, accountId: caller },
})

const judgeConfirmed = (
  settlement: Settlement,
  outcome: Exclude<Outcome, { readonly state: 'pending' }>,
): ChainComparison => {
  if (outcome.state === 'failed') {
    return differs(settlement, 'payment_missing', {
      message: 'The journal says that it is confirmed; the chain proves that nothing moved',
      expected: settlement.transaction ?? '',
      actual: outcome.reason,
    })
  }
  const { settledAmount = settlement.amount, transaction, block } = outcome
  const isSameBlock =
    !settlement.isFinal ||
    settlement.block === null ||
    block === undefined ||
    settlement.block.hash === block.hash
  const expected = describe(settlement.settledAmount ?? settlement.amount, settlement.transaction ?? '')
  const actual = describe(settledAmount, transaction)
  if (expected === actual && isSameBlock) return without('agrees')
  return differs(settlement, 'payment_differs', {
    message: 'The chain shows another amount, transaction or block',
    expected: isSameBlock ? expected : `${expected} in ${settlement.block?.hash}`,
    actual: isSameBlock ? actual : `${actual} in ${block?.hash}`,
  })
}

/** Hex hashes are case-insensitive. */
const describe = (amount: bigint, transaction: string): string => `${amount} by ${foldAddress(transaction)}`
