import type { Account, KeyedAccount, Mailer, Sealer } from '../../ports/accountStore.js'
import type { Logger } from '../../ports/logger.js'
import type { RateLimiter } from '../../ports/rateLimiter.js'
import { canonicalMailbox } from './mailbox.js'
import { openKey } from './registration.js'

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
export const hashMailbox = (sealer: Pick<Sealer, 'fingerprint'>, address: string): string =>
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
