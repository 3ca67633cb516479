import type { Authorized } from '../../../schemes/scheme.js'
import { formatAddress } from '../encoding/address.js'
import type { SignedTransfer } from './decode.js'

/** What a transfer authorizes, with and without a chain. */
export const describeTransfer = (
  transfer: SignedTransfer,
  authorizationId: string,
): Omit<Authorized, 'details' | 'settle'> => ({
  isValid: true,
  payer: formatAddress(transfer.owner),
  authorizationId,
  authorizedAmount: transfer.value,
  amount: transfer.value,
  expiresAt: new Date(transfer.expiration),
})
