import type { AuditLog } from '../../ports/auditLog.js'
import type { Logger } from '../../ports/logger.js'
import type { MailChange } from '../dashboard/mailChange.js'
import type { RecordChange } from './dependencies.js'

export interface RecordChangeDependencies {
  readonly audit: Pick<AuditLog, 'record'>
  readonly mailChange: MailChange
  readonly logger: Logger
}

/** The webhook has already changed: a failed write is logged with what it should have recorded. */
export const createRecordChange =
  ({ audit, mailChange, logger }: RecordChangeDependencies): RecordChange =>
  async (account, { action, details }, by) => {
    const entry = { accountId: account.id, action, details, ...by }
    await audit
      .record(entry)
      .catch((error: unknown) => logger.error({ ...entry, error }, 'audit.write_failed'))
    mailChange(account, action, by)
  }
