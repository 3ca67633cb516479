import type { AuditLog } from '../../ports/auditLog.js'
import type { DashboardUseCases } from './useCases.js'

/** Newest first. Another account's cursor gives an empty page. */
export const createReadAudit =
  (audit: Pick<AuditLog, 'list'>): DashboardUseCases['readAudit'] =>
  async ({ id: accountId }, { limit, cursor }) => {
    const found = await audit.list(accountId, { limit: limit + 1, before: cursor })
    const shown = found.slice(0, limit)
    const last = shown.at(-1)
    return {
      entries: shown.map(({ id, createdAt, action, actor, address, details }) => ({
        id,
        createdAt: createdAt.toISOString(),
        action,
        actor,
        address,
        details: { ...details },
      })),
      ...(found.length > limit && last !== undefined ? { nextCursor: last.id } : {}),
    }
  }
