import type { Settlement } from '../ports/settlementJournal.js'

/**
 * Of a row's `details`: the settlement pays for no delivery, such as a claim of vouchers. Every request for the same is answered
 * its success: a server that lost the first answer would send it again without end.
 */
export const sharedOutcome = { isShared: true } as const

export const hasSharedOutcome = ({ details }: Pick<Settlement, 'details'>): boolean =>
  details.isShared === true
