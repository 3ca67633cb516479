import { type Reason, reasons } from '../../protocol/reasons.js'

/* What a refused attempt says of a stream. */

/** Whether no other attempt with the same authorization can succeed. A node that lags behind its chain may say so wrongly. */
export const isLasting = (reason: Reason): boolean => reasons[reason].remedy === 'new_payment'

/** Whether a reason says that the funds, or the authorization, are gone. */
export const endangersFunds = (reason: Reason): boolean =>
  reasons[reason].remedy === 'fund_payer' || isLasting(reason) || isWithdrawn.has(reason)

const isWithdrawn: ReadonlySet<Reason> = new Set(['permit2_allowance_required', 'account_blocked'])
