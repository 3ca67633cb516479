import type { AuditLog } from '../../ports/auditLog.js'
import { readPage } from '../readPage.js'
import type { DashboardUseCases } from './useCases.js'

/** Newest first. Another account's cursor gives an empty page. */
export const createReadAudit =
  (audit: Pick<AuditLog, 'list'>): DashboardUseCases['readAudit'] =>
  async ({ id: accountId }, { limit, cursor }) => {
    const { items, next } = await readPage(
      limit,
      (count) => audit.list(accountId, { limit: count, before: cursor }),
      ({ id }) => id,
    )
    return {
      entries: items.map(({ id, createdAt, action, actor, address, details }) => ({
        id,
        createdAt: createdAt.toISOString(),
        action,
        actor,
        address,
        details: { ...details },
      })),
      ...next,
    }
  }
