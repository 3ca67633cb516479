import type { Settlement } from '../../ports/settlementJournal.js'
import { readUint256 } from '../../protocol/amount.js'
import { type Fields, isFields, type JsonObject } from '../../protocol/fields.js'
import type { LookUpQuery } from './directChain.js'
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

/** Looks as far back as the age allows, also where `paidAfter` is later: what is not looked for would not be found. */
export const findSearchStart = (notBefore: Date, paidAfter: Date | null): Date =>
  paidAfter !== null && paidAfter < notBefore ? paidAfter : notBefore

export const findLater = (time: Date, other: Date | null): Date =>
  other !== null && other > time ? other : time

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
  const paidAfter = readTime(details.paidAfter)
  const paidBefore = readTime(details.paidBefore)
  const exactSince = readTime(details.exactSince)
  const bounds = { notBefore: findLater(paidAfter ?? notBefore, exactSince), notAfter: paidBefore }
  return {
    terms: { asset, from, to, amount, memo, isExact: exactSince !== null, ...bounds },
    maxAgeSeconds,
    paidAfter,
    paidBefore,
    exactSince,
    isLimited: details.isLimited === true,
    query: {
      transaction,
      asset,
      from,
      to,
      amount,
      notBefore: findSearchStart(notBefore, paidAfter),
      hints: isFields(hints) ? hints : {},
    },
  }
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
