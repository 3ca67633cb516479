import { createServer } from 'node:https'
import { createGuardedFetch, type GuardedFetchDependencies } from '../../src/platform/guardedExchange.js'
import { waitLimitMs } from './pollUntil.js'
import { readHeaders } from './readHeaders.js'
import { testCertificate, testCertificateKey } from './testCertificate.js'

interface ReceivedMessage {
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

interface ReceiverAnswer {
  readonly status: number
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
  /** Keeps the body open after `body`. */
  readonly isEndless?: boolean
}

export interface WebhookReceiver {
  /** Uses the host name `receiver.test`. */
  readonly url: string
  readonly port: number
  readonly received: readonly ReceivedMessage[]
  /** Applies to all further messages. */
  answer(choose: (message: ReceivedMessage) => ReceiverAnswer | Promise<ReceiverAnswer>): void
  countConnections(): number
  close(): Promise<void>
}

export const startWebhookReceiver = async (): Promise<WebhookReceiver> => {
  const received: ReceivedMessage[] = []
  let connections = 0
  let choose: (message: ReceivedMessage) => ReceiverAnswer | Promise<ReceiverAnswer> = () => ({ status: 204 })
  const server = createServer(
    { key: testCertificateKey, cert: testCertificate },
    async (request, response) => {
      const chunks: Buffer[] = []
      for await (const chunk of request) chunks.push(Buffer.from(chunk))
      const headers = readHeaders(request.headers)
      const message = { path: request.url ?? '', headers, body: Buffer.concat(chunks).toString('utf8') }
      received.push(message)
      const { status, headers: answered = {}, body = '', isEndless = false } = await choose(message)
      response.writeHead(status, answered).write(body)
      if (!isEndless) response.end()
    },
  )
  server.on('connection', () => {
    connections += 1
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('The receiver has no port')
  const { port } = address
  return {
    url: `https://receiver.test:${port}/hook`,
    port,
    received,
    answer: (given) => {
      choose = given
    },
    countConnections: () => connections,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

/** Treats loopback as a public address. A busy machine ends no exchange. */
export const createLoopbackFetch = (parts: GuardedFetchDependencies = {}) =>
  createGuardedFetch({
    deadlineMs: waitLimitMs,
    ca: testCertificate,
    resolveHost: async () => ['127.0.0.1'],
    isAllowed: (address) => address === '127.0.0.1',
    allowsPort: () => true,
    ...parts,
  })
