import { AppError } from '../../errors.js'

/** No account of ours can pay on a network, or none is free in time: nothing can be said of a payment, and no payer is to blame. */
export const networkUnavailable = (network: string, cause?: unknown): AppError =>
  new AppError('SERVICE_UNAVAILABLE', `${network} is not settling at the moment`, {
    ...(cause === undefined ? {} : { cause }),
    operationalCode: 'SVC-4001',
    retryAfterSeconds: 10,
  })
