import { type Fields, isFields } from '../protocol/fields.js'
import type { Payment } from '../protocol/payment.js'
import type { ExtensionProblem, PaymentExtension } from './extension.js'

/** x402: the client chooses an id. t402: the resource server chooses an id and an idempotency key. */
export const identifierKeys = { x402: 'payment-identifier', t402: 'paymentId' } as const

export interface PaymentIdentifier {
  /** Unique within its dialect and its merchant. */
  readonly dialect: keyof typeof identifierKeys
  readonly id: string
  /**
   * Whether the resource server's own requirements declare the extension: then it expects replays. What only the payload
   * has is the client's word, which must not earn a second success.
   */
  readonly isDeclared: boolean
}

/** Null if the payment has none. The extension was checked before. */
export const readPaymentIdentifier = (payment: Payment): PaymentIdentifier | null => {
  const { declared, sent } = readInfos(payment, identifierKeys.x402)
  const id = sent.id ?? declared.id
  if (typeof id === 'string') {
    const isDeclared = identifierKeys.x402 in payment.declaredExtensions
    return { dialect: 'x402', id, isDeclared }
  }
  const t402 = readInfos(payment, identifierKeys.t402)
  // `id` alone only correlates: the specification gives idempotency to the key.
  const key = t402.declared.idempotencyKey ?? t402.sent.idempotencyKey
  if (typeof key !== 'string') return null
  return { dialect: 't402', id: key, isDeclared: t402.declared.idempotencyKey === key }
}

export const paymentIdentifierExtension: PaymentExtension = {
  keys: Object.values(identifierKeys),
  findProblem: (payment) => findX402Problem(payment) ?? findT402Problem(payment),
}

const x402Id = /^[a-zA-Z0-9_-]{16,128}$/
const maxText = 256

const findX402Problem = (payment: Payment): ExtensionProblem | null => {
  const key = identifierKeys.x402
  const rules = (info: Fields) => {
    if (info.required !== undefined && typeof info.required !== 'boolean')
      return ['required', 'must be true or false']
    if (info.id !== undefined && !(typeof info.id === 'string' && x402Id.test(info.id)))
      return ['id', 'must be 16 to 128 letters, digits, hyphens and underscores']
    return null
  }
  const problem = findProblemIn(payment, key, rules)
  if (problem !== null) return problem
  const { declared, sent } = readInfos(payment, key)
  const isRequired = declared.required === true || sent.required === true
  return isRequired && sent.id === undefined && declared.id === undefined
    ? {
        origin: 'payload',
        path: `${key}.info.id`,
        message: 'is required by the resource server',
        reason: 'payment_identifier_required',
      }
    : null
}

const findT402Problem = (payment: Payment): ExtensionProblem | null => {
  const key = identifierKeys.t402
  const rules = (info: Fields) => {
    if (!isText(info.id)) return ['id', `must be a text of 1 to ${maxText} characters`]
    const other = ['idempotencyKey', 'groupId', 'clientId'].find(
      (field) => info[field] !== undefined && !isText(info[field]),
    )
    return other === undefined ? null : [other, `must be a text of 1 to ${maxText} characters`]
  }
  const problem = findProblemIn(payment, key, rules)
  if (problem !== null) return problem
  const { declared, sent } = readInfos(payment, key)
  const changed = ['id', 'idempotencyKey'].find(
    (field) => declared[field] !== undefined && sent[field] !== undefined && declared[field] !== sent[field],
  )
  return changed === undefined
    ? null
    : { origin: 'payload', path: `${key}.info.${changed}`, message: 'differs from the declared one' }
}

const isText = (value: unknown): boolean =>
  typeof value === 'string' && value.length > 0 && value.length <= maxText && !value.includes('\0')

/** Field and sentence; null: the info is well formed. */
type FindFault = (info: Fields) => readonly string[] | null

const findProblemIn = (
  { declaredExtensions, clientExtensions }: Payment,
  key: string,
  findFault: FindFault,
): ExtensionProblem | null => {
  const sources = [
    ['requirements', declaredExtensions[key]],
    ['payload', clientExtensions[key]],
  ] as const
  for (const [origin, extension] of sources) {
    if (extension === undefined) continue
    if (!isFields(extension)) return { origin, path: key, message: 'must be an object' }
    if (!isFields(extension.info)) return { origin, path: `${key}.info`, message: 'must be an object' }
    const fault = findFault(extension.info)
    if (fault !== null) {
      const [field, message = ''] = fault
      return { origin, path: `${key}.info.${field}`, message }
    }
  }
  return null
}

const readInfos = ({ declaredExtensions, clientExtensions }: Payment, key: string) => ({
  declared: readInfo(declaredExtensions[key]),
  sent: readInfo(clientExtensions[key]),
})

const readInfo = (extension: unknown): Fields =>
  isFields(extension) && isFields(extension.info) ? extension.info : {}
