import { withTimeout } from '../../concurrency/deadline.js'
import { AppError } from '../../errors.js'
import type { PaymentExtension, SettledPayment } from '../../extensions/extension.js'
import type { Logger } from '../../ports/logger.js'
import type { Payment } from '../../protocol/payment.js'
import type { Reason } from '../../protocol/reasons.js'
import type { SettleResult } from '../../protocol/results.js'

export interface PaymentExtensions {
  /** For /supported. */
  readonly keys: readonly string[]
  /**
   * Why the payer's part is refused; null: no known extension is malformed. Throws INVALID_REQUEST for what the resource
   * server declares.
   */
  findRefusal(payment: Payment): ExtensionRefusal | null
  /** The result with what became of the extensions. Never throws: a settled payment is never worse for them. */
  describe(settled: SettledPayment): Promise<SettleResult>
}

interface ExtensionRefusal {
  readonly reason: Reason
  readonly message: string
}

// A settle waits for its extensions no longer than this.
const deadlineMs = 1_500

export const createPaymentExtensions = (
  extensions: readonly PaymentExtension[],
  logger: Logger,
): PaymentExtensions => ({
  keys: extensions.flatMap(({ keys }) => keys),

  findRefusal: (payment) => {
    if (!usesExtensions(payment)) return null
    for (const extension of extensions) {
      const problem = extension.findProblem(payment)
      if (problem === null) continue
      const { origin, path, message, reason = 'invalid_extension' } = problem
      const place = origin === 'requirements' ? 'paymentRequirements' : 'paymentPayload'
      const sentence = `${place}.extensions.${path}: ${message}`
      if (origin === 'requirements') throw new AppError('INVALID_REQUEST', sentence)
      return { reason, message: sentence }
    }
    return null
  },

  describe: async (settled) => {
    const { result } = settled
    if (!result.success && result.status !== 'pending') return result
    const answers: Record<string, Readonly<Record<string, unknown>>> = {}
    for (const { keys, onSettled } of extensions) {
      if (onSettled === undefined) continue
      try {
        const answer = await withTimeout(onSettled(settled), deadlineMs)
        if (answer !== null) answers[answer.key] = answer.answer
      } catch (error) {
        const { caller: account, requestId } = settled
        const { settlementId } = result
        const named = { settlementId, account, ...(requestId === undefined ? {} : { requestId }) }
        logger.error({ error, extension: keys[0], ...named }, 'extension.failed')
      }
    }
    return Object.keys(answers).length === 0 ? result : { ...result, extensions: answers }
  },
})

/** Most payments use none. */
const usesExtensions = ({ declaredExtensions, clientExtensions }: Payment): boolean =>
  Object.keys(declaredExtensions).length > 0 || Object.keys(clientExtensions).length > 0

export const noPaymentExtensions: PaymentExtensions = {
  keys: [],
  findRefusal: () => null,
  describe: async ({ result }) => result,
}
