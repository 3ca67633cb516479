import { type Connection, openConnection } from './connection.js'

export interface Load {
  readonly url: string
  readonly bodies: readonly string[]
  readonly connections: number
  readonly limitMs: number
}

export interface Exchange {
  readonly index: number
  /** Empty without a response. */
  readonly answer: string
  readonly latencyMs: number
  /** Time since the first request. */
  readonly endedAtMs: number
}

const answerDeadlineMs = 30_000
/** Below the accept backlog of any server. */
const openedAtOnce = 100

export const runLoad = async ({ url, bodies, connections, limitMs }: Load): Promise<readonly Exchange[]> => {
  const target = new URL(url)
  const requests = bodies.map((body) => toRequest(target, body)).entries()
  const opened = await openAll(target, connections)
  const exchanges: Exchange[] = []
  const begun = performance.now()
  const sendInTurn = async (first: Connection): Promise<void> => {
    let connection = first
    for (const [index, request] of requests) {
      const sentAt = performance.now()
      if (!connection.isOpen) connection = await openConnection(target, answerDeadlineMs)
      const answer = await connection.exchange(request).catch(() => '')
      const endedAt = performance.now()
      exchanges.push({ index, answer, latencyMs: endedAt - sentAt, endedAtMs: endedAt - begun })
      if (endedAt - begun > limitMs) break
    }
    connection.close()
  }
  await Promise.all(opened.map(sendInTurn))
  return exchanges
}

const openAll = async (target: URL, count: number): Promise<readonly Connection[]> => {
  const opened: Connection[] = []
  while (opened.length < count) {
    const some = Array.from({ length: Math.min(openedAtOnce, count - opened.length) }, () =>
      openConnection(target, answerDeadlineMs),
    )
    opened.push(...(await Promise.all(some)))
  }
  return opened
}

const toRequest = ({ host, pathname }: URL, body: string): Buffer =>
  Buffer.from(
    [
      `POST ${pathname} HTTP/1.1`,
      `host: ${host}`,
      'content-type: application/json',
      `content-length: ${Buffer.byteLength(body)}`,
      '',
      body,
    ].join('\r\n'),
  )
