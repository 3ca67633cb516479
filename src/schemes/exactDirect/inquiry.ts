import type { Settlement } from '../../ports/settlementJournal.js'
import { readUint256 } from '../../protocol/amount.js'
import { type Fields, isFields, type JsonObject } from '../../protocol/fields.js'
import type { RowContradiction } from '../publicProof.js'
import type { DirectChain, LookUpQuery } from './directChain.js'
import type { Terms } from './judge.js'

/** A look-up and what its result must be: all that a recorded settlement needs to be resolved. */
export interface Inquiry {
  readonly query: LookUpQuery
  readonly terms: Terms
  /** Age bound of the transaction when it is claimed. */
  readonly maxAgeSeconds: number
  /** Earliest and latest block time that are accepted, whatever the age; null: the age decides, and any. */
  readonly paidAfter: Date | null
  readonly paidBefore: Date | null
  /** Paid is exactly the amount, in no block before this time; null: at least the amount. */
  readonly exactSince: Date | null
  /** Only the required amount is credited, although more was paid. */
  readonly isLimited: boolean
}

/** What a payment asks, or what its row's details say; in normal forms. */
interface InquiryFacts extends Omit<Inquiry, 'query' | 'terms'> {
  readonly transaction: string
  readonly asset: string
  readonly from: string
  readonly to: string
  readonly amount: bigint
  readonly memo: string | null
  readonly hints: Fields
}

/** `notBefore`: the earliest block time by the age alone. */
export const createInquiry = (
  { transaction, asset, from, to, amount, memo, hints, ...bounds }: InquiryFacts,
  notBefore: Date,
): Inquiry => {
  const { paidAfter, paidBefore, exactSince } = bounds
  const earliest = paidAfter ?? notBefore
  return {
    ...bounds,
    terms: {
      asset,
      from,
      to,
      amount,
      memo,
      isExact: exactSince !== null,
      notBefore: exactSince !== null && exactSince > earliest ? exactSince : earliest,
      notAfter: paidBefore,
    },
    query: {
      transaction,
      asset,
      from,
      to,
      amount,
      // As far back as the age allows, also where `paidAfter` is later: what is not looked for would not be found.
      notBefore: paidAfter !== null && paidAfter < notBefore ? paidAfter : notBefore,
      hints,
    },
  }
}

// Between verification and claim.
const claimGraceMs = 60_000

const maxHints = 16
const maxHintLength = 200

export const toDetails = ({
  query,
  terms,
  maxAgeSeconds,
  paidAfter,
  paidBefore,
  exactSince,
  isLimited,
}: Inquiry): JsonObject => ({
  transaction: query.transaction,
  asset: terms.asset,
  from: terms.from,
  to: terms.to,
  amount: `${terms.amount}`,
  memo: terms.memo,
  maxAgeSeconds,
  ...(paidAfter === null ? {} : { paidAfter: paidAfter.toISOString() }),
  ...(paidBefore === null ? {} : { paidBefore: paidBefore.toISOString() }),
  ...(exactSince === null ? {} : { exactSince: exactSince.toISOString() }),
  ...(isLimited ? limited : {}),
  hints: Object.fromEntries(listHints(query.hints)),
})

/** Added to the details of a claim that credits only the required amount. */
export const limited = { isLimited: true } as const

export const readDetails = ({ id, details, createdAt }: Settlement): Inquiry => {
  const { transaction, asset, from, to, memo, maxAgeSeconds, hints } = details
  const amount = readUint256(details.amount)
  if (
    typeof transaction !== 'string' ||
    typeof asset !== 'string' ||
    typeof from !== 'string' ||
    typeof to !== 'string' ||
    (typeof memo !== 'string' && memo !== null) ||
    typeof maxAgeSeconds !== 'number' ||
    amount === null
  ) {
    throw new Error(`The details of settlement ${id} are not those of a direct payment`)
  }
  const notBefore = new Date(createdAt.getTime() - maxAgeSeconds * 1_000 - claimGraceMs)
  return createInquiry(
    {
      transaction,
      asset,
      from,
      to,
      amount,
      memo,
      maxAgeSeconds,
      paidAfter: readTime(details.paidAfter),
      paidBefore: readTime(details.paidBefore),
      exactSince: readTime(details.exactSince),
      isLimited: details.isLimited === true,
      hints: isFields(hints) ? hints : {},
    },
    notBefore,
  )
}

const readTime = (value: unknown): Date | null => (typeof value === 'string' ? new Date(value) : null)

/** Short texts and whole numbers only: the payload is untrusted and of any size. */
const listHints = (hints: Fields): readonly (readonly [string, string | number])[] =>
  Object.entries(hints)
    .flatMap(([name, value]): (readonly [string, string | number])[] => {
      if (name.length > maxHintLength || name.includes('\0')) return []
      if (typeof value === 'number') return Number.isSafeInteger(value) ? [[name, value]] : []
      if (typeof value !== 'string' || value.length > maxHintLength || value.includes('\0')) return []
      return [[name, value]]
    })
    .slice(0, maxHints)

/** It covers all transfers of one asset between two accounts in one transaction, in normal forms. */
export const formatAuthorizationId = (
  network: string,
  { transaction, asset, from, to }: Pick<Terms, 'asset' | 'from' | 'to'> & { readonly transaction: string },
): string => [network, transaction, asset, from, to].join('/')

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
