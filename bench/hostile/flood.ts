import { randomBytes, randomInt } from 'node:crypto'
import { connect, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Address } from 'viem'
import { z } from 'zod'

const address = z.custom<Address>((value) => typeof value === 'string' && value.startsWith('0x'))

/** What the process of an attacker is told, as JSON. */
export const scene = z.object({
  url: z.string(),
  /** Loopback address of the attacker's own. */
  address: z.string(),
  apiKeys: z.array(z.string()),
  /** A body of `/verify` for each open family. */
  payments: z.record(z.string(), z.unknown()),
  evm: z.object({
    network: z.string(),
    token: z.object({
      name: z.string(),
      version: z.string(),
      chainId: z.number(),
      verifyingContract: address,
    }),
    /** A deployed wallet whose signature check uses up the gas that it is given. */
    burningWallet: address,
    /** A factory that does so when it is called with `burnEverything`. */
    burningFactory: address,
    facilitator: address,
  }),
})
export type Scene = z.infer<typeof scene>

export interface Flood extends Scene {
  readonly signal: AbortSignal
  /** Counts a hostile request, or connection, by what came of it. */
  count(outcome: string, requests?: number): void
  /** A connection from the attacker's address, closed when the attack ends; null: it was not accepted. */
  open(): Promise<Socket | null>
}

export interface RequestParts {
  readonly body?: string
  readonly apiKey?: string | undefined
  readonly headers?: readonly string[]
}

/** A whole request; `line` is such as `GET /tiers`. */
export const writeRequest = (line: string, { body, apiKey, headers = [] }: RequestParts = {}): Buffer => {
  const head = [`${line} HTTP/1.1`, 'host: 127.0.0.1', ...headers]
  if (apiKey !== undefined) head.push(`x-api-key: ${apiKey}`)
  if (body === undefined) return Buffer.from([...head, '', ''].join('\r\n'))
  head.push('content-type: application/json', `content-length: ${Buffer.byteLength(body)}`)
  return Buffer.from([...head, '', body].join('\r\n'))
}

const reconnectAfterMs = 10

/** Each connection sends its next request when the last one is answered, and is replaced when it is closed. */
export const floodRequests = async (flood: Flood, next: () => Buffer, connections = 64): Promise<void> => {
  const sendInTurn = async (): Promise<void> => {
    while (!flood.signal.aborted) {
      const socket = await flood.open()
      if (socket === null) {
        flood.count('not accepted')
        await sleep(reconnectAfterMs)
        continue
      }
      const responses = readResponses(socket)
      while (!flood.signal.aborted && !socket.destroyed) {
        socket.write(next())
        const status = await responses.next()
        if (flood.signal.aborted) return
        flood.count(status ?? 'closed')
        if (status === null) break
      }
    }
  }
  await Promise.all(Array.from({ length: connections }, sendInTurn))
}

/** On a connection of its own. */
export const askOnce = async (flood: Flood, request: Buffer): Promise<string | null> => {
  const socket = await flood.open()
  if (socket === null) return null
  const status = readResponses(socket).next()
  socket.write(request)
  const answered = await status
  socket.destroy()
  return answered
}

/** Keeps up to `most` connections open; `use` is called with each, and a closed one is replaced at once. */
export const keepOpen = async (
  flood: Flood,
  { most, openers = 64 }: { readonly most: number; readonly openers?: number },
  use: (socket: Socket) => void,
): Promise<void> => {
  let held = 0
  const openInTurn = async (): Promise<void> => {
    while (!flood.signal.aborted) {
      if (held >= most) {
        await sleep(reconnectAfterMs)
        continue
      }
      held += 1
      const socket = await flood.open()
      if (socket === null) {
        held -= 1
        flood.count('not accepted')
        await sleep(reconnectAfterMs)
        continue
      }
      socket.once('close', () => {
        held -= 1
      })
      use(socket)
    }
  }
  await Promise.all(Array.from({ length: openers }, openInTurn))
}

interface Responses {
  /** The status of the next response, whose body is skipped; null: the connection was closed before its end. */
  next(): Promise<string | null>
}

const endOfChunks = Buffer.from('0\r\n\r\n')

/** For one request at a time. Node's client would be several times slower than what it attacks. */
const readResponses = (socket: Socket): Responses => {
  let head = ''
  let status: string | null = null
  /** Bytes of the body that are missing; null: it is chunked. */
  let missing: number | null = 0
  let waiter: ((status: string | null) => void) | null = null
  const answer = (text: string | null): void => {
    head = ''
    status = null
    const resolve = waiter
    waiter = null
    resolve?.(text)
  }
  const readBody = (chunk: Buffer): void => {
    if (missing === null) {
      if (chunk.subarray(-endOfChunks.length).equals(endOfChunks)) answer(status)
      return
    }
    missing -= chunk.length
    if (missing <= 0) answer(status)
  }
  socket.on('data', (chunk) => {
    if (status !== null) {
      readBody(chunk)
      return
    }
    head += chunk.toString('latin1')
    const headEnd = head.indexOf('\r\n\r\n')
    if (headEnd === -1) return
    status = head.slice(9, 12)
    const isChunked = /\r\ntransfer-encoding: chunked/i.test(head.slice(0, headEnd))
    const length = Number(/\r\ncontent-length: (\d+)/i.exec(head.slice(0, headEnd))?.[1] ?? 0)
    missing = isChunked ? null : length
    readBody(Buffer.from(head.slice(headEnd + 4), 'latin1'))
  })
  socket.on('close', () => answer(null))
  return {
    next: () =>
      new Promise((resolve) => {
        if (socket.destroyed) resolve(null)
        else waiter = resolve
      }),
  }
}

export const createFlood = (
  told: Scene,
  signal: AbortSignal,
  count: (outcome: string, requests?: number) => void,
): Flood => {
  const { hostname: host, port } = new URL(told.url)
  const sockets = new Set<Socket>()
  signal.addEventListener('abort', () => {
    for (const socket of sockets) socket.destroy()
  })
  const open = (): Promise<Socket | null> =>
    new Promise((resolve) => {
      const socket = connect({ host, port: Number(port), localAddress: told.address, noDelay: true })
      sockets.add(socket)
      socket.on('error', () => undefined)
      socket.once('connect', () => resolve(signal.aborted ? null : socket))
      socket.once('close', () => {
        sockets.delete(socket)
        resolve(null)
      })
    })
  return { ...told, signal, count, open }
}

export const inTurn = <Item>(items: readonly Item[]): (() => Item) => {
  if (items.length === 0) throw new Error('There is nothing to take in turn')
  const endless = repeat(items)
  return () => endless.next().value
}

function* repeat<Item>(items: readonly Item[]): Generator<Item, never> {
  while (true) yield* items
}

export const randomHexDigits = (bytes: number): string => randomBytes(bytes).toString('hex')

const base58Digits = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz'

export const randomBase58 = (length: number): string =>
  Array.from({ length }, () => base58Digits[randomInt(base58Digits.length)]).join('')
