import { createTransport } from 'nodemailer'
import type { Logger } from '../ports/logger.js'
import type { Mailer } from '../ports/mailer.js'
import type { Secret } from './secret.js'

export interface MailerSettings {
  /** `smtp://` (STARTTLS if offered; required with `?requireTLS=true`) or `smtps://`, with credentials. */
  readonly url: Secret
  readonly from: string
}

const deadlineMs = 15_000
// Further mails are dropped, so that a hanging server cannot exhaust memory.
const maxInFlight = 1_000

/** Sends over pooled SMTP connections. `post` does not wait; failures are only logged. */
export const createMailer = ({ url, from }: MailerSettings, logger: Logger): Mailer => {
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
