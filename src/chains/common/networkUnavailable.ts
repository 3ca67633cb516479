import { AppError } from '../../errors.js'

/** No account is funded or free in time. Not caused by the payment, so never a payer's error. */
export const networkUnavailable = (network: string, cause?: unknown): AppError =>
  new AppError('SERVICE_UNAVAILABLE', `${network} is not settling at the moment`, {
    ...(cause === undefined ? {} : { cause }),
    operationalCode: 'SVC-4001',
    retryAfterSeconds: 10,
  })
