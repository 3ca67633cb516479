import { startOfMonth } from '../../../protocol/month.js'

/** `YYYY-MM-DD`, UTC. */
export const toDay = (at: Date): string => at.toISOString().slice(0, 10)

/** `YYYY-MM-01`, UTC. */
export const toMonth = (at: Date): string => toDay(startOfMonth(at))
