import { domainToASCII } from 'node:url'
import { AppError } from '../../errors.js'
import type { Account, Actor, KeyedAccount, Mailbox, Mailer, Sealer } from '../../ports/accountStore.js'
import type { Clock } from '../../ports/clock.js'
import type { Logger } from '../../ports/logger.js'
import type { RateLimiter } from '../../ports/rateLimiter.js'
import type { AuditAction } from '../../protocol/accounts.js'
import { openKey } from './apiKey.js'

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

const maxLength = 254
const maxLocalLength = 64
// Letters of any script; no white space, control or format characters, no RFC 5322 specials.
const localPart = /^[^\p{C}\p{Z}"(),:;<>@[\\\]]+$/u
const invisible = /\p{Default_Ignorable_Code_Point}/u
const label = /^[\p{L}\p{N}](?:[\p{L}\p{M}\p{N}-]{0,61}[\p{L}\p{M}\p{N}])?$/u

/** Trimmed, Unicode NFC. Throws INVALID_REQUEST. */
export const readEmail = (text: string): string => {
  const email = text.length > maxLength * 4 ? '' : text.trim().normalize('NFC')
  const at = email.lastIndexOf('@')
  const local = email.slice(0, at)
  const labels = email.slice(at + 1).split('.')
  const isAddress =
    at > 0 &&
    email.length <= maxLength &&
    local.length <= maxLocalLength &&
    localPart.test(local) &&
    !invisible.test(email) &&
    !/^\.|\.\.|\.$/.test(local) &&
    labels.length > 1 &&
    labels.every((one) => label.test(one)) &&
    // Excludes IPv4 addresses.
    !/^\p{N}+$/u.test(labels.at(-1) ?? '')
  if (!isAddress)
    throw new AppError('INVALID_REQUEST', 'email: must be an e-mail address of at most 254 characters')
  return email
}

// Second-level registries such as co.uk, com.au and ac.jp.
const underRegistry = /[^.]+\.[^.]{1,3}\.[a-z]{2}$/
const underTopLevel = /[^.]+\.[^.]+$/

// Google delivers all spellings with dots to one person, and gives none of them to another. At other providers the person
// without the dot can be another one.
const domainsWithoutDots: readonly string[] = ['gmail.com', 'googlemail.com']

/**
 * The identity behind all spellings of an address: NFKC, lower case, the domain in ASCII (IDNA), without `+tag`, and without
 * dots where the provider is known to ignore them. Migration 0010 computed the same for ASCII addresses, but kept these dots.
 */
export const canonicalMailbox = (email: string): Mailbox => {
  const folded = email.normalize('NFKC').toLowerCase()
  const at = folded.lastIndexOf('@')
  const local = folded.slice(0, at)
  const untagged = /^[^+]+/.exec(local)?.[0] ?? local
  const unicode = folded.slice(at + 1)
  const domain = domainToASCII(unicode) || unicode
  if (domainsWithoutDots.includes(domain)) {
    return { mailbox: `${untagged.replaceAll('.', '')}@gmail.com`, domain: 'gmail.com' }
  }
  return { mailbox: `${untagged}@${domain}`, domain: readRegistrableDomain(domain) }
}

/** A heuristic in place of the public suffix list: it errs by counting a short second-level domain as a registry. */
const readRegistrableDomain = (domain: string): string =>
  underRegistry.exec(domain)?.[0] ?? underTopLevel.exec(domain)?.[0] ?? domain
