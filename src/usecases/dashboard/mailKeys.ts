import type { KeyedAccount } from '../../ports/accountStore.js'
import type { Logger } from '../../ports/logger.js'
import type { Mailer } from '../../ports/mailer.js'
import type { RateLimiter } from '../../ports/rateLimiter.js'
import type { Sealer } from '../../ports/sealer.js'

/** Not awaited: response time must not reveal whether an account exists. */
export type MailKeys = (accounts: readonly KeyedAccount[]) => void

export interface MailKeysDependencies {
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
  const writeText = (accounts: readonly KeyedAccount[]): string =>
    [
      'The API keys of this e-mail address were requested.',
      '',
      ...accounts.map(({ account, sealed }) => `${printProject(account.project)}: ${sealer.open(sealed)}`),
      '',
      'Keep them secret. If you did not request them, ignore this message: no key was shown to the requester.',
    ].join('\n')

  /** Hashed: the rate limit store must not contain e-mail addresses. */
  const hashAddress = (address: string): string =>
    Buffer.from(sealer.fingerprint(address.toLowerCase())).toString('hex')

  const mail = async (accounts: readonly KeyedAccount[]): Promise<void> => {
    const active = accounts.filter(({ account }) => account.status === 'active')
    for (const [address, keys] of groupByAddress(active)) {
      const { isAllowed } = await limiter.take([
        { key: `mail:${hashAddress(address)}`, limit: mailsPerHour, windowMs: hourMs },
      ])
      if (isAllowed) mailer.send({ to: address, subject, text: writeText(keys) })
    }
  }
  return (accounts) => {
    mail(accounts).catch((error: unknown) => logger.error({ error }, 'mail.failed'))
  }
}

/** Project names are user input: mail clients must not turn them into links. */
const printProject = (project: string): string => project.replaceAll(/[.:/@\\]+/g, ' ')

const groupByAddress = (accounts: readonly KeyedAccount[]): ReadonlyMap<string, readonly KeyedAccount[]> => {
  const groups = new Map<string, KeyedAccount[]>()
  for (const keyed of accounts) {
    const group = groups.get(keyed.account.email) ?? []
    groups.set(keyed.account.email, [...group, keyed])
  }
  return groups
}
