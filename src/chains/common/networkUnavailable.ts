import { AppError } from '../../errors.js'

/**
 * No account can pay, or none is free in time. Says nothing about the payment, so it is never a payer's
 * error.
 */
export const networkUnavailable = (network: string, cause?: unknown): AppError =>
  new AppError('SERVICE_UNAVAILABLE', `${network} is not settling at the moment`, {
    ...(cause === undefined ? {} : { cause }),
    operationalCode: 'SVC-4001',
    retryAfterSeconds: 10,
  })
