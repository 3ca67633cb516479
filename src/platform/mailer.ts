import { createTransport } from 'nodemailer'
import type { Logger } from '../ports/logger.js'
import type { Mailer } from '../ports/mailer.js'
import type { Secret } from './secret.js'

/** Which server takes the letters, and who they are from. */
export interface MailerSettings {
  /** `smtp://` (STARTTLS where it is offered, or nothing without it by `?requireTLS=true`) or `smtps://`, with user and password. */
  readonly url: Secret
  readonly from: string
}

const deadlineMs = 15_000
// Letters beyond this are dropped: a server that hangs must not fill the memory.
const maxUnderWay = 1_000

/** Sends letters through an SMTP server, a few at once, over connections that are kept. */
export const createMailer = ({ url, from }: MailerSettings, logger: Logger): Mailer => {
  const transport = createTransport({
    url: url.reveal(),
    pool: true,
    maxConnections: 4,
    connectionTimeout: deadlineMs,
    greetingTimeout: deadlineMs,
    socketTimeout: deadlineMs,
    dnsTimeout: deadlineMs,
    // Letters hold texts of strangers: none of them may name a file or an address to read from.
    disableFileAccess: true,
    disableUrlAccess: true,
  })
  const underWay = new Set<Promise<void>>()
  return {
    post: ({ to, subject, text }) => {
      if (underWay.size >= maxUnderWay) {
        logger.error({}, 'mail.dropped')
        return
      }
      const sent = transport
        .sendMail({ from, to: { name: '', address: to }, subject, text })
        .then(
          () => logger.info({}, 'mail.sent'),
          (error: unknown) => logger.error({ error }, 'mail.failed'),
        )
        .finally(() => underWay.delete(sent))
      underWay.add(sent)
    },
    close: async () => {
      await Promise.all(underWay)
      transport.close()
    },
  }
}
