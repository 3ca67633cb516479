import type { Settlement } from '../ports/settlementJournal.js'

/**
 * Of a row's `details`: the settlement pays for no delivery, such as a claim of vouchers. Every request for the same is answered
 * its success: a server that lost the first answer would send it again without end.
 */
export const sharedOutcome = { isShared: true } as const

export const hasSharedOutcome = ({ details }: Pick<Settlement, 'details'>): boolean =>
  details.isShared === true

/**
 * The same is done once more where a reorg took it back, and moves no more than what is due: its success is consumed only when it
 * is final. Otherwise one that was answered, and has nothing to move after a reorg, would refuse every later one of its kind.
 */
export const repeatableOutcome = { ...sharedOutcome, isRepeatable: true } as const

/**
 * Where it fails, nothing has moved, and the chain still lets the same be done once: that its success was answered before a reorg must
 * not refuse it for good. Unlike a shared outcome, its success belongs to one request.
 */
export const renewableOutcome = { isRenewable: true } as const

/** What the row's `details` are where a request with this consumer asks for it first: its events name the request. */
export const withAsker = (details: Settlement['details'], consumer: string): Settlement['details'] =>
  hasRepeatableOutcome({ details }) ? { ...details, askedBy: consumer } : details

export const hasRepeatableOutcome = ({ details }: Pick<Settlement, 'details'>): boolean =>
  details.isRepeatable === true
