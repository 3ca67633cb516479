import { AppError } from '../../../errors.js'

/** No account of ours can pay the fee on a cluster: nothing can be said of a payment, and no payer is to blame. */
export const notSettling = (network: string): AppError =>
  new AppError('SERVICE_UNAVAILABLE', `${network} is not settling at the moment`, {
    operationalCode: 'SVC-4001',
    retryAfterSeconds: 10,
  })
