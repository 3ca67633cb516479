import type { KeyedAccount } from '../../ports/accountStore.js'
import type { Logger } from '../../ports/logger.js'
import type { Mailer } from '../../ports/mailer.js'
import type { RateLimiter } from '../../ports/rateLimiter.js'
import type { Sealer } from '../../ports/sealer.js'

/**
 * Sends the keys of accounts to the addresses that they were registered with. Nobody waits for it: how long an
 * answer takes must not tell whether there was anything to send.
 */
export type MailKeys = (accounts: readonly KeyedAccount[]) => void

/** What letters with keys are made of. */
export interface MailKeysDependencies {
  readonly mailer: Mailer
  readonly sealer: Sealer
  readonly limiter: RateLimiter
  readonly logger: Logger
}

const subject = 'Your API key'
// Whoever asks need not be whose address it is.
const mailsPerHour = 5
const hourMs = 3_600_000

/** Keys by mail: one letter an address, and not more of them than its owner can bear. */
export const createMailKeys = ({ mailer, sealer, limiter, logger }: MailKeysDependencies): MailKeys => {
  const writeLetter = (accounts: readonly KeyedAccount[]): string =>
    [
      'Someone asked for the API keys of this address.',
      '',
      ...accounts.map(({ account, sealed }) => `${printProject(account.project)}: ${sealer.open(sealed)}`),
      '',
      'Keep them secret. If it was not you, you need do nothing: nobody else was shown a key.',
    ].join('\n')

  /** The store of limits need not know who writes to us. */
  const nameOf = (address: string): string =>
    Buffer.from(sealer.fingerprint(address.toLowerCase())).toString('hex')

  const mail = async (accounts: readonly KeyedAccount[]): Promise<void> => {
    const active = accounts.filter(({ account }) => account.status === 'active')
    for (const [address, theirs] of groupByAddress(active)) {
      const { isAllowed } = await limiter.take([
        { key: `mail:${nameOf(address)}`, limit: mailsPerHour, windowMs: hourMs },
      ])
      if (isAllowed) mailer.post({ to: address, subject, text: writeLetter(theirs) })
    }
  }
  return (accounts) => {
    mail(accounts).catch((error: unknown) => logger.error({ error }, 'mail.failed'))
  }
}

/** Strangers choose the name: programs that show mail must find no address in it to make a link of. */
const printProject = (project: string): string => project.replaceAll(/[.:/@\\]+/g, ' ')

const groupByAddress = (accounts: readonly KeyedAccount[]): ReadonlyMap<string, readonly KeyedAccount[]> => {
  const groups = new Map<string, KeyedAccount[]>()
  for (const keyed of accounts) {
    const group = groups.get(keyed.account.email) ?? []
    groups.set(keyed.account.email, [...group, keyed])
  }
  return groups
}
