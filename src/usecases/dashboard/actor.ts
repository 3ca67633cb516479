import type { Actor } from '../../ports/auditLog.js'

export const unknownActor: Actor = { actor: 'unknown', address: null }
