import { startOfMonth } from '../../../protocol/tiers.js'

// Postgres text cannot contain NUL; it rejects the statement.
const nul = '\0'

export const hasNul = (text: string): boolean => text.includes(nul)

export const withoutNul = (text: string): string => text.replaceAll(nul, '')

/** `YYYY-MM-DD`, UTC. */
export const toDay = (at: Date): string => at.toISOString().slice(0, 10)

/** `YYYY-MM-01`, UTC. */
export const toMonth = (at: Date): string => toDay(startOfMonth(at))

/** Canonical form; Postgres rejects a comparison of a uuid with other text. */
export const uuidForm = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/
