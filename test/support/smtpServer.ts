import { once } from 'node:events'
import { SMTPServer } from 'smtp-server'
import { pollUntil } from './pollUntil.js'

interface ReceivedMail {
  readonly from: string
  readonly to: readonly string[]
  readonly source: string
}

export interface TestSmtpServer {
  readonly url: string
  readonly mails: readonly ReceivedMail[]
  receive(count: number): Promise<readonly ReceivedMail[]>
  /** Rejects all further mails. */
  refuse(): void
  close(): Promise<void>
}

const credentials = { user: 'mailer', password: 'mail-password' }

export const startSmtpServer = async (): Promise<TestSmtpServer> => {
  const mails: ReceivedMail[] = []
  let isRefusing = false
  const server = new SMTPServer({
    disabledCommands: ['STARTTLS'],
    allowInsecureAuth: true,
    onAuth: ({ username, password }, _session, done) => {
      const isKnown = username === credentials.user && password === credentials.password
      done(isKnown ? null : new Error('Unknown user'), isKnown ? { user: username } : undefined)
    },
    onData: (stream, { envelope }, done) => {
      const chunks: Buffer[] = []
      stream.on('data', (chunk: Buffer) => void chunks.push(chunk))
      stream.on('end', () => {
        if (isRefusing) {
          done(new Error('Mailbox unavailable'))
          return
        }
        const from = envelope.mailFrom === false ? '' : envelope.mailFrom.address
        mails.push({
          from,
          to: envelope.rcptTo.map(({ address }) => address),
          source: Buffer.concat(chunks).toString('utf8'),
        })
        done()
      })
    },
  })
  server.on('error', () => undefined)
  const listening = server.listen(0, '127.0.0.1')
  await once(listening, 'listening')
  const address = listening.address()
  if (address === null || typeof address === 'string') throw new Error('The server has no port')
  return {
    url: `smtp://${credentials.user}:${credentials.password}@127.0.0.1:${address.port}`,
    mails,
    receive: (count) => pollUntil(() => (mails.length >= count ? mails : null), `${count} mails`),
    refuse: () => {
      isRefusing = true
    },
    close: () => new Promise((resolve) => server.close(() => resolve())),
  }
}
