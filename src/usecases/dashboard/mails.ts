import type { Account, Actor, KeyedAccount, Mailer, Sealer } from '../../ports/accountStore.js'
import type { Clock } from '../../ports/clock.js'
import type { Logger } from '../../ports/logger.js'
import type { RateLimiter } from '../../ports/rateLimiter.js'
import type { AuditAction } from '../../protocol/accounts.js'
import { openKey } from './apiKey.js'
import { canonicalMailbox } from './mailbox.js'

/** Not awaited: response time must not reveal whether an account exists. */
export type MailKeys = (accounts: readonly KeyedAccount[]) => void

interface MailKeysDependencies {
  readonly mailer: Mailer
  readonly sealer: Sealer
  readonly limiter: RateLimiter
  readonly logger: Logger
}

const subject = 'Your API key'
// The requester may not own the address.
const mailsPerHour = 5
const hourMs = 3_600_000

export const createMailKeys = ({ mailer, sealer, limiter, logger }: MailKeysDependencies): MailKeys => {
  /** Lines of at most 76 characters: longer ones would be encoded as quoted-printable, which splits keys. */
  const writeText = (accounts: readonly KeyedAccount[]): string =>
    [
      'The API keys of this e-mail address were requested.',
      '',
      ...accounts.map((keyed) => `${describeAccount(keyed.account)}:\n${openKey(sealer, keyed)}`),
      '',
      'Keep them secret. If you did not request them, ignore this message:',
      'no key was shown to the requester.',
    ].join('\n')

  const mail = async (accounts: readonly KeyedAccount[]): Promise<void> => {
    const active = accounts.filter(({ account }) => account.status === 'active')
    for (const [address, keys] of groupByAddress(active)) {
      const { isAllowed } = await limiter.take([
        { key: `mail:${hashMailbox(sealer, address)}`, limit: mailsPerHour, windowMs: hourMs },
      ])
      if (isAllowed) mailer.send({ to: address, subject, text: writeText(keys) })
    }
  }
  return (accounts) => {
    mail(accounts).catch((error: unknown) => logger.error({ error }, 'mail.failed'))
  }
}

/** Hashed: the rate limit store must not contain e-mail addresses. */
const hashMailbox = (sealer: Pick<Sealer, 'fingerprint'>, address: string): string =>
  Buffer.from(sealer.fingerprint(canonicalMailbox(address).mailbox)).toString('hex')

/** Without the project's name: a registration may name any address, so that the text would reach strangers. */
const describeAccount = ({ createdAt }: Account): string =>
  `Project of ${createdAt.toISOString().slice(0, 19).replace('T', ' ')} UTC`

const groupByAddress = (accounts: readonly KeyedAccount[]): ReadonlyMap<string, readonly KeyedAccount[]> => {
  const groups = new Map<string, KeyedAccount[]>()
  for (const keyed of accounts) {
    const group = groups.get(keyed.account.email) ?? []
    groups.set(keyed.account.email, [...group, keyed])
  }
  return groups
}

/** Not awaited. */
export type MailChange = (account: Account, action: AuditAction, by: Actor) => void

interface MailChangeDependencies {
  readonly mailer: Mailer
  readonly sealer: Pick<Sealer, 'fingerprint'>
  readonly limiter: RateLimiter
  readonly clock: Clock
  readonly logger: Logger
}

const changeSubject = 'A change to your API keys'
const noticesPerHour = 20

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
    mailer.send({ to: email, subject: changeSubject, text })
  }
  return (account, action, by) => {
    mail(account, action, by).catch((error: unknown) => logger.error({ error }, 'mail.failed'))
  }
}

export const unknownActor: Actor = { actor: 'unknown', address: null }
