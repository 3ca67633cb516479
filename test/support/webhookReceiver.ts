import { createServer } from 'node:https'
import { createGuardedFetch, type GuardedFetchDependencies } from '../../src/platform/guardedFetch.js'
import { testCertificate, testCertificateKey } from './testCertificate.js'

/** A message as it arrived. */
export interface ReceivedMessage {
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

/** What a receiver answers; a promise makes it slow. */
export interface ReceiverAnswer {
  readonly status: number
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
  /** The body goes on and on after this. */
  readonly isEndless?: boolean
}

/** A receiver of webhooks on this machine, with real TLS. */
export interface WebhookReceiver {
  /** With the host name `receiver.test`. */
  readonly url: string
  readonly port: number
  readonly received: readonly ReceivedMessage[]
  /** From now on. */
  answer(choose: (message: ReceivedMessage) => ReceiverAnswer | Promise<ReceiverAnswer>): void
  /** How many connections were ever opened. */
  countConnections(): number
  close(): Promise<void>
}

/** Starts a receiver that answers 204. */
export const startWebhookReceiver = async (): Promise<WebhookReceiver> => {
  const received: ReceivedMessage[] = []
  let connections = 0
  let choose: (message: ReceivedMessage) => ReceiverAnswer | Promise<ReceiverAnswer> = () => ({ status: 204 })
  const server = createServer(
    { key: testCertificateKey, cert: testCertificate },
    async (request, response) => {
      const chunks: Buffer[] = []
      for await (const chunk of request) chunks.push(Buffer.from(chunk))
      const headers = Object.fromEntries(
        Object.entries(request.headers).map(([name, value]) => [name, String(value)]),
      )
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

/** What sends to receivers on this machine as if they were on the internet. */
export const createLoopbackFetch = (parts: GuardedFetchDependencies = {}) =>
  createGuardedFetch({
    ca: testCertificate,
    resolveHost: async () => ['127.0.0.1'],
    isAllowed: (address) => address === '127.0.0.1',
    allowsPort: () => true,
    ...parts,
  })
