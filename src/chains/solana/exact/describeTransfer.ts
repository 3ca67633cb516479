import type { Authorized } from '../../../schemes/scheme.js'
import type { Prepared } from './prepare.js'

/** What a transfer authorizes, with and without a chain. */
export const describeTransfer = ({
  transfer,
  authorizationId,
}: Pick<Prepared, 'transfer' | 'authorizationId'>): Omit<Authorized, 'details' | 'settle'> => ({
  isValid: true,
  payer: transfer.authority,
  authorizationId,
  authorizedAmount: transfer.amount,
  amount: transfer.amount,
  // A blockhash expires after 150 blocks, independent of time.
  expiresAt: null,
})
