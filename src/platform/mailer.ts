import type { Mailer } from '../ports/accountStore.js'
import type { Logger } from '../ports/logger.js'
import type { Secret } from './secret.js'

interface MailerSettings {
  /** `smtp://` (STARTTLS if offered; required with `?requireTLS=true`) or `smtps://`, with credentials. */
  readonly url: Secret
  readonly from: string
}

const deadlineMs = 15_000
// Further mails are dropped, so that a hanging server cannot exhaust memory.
const maxInFlight = 1_000

/** Sends over pooled SMTP connections. `send` does not wait; failures are only logged. */
export const createMailer = async ({ url, from }: MailerSettings, logger: Logger): Promise<Mailer> => {
  // Its code is loaded only where mail is configured.
  const { createTransport } = await import('nodemailer')
  const transport = createTransport({
    url: url.reveal(),
    pool: true,
    maxConnections: 4,
    connectionTimeout: deadlineMs,
    greetingTimeout: deadlineMs,
    socketTimeout: deadlineMs,
    dnsTimeout: deadlineMs,
    // Mails contain user input, which must not reference files or URLs.
    disableFileAccess: true,
    disableUrlAccess: true,
  })
  const inFlight = new Set<Promise<void>>()
  return {
    send: ({ to, subject, text }) => {
      if (inFlight.size >= maxInFlight) {
        logger.error({}, 'mail.dropped')
        return
      }
      const sent = transport
        .sendMail({ from, to: { name: '', address: to }, subject, text })
        .then(
          () => logger.info({}, 'mail.sent'),
          (error: unknown) => logger.error({ error }, 'mail.failed'),
        )
        .finally(() => inFlight.delete(sent))
      inFlight.add(sent)
    },
    close: async () => {
      await Promise.all(inFlight)
      transport.close()
    },
  }
}

interface RegistrationSettings {
  readonly registration: 'once' | 'open' | 'verified'
  readonly apiKeyRequired: boolean
  /** Required when registration is `verified`; otherwise it mails changes to keys. */
  readonly mail: MailerSettings | null
}

type OpenRegistration =
  | { readonly mode: 'once' | 'open'; readonly mailer: Mailer | null }
  | { readonly mode: 'verified'; readonly mailer: Mailer }

/** Logs which callers get full API keys; creates the mailer if mail is configured. */
export const openRegistration = async (
  { registration: mode, apiKeyRequired, mail }: RegistrationSettings,
  logger: Logger,
): Promise<OpenRegistration> => {
  const fields = { registration: mode, apiKeyRequired }
  const mailer = mail === null ? null : await createMailer(mail, logger)
  switch (mode) {
    case 'once':
      logger.info(
        {
          ...fields,
          hint: 'a full key is shown to the caller that creates it, later only to programs on this machine and with OPERATOR_TOKEN; a proxy on this machine must set X-Forwarded-For',
        },
        'registration.once',
      )
      return { mode, mailer }
    case 'open':
      logger.warn(
        {
          ...fields,
          hint: 'every caller is shown the full keys of any e-mail address: set REGISTRATION=once unless every caller is trusted',
        },
        'registration.open',
      )
      return { mode, mailer }
    case 'verified':
      if (mailer === null) throw new Error('REGISTRATION=verified needs SMTP_URL and MAIL_FROM.')
      logger.info({ ...fields, hint: 'keys go by mail' }, 'registration.verified')
      return { mode, mailer }
  }
}
