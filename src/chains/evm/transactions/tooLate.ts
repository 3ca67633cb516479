import { AppError } from '../../../errors.js'

/** A payment's turn would come too late: nothing was sent for it, and another network or a later time may do. */
export const settlementTooLate = (network: string, waitMs: number): AppError =>
  new AppError('SERVICE_UNAVAILABLE', `${network} cannot settle this payment in time`, {
    operationalCode: 'SVC-3002',
    retryAfterSeconds: Math.max(1, Math.ceil(waitMs / 1_000)),
  })
