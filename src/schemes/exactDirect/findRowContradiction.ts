import type { Settlement } from '../../ports/settlementJournal.js'
import type { RowContradiction } from '../publicProof.js'
import { formatAuthorizationId } from './authorizationId.js'
import { type Inquiry, readDetails } from './details.js'
import type { DirectChain } from './directChain.js'

/**
 * No signature binds a row to its payment: what identifies the payment is recorded in the authorization id, in the columns
 * and in the details, and all must agree.
 */
export const findRowContradiction = (chain: DirectChain, settlement: Settlement): RowContradiction | null => {
  const inquiry = readInquiry(settlement)
  if (inquiry === null) {
    return {
      column: 'details',
      expected: 'those of a direct payment',
      actual: JSON.stringify(settlement.details),
    }
  }
  const { terms, query } = inquiry
  const { transaction } = query
  const { asset, payer, payTo, amount, authorizedAmount, settledAmount, expiresAt, broadcasts } = settlement
  const columns: readonly (readonly [column: string, expected: string, actual: string])[] = [
    ['asset', terms.asset, chain.readAsset(asset) ?? asset],
    ['payer', terms.from, payer],
    ['payTo', terms.to, chain.readAddress(payTo) ?? payTo],
    [
      'authorizationId',
      formatAuthorizationId(chain.network, { ...terms, transaction }),
      settlement.authorizationId,
    ],
    ['transaction', transaction, settlement.transaction ?? transaction],
    ...broadcasts.map((sent) => ['transactions', transaction, sent.transaction] as const),
    ['amount', `${expectAmount(settlement, inquiry)}`, `${amount}`],
    ['authorizedAmount', `${amount}`, `${authorizedAmount}`],
    ['settledAmount', `${amount}`, `${settledAmount ?? amount}`],
    ['expiresAt', 'none', expiresAt?.toISOString() ?? 'none'],
  ]
  const found = columns.find(([, expected, actual]) => expected !== actual)
  if (found === undefined) return null
  const [column, expected, actual] = found
  return { column, expected, actual }
}

/** What was claimed before the evidence was final, and what was limited, is the required amount; else at least that. */
const expectAmount = ({ amount, broadcasts }: Settlement, { terms, isLimited }: Inquiry): bigint =>
  broadcasts.length > 0 || isLimited || amount < terms.amount ? terms.amount : amount

const readInquiry = (settlement: Settlement): Inquiry | null => {
  try {
    return readDetails(settlement)
  } catch {
    return null
  }
}
