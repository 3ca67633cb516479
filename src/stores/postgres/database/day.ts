import { startOfMonth } from '../../../protocol/month.js'

/** A day as Postgres reads it, `YYYY-MM-DD`, UTC. */
export const toDay = (at: Date): string => at.toISOString().slice(0, 10)

/** The first day of a month as Postgres reads it. */
export const toMonth = (at: Date): string => toDay(startOfMonth(at))
