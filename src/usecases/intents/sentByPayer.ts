import type { Intent } from '../../ports/intentStore.js'
import type { IntentRoute } from '../../protocol/intents.js'

type Way = Pick<IntentRoute, 'scheme'>

/** Under `exact-direct` the payer sends the transfer itself: the funds have moved before the intent is executed. */
export const isSentByPayer = ({ scheme }: Way): boolean => scheme === 'exact-direct'

/** For transfers to become final, and for nodes to recover. */
const graceSeconds = 900

/** When an intent with this selected route expires: a transfer that was sent in time can still be executed later. */
export const findEnd = ({ expiresAt }: Pick<Intent, 'expiresAt'>, route: Way | null): Date =>
  route !== null && isSentByPayer(route) ? new Date(expiresAt.getTime() + graceSeconds * 1_000) : expiresAt
