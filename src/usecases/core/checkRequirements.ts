import { AppError } from '../../errors.js'
import type { Payment } from '../../protocol/payment.js'
import type { Scheme } from '../../schemes/scheme.js'

/** Throws INVALID_REQUEST: malformed requirements are the mistake of the resource server, not of the payer. */
export const checkRequirements = ({ requirements, callerNetwork }: Payment, scheme: Scheme): void => {
  const { asset, payTo } = requirements
  for (const [field, text] of Object.entries({ asset, payTo })) {
    if (scheme.isAddress(text)) continue
    throw new AppError(
      'INVALID_REQUEST',
      `paymentRequirements.${field}: must be an address of ${callerNetwork}`,
    )
  }
}
