import { AppError } from '../../../errors.js'
import type {
  IdempotencyState,
  IdempotencyStore,
  IdempotentRequest,
} from '../../../ports/idempotencyStore.js'
import type { Logger } from '../../../ports/logger.js'
import { describeReason, type Reason } from '../../../protocol/reasons.js'
import { withShortDeadline } from '../settle/settlementContext.js'

export interface KeyedRequest {
  readonly idempotent: IdempotentRequest
  /** In errors: `Idempotency-Key`, or the name of an extension. */
  readonly name: string
}

/**
 * `started`: the caller does the work, and ends the run in the store. Throws REQUEST_IN_PROGRESS, PAYLOAD_MISMATCH,
 * PREVIOUS_REQUEST_FAILED or IDEMPOTENCY_UNAVAILABLE.
 */
type BeginOncePerKey = (
  request: KeyedRequest,
) => Promise<Extract<IdempotencyState, { readonly state: 'started' | 'answered' }>>

const retryAfterSeconds = 2

export const createBeginOncePerKey = (idempotency: Pick<IdempotencyStore, 'begin'>): BeginOncePerKey => {
  const begin = async (idempotent: IdempotentRequest): Promise<IdempotencyState> => {
    try {
      return await idempotency.begin(idempotent)
    } catch (cause) {
      throw asUnavailable(cause)
    }
  }

  return async ({ idempotent, name }) => {
    const earlier = await begin(idempotent)
    switch (earlier.state) {
      case 'started':
      case 'answered':
        return earlier
      case 'running':
        throw new AppError('REQUEST_IN_PROGRESS', `A request with this ${name} is still in progress`, {
          retryAfterSeconds,
        })
      case 'mismatch':
        throw new AppError('PAYLOAD_MISMATCH', `This ${name} was used with another payload`)
      case 'failed':
        throw asPreviousFailure(name, earlier.reason)
    }
  }
}

export const asUnavailable = (cause: unknown): AppError =>
  new AppError('IDEMPOTENCY_UNAVAILABLE', 'The idempotency store did not answer', {
    cause,
    retryAfterSeconds,
  })

const asPreviousFailure = (name: string, reason: Reason | null): AppError => {
  const message = `The request with this ${name} failed permanently`
  if (reason === null) return new AppError('PREVIOUS_REQUEST_FAILED', message)
  return new AppError('PREVIOUS_REQUEST_FAILED', `${message}: ${describeReason(reason)}`, { reason })
}

/** Failures are logged only: what was done under the key is recorded, and a key that was not ended is taken over. */
export const createSaveKeyState =
  (logger: Logger) =>
  async (work: Promise<void>): Promise<void> => {
    try {
      await withShortDeadline(work)
    } catch (error) {
      logger.error({ error }, 'idempotency.write_failed')
    }
  }
