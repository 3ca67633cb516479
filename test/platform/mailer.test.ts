import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createMailer } from '../../src/platform/mailer.js'
import { describeError } from '../../src/platform/scrub.js'
import { Secret } from '../../src/platform/secret.js'
import { createMemoryLogger, type MemoryLogger } from '../support/memoryLogger.js'
import { startSmtpServer, type TestSmtpServer } from '../support/smtpServer.js'

const mail = { to: 'ada@example.com', subject: 'Your API key', text: 'engine: qtn_sk_abc' }

describe('mails', () => {
  let server: TestSmtpServer
  let logger: MemoryLogger
  const open = (url = server.url) =>
    createMailer({ url: new Secret(url), from: 'Payments <keys@quittance.example>' }, logger)

  beforeEach(async () => {
    server = await startSmtpServer()
    logger = createMemoryLogger()
  })
  afterEach(() => server.close())

  it('reach the server with sender and recipient', async () => {
    const mailer = await open()
    mailer.send(mail)
    await mailer.close()
    const [received] = server.mails
    expect(received).toMatchObject({ from: 'keys@quittance.example', to: ['ada@example.com'] })
    expect(received?.source).toMatch(/^From: Payments <keys@quittance.example>\r$/m)
    expect(received?.source).toMatch(/^Subject: Your API key\r$/m)
    expect(received?.source).toContain('engine: qtn_sk_abc')
    expect(logger.messages()).toEqual(['mail.sent'])
  })

  it.each([
    { what: 'refuses them', url: () => server.url, prepare: () => server.refuse() },
    {
      what: 'rejects our credentials',
      url: () => server.url.replace('mail-password', 'wrong'),
      prepare: () => {},
    },
    {
      what: 'offers no TLS although the URL requires it',
      url: () => `${server.url}?requireTLS=true`,
      prepare: () => {},
    },
    { what: 'is unreachable', url: () => 'smtp://127.0.0.1:1', prepare: () => {} },
  ])('that cannot be sent are logged without their content: the server $what', async ({ url, prepare }) => {
    prepare()
    const mailer = await open(url())
    mailer.send(mail)
    await mailer.close()
    expect(server.mails).toEqual([])
    expect(logger.messages()).toEqual(['mail.failed'])
    const logged = JSON.stringify(logger.lines.map(({ fields }) => describeError(fields.error)))
    expect(logged).not.toMatch(/qtn_sk_abc|mail-password|wrong/)
  })
})
