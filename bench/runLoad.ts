import { type Connection, openConnection } from './connection.js'

/** A load: every body is sent once, over a fixed number of connections, as fast as the answers come. */
export interface Load {
  readonly url: string
  readonly bodies: readonly string[]
  readonly connections: number
  /** After this time no further body is sent. */
  readonly limitMs: number
}

/** What became of one body that was sent. */
export interface Exchange {
  /** The body's place in the load. */
  readonly index: number
  /** Empty when there was no answer. */
  readonly answer: string
  readonly latencyMs: number
  /** When the answer came, counted from the first request. */
  readonly endedAtMs: number
}

const answerDeadlineMs = 30_000
/** Fewer at a time than any server's backlog of connections that it has not accepted yet. */
const openedAtOnce = 100

/** Runs a load; the connections are open before the first request is sent. */
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
