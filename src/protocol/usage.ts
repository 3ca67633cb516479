import { type Decimal, decimalOf, formatDecimal, isEqual, multiply, readDecimal } from './amount.js'
import type { Payment, UsageDetails } from './payment.js'

/** What is charged for the usage, and its bounds, in smallest units. */
interface Charge {
  readonly amount: bigint
  readonly maximum: bigint
  readonly minimum: bigint
}

type Extra = Payment['requirements']['extra']

/** The scheme `upto` charges by them. */
const billingUnits = ['token', 'request', 'second', 'minute', 'byte', 'kb', 'mb'] as const

/** A sentence if `extra.unit` of requirements under `upto` is no billing unit; null if it is one, or absent. */
export const findUnitProblem = (scheme: string, { unit }: Extra): string | null =>
  scheme !== 'upto' || unit == null || billingUnits.some((each) => each === unit)
    ? null
    : `extra.unit: must be one of ${billingUnits.join(', ')}`

/**
 * A sentence for the answer to a settlement, which neither usage nor unit ever refuse: the service was rendered. Only the
 * scheme `upto` charges for usage.
 */
export const findUsageWarning = ({
  requirements,
  settleAmount,
  acceptedAmount,
  usageDetails,
}: Payment): string | null => {
  if (requirements.scheme !== 'upto') return null
  const { amount, minAmount, extra } = requirements
  const unitProblem = findUnitProblem(requirements.scheme, extra)
  if (unitProblem !== null) return unitProblem
  if (usageDetails === null) return null
  return findUsageProblem(usageDetails, extra, {
    amount: settleAmount ?? amount,
    // Without `settleAmount`, `amount` is the charge, and what the client accepted is the maximum.
    maximum: settleAmount === null ? (acceptedAmount ?? amount) : amount,
    minimum: minAmount ?? 0n,
  })
}

/**
 * Null if the usage agrees with the charge and with the requirements, or does not say enough. The product of units and
 * price may differ from the charge by 1 % or by one smallest unit, whichever is more.
 */
export const findUsageProblem = (usage: UsageDetails, extra: Extra, charge: Charge): string | null => {
  const { unitsConsumed, unitPrice, unitType, startTime, endTime } = usage
  if (startTime !== undefined && endTime !== undefined && endTime < startTime) {
    return `usageDetails.endTime ${endTime} is before startTime ${startTime}`
  }
  if (unitType !== undefined && typeof extra.unit === 'string' && unitType !== extra.unit) {
    return `usageDetails.unitType differs from extra.unit (${quote(extra.unit)})`
  }

  const required = typeof extra.unitPrice === 'string' ? readDecimal(extra.unitPrice) : null
  const stated = unitPrice === undefined ? null : readDecimal(unitPrice)
  if (unitPrice !== undefined && stated === null) {
    return 'usageDetails.unitPrice: must be smallest units, as decimal digits with an optional fraction'
  }
  if (stated !== null && required !== null && !isEqual(stated, required)) {
    const figures = `${formatDecimal(stated)} differs from extra.unitPrice ${formatDecimal(required)}`
    return `usageDetails.unitPrice ${figures}`
  }

  const price = stated ?? required
  const units = unitsConsumed === undefined ? null : decimalOf(unitsConsumed)
  if (price === null || units === null) return null
  const product = multiply(units, price)
  if (isCharge(product, charge)) return null
  const computed = `${shorten(units)} units at ${shorten(price)} are ${shorten(product)}`
  return `usageDetails: ${computed}, and ${charge.amount} is to be settled`
}

const isCharge = (product: Decimal, { amount, maximum, minimum }: Charge): boolean => {
  const one = 10n ** BigInt(product.scale)
  if (product.digits > maximum * one && amount === maximum) return true
  if (product.digits < minimum * one && amount === minimum) return true
  const difference = amount * one - product.digits
  const distance = difference < 0n ? -difference : difference
  return distance <= one || distance * 100n <= product.digits
}

/** Doubles reach 10^308, which no message needs in full. */
const shorten = (value: Decimal): string => {
  const text = formatDecimal(value)
  return text.length <= 80 ? text : `${text.slice(0, 77)}...`
}

/** Untrusted text is repeated only if it is short and plain. */
const quote = (text: string): string => (/^[\w-]{1,32}$/.test(text) ? text : 'another text')
