import type { Account, Actor, Mailer, Sealer } from '../../ports/accountStore.js'
import type { Clock } from '../../ports/clock.js'
import type { Logger } from '../../ports/logger.js'
import type { RateLimiter } from '../../ports/rateLimiter.js'
import type { AuditAction } from '../../protocol/accounts.js'
import { hashMailbox } from './mailKeys.js'

/** Not awaited. */
export type MailChange = (account: Account, action: AuditAction, by: Actor) => void

interface MailChangeDependencies {
  readonly mailer: Mailer
  readonly sealer: Pick<Sealer, 'fingerprint'>
  readonly limiter: RateLimiter
  readonly clock: Clock
  readonly logger: Logger
}

const subject = 'A change to your API keys'
const noticesPerHour = 20
const hourMs = 3_600_000

const sentences: Readonly<Record<AuditAction, string>> = {
  'account.registered': 'A project was registered.',
  'account.revoked': 'The project and its keys were revoked.',
  'key.created': 'An API key was created.',
  'key.revoked': 'An API key was revoked.',
  'key.rotated': 'An API key was replaced by another.',
  'recipient.deleted': 'What claims on payments to a recipient must show is no longer stated.',
  'recipient.stated': 'It was stated what claims on payments to a recipient must show.',
  'restrictions.changed': 'The addresses and sites that may use the API keys were changed.',
  'tier.changed': 'The tier was changed.',
  'webhook.changed': 'The webhook URL was changed.',
  'webhook.removed': 'The webhook was removed.',
  'webhook.secret_rotated': 'The webhook secret was replaced.',
}

/** Contains no text that a caller chose: neither project nor key names. */
export const createMailChange = (dependencies: MailChangeDependencies): MailChange => {
  const { mailer, sealer, limiter, clock, logger } = dependencies
  const mail = async ({ id, email }: Account, action: AuditAction, by: Actor): Promise<void> => {
    const { isAllowed } = await limiter.take([
      { key: `notice:${hashMailbox(sealer, email)}`, limit: noticesPerHour, windowMs: hourMs },
    ])
    if (!isAllowed) return
    const text = [
      sentences[action],
      '',
      `Account: ${id}`,
      `Time: ${clock.now().toISOString()}`,
      `From: ${by.address ?? 'an operator'}`,
      '',
      'GET /dashboard/audit lists all changes.',
      'If this was not you, rotate your API keys.',
    ].join('\n')
    mailer.send({ to: email, subject, text })
  }
  return (account, action, by) => {
    mail(account, action, by).catch((error: unknown) => logger.error({ error }, 'mail.failed'))
  }
}

export const unknownActor: Actor = { actor: 'unknown', address: null }
