import type { IncomingMessage } from 'node:http'
import type { FastifyRequest } from 'fastify'
import fastifyPlugin from 'fastify-plugin'
import { z } from 'zod'
import { AppError } from '../../errors.js'
import { readClientSite } from '../../platform/clientNetwork.js'
import { stalls } from '../../platform/clock.js'
import { stalledError } from '../errors.js'
import { readJson } from '../json.js'
import type { Turns } from '../server/turns.js'

const structuredJson = /^application\/[a-z0-9!#$&^_.-]+\+json(?:\s*;|$)/i
const readableCharset = /^(?:utf-?8|us-ascii)$/i

interface JsonBodiesOptions {
  readonly limits: BodyReceiverLimits
  readonly turns: Turns
}

export const jsonBodies = fastifyPlugin<JsonBodiesOptions>(
  (app, { limits, turns }, done) => {
    const receive = createBodyReceiver(limits)
    const receiveInTurn = async (request: FastifyRequest, stream: IncomingMessage): Promise<unknown> => {
      const bytes = await receive(request, stream)
      await turns.continue(request.raw)
      return parseBody(request, bytes)
    }
    app.removeAllContentTypeParsers()
    for (const mediaType of ['application/json', structuredJson]) {
      app.addContentTypeParser(mediaType, (request: FastifyRequest, stream: IncomingMessage) => {
        refuseUnsupportedCharset(request)
        return receiveInTurn(request, stream)
      })
    }
    app.addHook('onRequest', (request, reply, next) => {
      const encoding = request.headers['content-encoding']
      if (encoding === undefined || encoding.toLowerCase() === 'identity') {
        next()
        return
      }
      // RFC 9110, section 12.5.3: with a 415, Accept-Encoding lists the supported encodings.
      reply.header('accept-encoding', 'identity')
      next(new AppError('UNSUPPORTED_MEDIA_TYPE', 'The body must be sent without Content-Encoding'))
    })
    done()
  },
  { name: 'jsonBodies' },
)

const parseBody = (request: FastifyRequest, bytes: Buffer): unknown => {
  // Some clients send a media type on every POST, even without a body.
  return bytes.length === 0 && isBodyOptional(request.routeOptions.schema?.body) ? undefined : readJson(bytes)
}

const isBodyOptional = (schema: unknown): boolean =>
  schema === undefined || (schema instanceof z.ZodType && schema.safeParse(undefined).success)

const refuseUnsupportedCharset = ({ headers }: FastifyRequest): void => {
  const charset = /;\s*charset="?([^\s";]+)/i.exec(headers['content-type'] ?? '')?.[1]
  if (charset === undefined || readableCharset.test(charset)) return
  throw new AppError('UNSUPPORTED_MEDIA_TYPE', 'The body must be encoded as UTF-8')
}

export interface BodyReceiverLimits {
  /** Time for one body to arrive, from the start of reading. */
  readonly deadlineMs: number
  /** Total buffer size of all unfinished bodies. */
  readonly maxBufferedBytes: number
}

/** 64 kB in 5 s is 100 kbit/s. 32 MiB is 512 bodies of 64 kB. */
export const defaultBodyReceiverLimits: BodyReceiverLimits = {
  deadlineMs: 5_000,
  maxBufferedBytes: 33_554_432,
}

/** Reads at most the route's `bodyLimit`; throws REQUEST_TOO_LARGE, REQUEST_TIMEOUT or SERVICE_UNAVAILABLE. */
type ReceiveBody = (request: FastifyRequest, stream: IncomingMessage) => Promise<Buffer>

interface UnfinishedBody {
  readonly startedAtMs: number
  /** IPv4 address or IPv6 /48 that it arrives from. */
  readonly site: string
  bufferedBytes: number
  refuse(error: AppError): void
}

// Size of the first buffer, charged from the start: limits unfinished bodies to 8,192.
const initialBufferBytes = 4_096

// A later sweep is caused by a stall, not by load.
const maxDelayMs = 500

// Each chunk costs the same whatever its size: 64 kB in 1-byte chunks take 100 ms. The smallest TCP segments
// (536 bytes) split 1 MiB into 1,957 chunks.
const maxChunks = 4_096

/**
 * When the total is exceeded, bodies of the site with the most bytes are refused, the oldest first: normal bodies arrive
 * within milliseconds, so slow ones (slowloris) make room.
 */
export const createBodyReceiver = ({ deadlineMs, maxBufferedBytes }: BodyReceiverLimits): ReceiveBody => {
  const unfinished = new Set<UnfinishedBody>()
  const bytesBySite = new Map<string, number>()
  const sweepMs = deadlineMs / 20
  let bufferedBytes = 0
  let sweeper: NodeJS.Timeout | null = null
  let sweptAtMs = 0

  /** One timer for all bodies: a timer per body is a measurable cost of a small request. */
  const refuseOverdue = (): void => {
    const nowMs = performance.now()
    const pausedMs = nowMs - sweptAtMs
    sweptAtMs = nowMs
    // This process stood still: bytes that have arrived are read before anything is refused.
    if (pausedMs > 2 * sweepMs + maxDelayMs) return
    const overdueSinceMs = nowMs - deadlineMs
    for (const body of unfinished) {
      if (body.startedAtMs > overdueSinceMs) break
      const hasStalled = stalls.hasStalled(nowMs - body.startedAtMs)
      body.refuse(
        hasStalled ? stalledError() : new AppError('REQUEST_TIMEOUT', 'The body did not arrive in time'),
      )
    }
    if (unfinished.size > 0 || sweeper === null) return
    clearInterval(sweeper)
    sweeper = null
  }

  const count = ({ site }: UnfinishedBody, bytes: number): void => {
    bufferedBytes += bytes
    const left = (bytesBySite.get(site) ?? 0) + bytes
    if (left === 0) bytesBySite.delete(site)
    else bytesBySite.set(site, left)
  }

  const reserve = (body: UnfinishedBody, bytes: number): void => {
    count(body, bytes - body.bufferedBytes)
    body.bufferedBytes = bytes
    while (bufferedBytes > maxBufferedBytes) {
      const oldest = findOldestOfLargestSite()
      if (oldest === null) return
      const message = 'Too many bodies are arriving at once'
      oldest.refuse(new AppError('SERVICE_UNAVAILABLE', message, { retryAfterSeconds: 1 }))
    }
  }

  const findOldestOfLargestSite = (): UnfinishedBody | null => {
    let largest = { site: '', bytes: 0 }
    for (const [site, bytes] of bytesBySite) if (bytes > largest.bytes) largest = { site, bytes }
    for (const body of unfinished) if (body.site === largest.site) return body
    return null
  }

  const add = (body: UnfinishedBody): void => {
    unfinished.add(body)
    if (sweeper === null) {
      sweptAtMs = performance.now()
      sweeper = setInterval(refuseOverdue, sweepMs).unref()
    }
    reserve(body, initialBufferBytes)
  }

  const remove = (body: UnfinishedBody): void => {
    if (unfinished.delete(body)) count(body, -body.bufferedBytes)
  }

  return ({ ip, headers, routeOptions: { bodyLimit } }, stream) =>
    new Promise((resolve, reject) => {
      const contentLength = headers['content-length']
      const declared = contentLength === undefined ? null : Number(contentLength)
      if (declared !== null && declared > bodyLimit) {
        reject(tooLarge(bodyLimit))
        return
      }
      // One buffer instead of a list of chunks: 1-byte chunks would take a hundred times their size.
      let bytes: Buffer | null = null
      let length = 0
      let chunks = 0

      const fail = (error: Error): void => {
        remove(body)
        stream.off('data', onData).off('end', onEnd).off('error', fail)
        reject(error)
      }
      const onData = (chunk: Buffer): void => {
        const needed = length + chunk.length
        chunks += 1
        if (chunks > maxChunks) {
          fail(new AppError('INVALID_REQUEST', `The body arrived in more than ${maxChunks} chunks`))
          // Destroyed without a response: thousands of further chunks could arrive before it is sent.
          stream.destroy()
          return
        }
        if (needed > bodyLimit) {
          fail(tooLarge(bodyLimit))
          return
        }
        if (bytes === null && needed === declared) {
          bytes = chunk
        } else {
          if (bytes === null || needed > bytes.length) bytes = grow(bytes, needed, declared ?? bodyLimit)
          chunk.copy(bytes, length)
        }
        length = needed
        if (bytes.length > body.bufferedBytes) reserve(body, bytes.length)
      }
      /** Its listeners stay: nothing follows the end, and to remove them would cost more than to read the body. */
      const onEnd = (): void => {
        remove(body)
        if (declared !== null && declared !== length) {
          reject(new AppError('INVALID_REQUEST', 'The body is not as long as Content-Length says'))
        } else {
          resolve(bytes === null ? Buffer.alloc(0) : bytes.subarray(0, length))
        }
        // They would hold the body for as long as its request lasts.
        bytes = null
      }

      const [startedAtMs, site] = [performance.now(), readClientSite(ip)]
      const body: UnfinishedBody = { startedAtMs, site, bufferedBytes: 0, refuse: fail }
      stream.on('data', onData).on('end', onEnd).on('error', fail)
      add(body)
    })
}

/** `most`: as long as the body can become, so that a large limit takes no memory of small bodies. */
const grow = (bytes: Buffer | null, needed: number, most: number): Buffer => {
  const doubled = Math.min(most, Math.max(initialBufferBytes, needed * 2))
  const larger = Buffer.allocUnsafeSlow(Math.max(needed, doubled))
  bytes?.copy(larger)
  return larger
}

const tooLarge = (limit: number): AppError =>
  new AppError('REQUEST_TOO_LARGE', `The body is larger than ${limit} bytes`)
