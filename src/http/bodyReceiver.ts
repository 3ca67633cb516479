import type { IncomingMessage } from 'node:http'
import type { FastifyRequest } from 'fastify'
import { AppError } from '../errors.js'

/** What bounds bodies that have not arrived completely. */
export interface ReceivingBounds {
  /** How long one may take, from when reading begins. */
  readonly deadlineMs: number
  /** What all of them may hold together. */
  readonly maxHeldBytes: number
}

/** 64 kB in 5 s are 100 kbit/s: less than any server's link has. 32 MiB are 512 bodies of 64 kB. */
export const usualReceivingBounds: ReceivingBounds = { deadlineMs: 5_000, maxHeldBytes: 33_554_432 }

/** Reads a body of at most the route's `bodyLimit`; throws REQUEST_TOO_LARGE, REQUEST_TIMEOUT or SERVICE_UNAVAILABLE. */
export type ReceiveBody = (request: FastifyRequest, stream: IncomingMessage) => Promise<Buffer>

/** An unfinished body. */
interface Arrival {
  readonly beganAtMs: number
  heldBytes: number
  refuse(error: AppError): void
}

// The first buffer, and what a body counts for before it has one: no more than 8,192 are unfinished at once.
const leastHeldBytes = 4_096

// A chunk takes the same time whatever its size: 64 kB in chunks of one byte take 100 ms. The smallest segments of TCP,
// of 536 bytes, make 1,957 pieces of 1 MiB.
const maxPieces = 4_096

/**
 * Receives bodies and bounds what they hold meanwhile. A length over the limit is refused before anything is read.
 * Where all together would hold too much, the oldest unfinished bodies are refused and not the newest: bodies of
 * honest callers arrive within milliseconds, so bodies that are held back make room for them.
 */
export const createBodyReceiver = ({ deadlineMs, maxHeldBytes }: ReceivingBounds): ReceiveBody => {
  // In order of their beginning.
  const arrivals = new Set<Arrival>()
  let heldBytes = 0
  let sweeper: NodeJS.Timeout | null = null

  /** One timer for all: one for each body is a measurable part of a small request. */
  const refuseLate = (): void => {
    const lateSinceMs = performance.now() - deadlineMs
    for (const arrival of arrivals) {
      if (arrival.beganAtMs > lateSinceMs) break
      arrival.refuse(new AppError('REQUEST_TIMEOUT', 'The body did not arrive in time'))
    }
    if (arrivals.size > 0 || sweeper === null) return
    clearInterval(sweeper)
    sweeper = null
  }

  const hold = (arrival: Arrival, bytes: number): void => {
    heldBytes += bytes - arrival.heldBytes
    arrival.heldBytes = bytes
    for (const oldest of arrivals) {
      if (heldBytes <= maxHeldBytes) return
      const message = 'Too many bodies are arriving at once'
      oldest.refuse(new AppError('SERVICE_UNAVAILABLE', message, { retryAfterSeconds: 1 }))
    }
  }

  const enter = (arrival: Arrival): void => {
    arrivals.add(arrival)
    sweeper ??= setInterval(refuseLate, deadlineMs / 20).unref()
    hold(arrival, leastHeldBytes)
  }

  const leave = (arrival: Arrival): void => {
    if (arrivals.delete(arrival)) heldBytes -= arrival.heldBytes
  }

  return ({ headers, routeOptions: { bodyLimit } }, stream) =>
    new Promise((resolve, reject) => {
      const announced = headers['content-length']
      const declared = announced === undefined ? null : Number(announced)
      if (declared !== null && declared > bodyLimit) {
        reject(tooLarge(bodyLimit))
        return
      }
      // One buffer, not a list of pieces: those of one byte each would take a hundred times their size.
      let bytes: Buffer | null = null
      let length = 0
      let pieces = 0

      const stop = (): void => {
        leave(arrival)
        stream.off('data', onData).off('end', onEnd).off('error', fail)
      }
      const fail = (error: Error): void => {
        stop()
        reject(error)
      }
      const onData = (piece: Buffer): void => {
        const needed = length + piece.length
        pieces += 1
        if (pieces > maxPieces) {
          fail(new AppError('INVALID_REQUEST', `The body came in more than ${maxPieces} pieces`))
          // Without an answer: until it is sent, thousands of pieces more would be read.
          stream.destroy()
          return
        }
        if (needed > bodyLimit) {
          fail(tooLarge(bodyLimit))
          return
        }
        if (bytes === null && needed === declared) {
          bytes = piece
        } else {
          if (bytes === null || needed > bytes.length) bytes = enlarge(bytes, needed, bodyLimit)
          piece.copy(bytes, length)
        }
        length = needed
        if (bytes.length > arrival.heldBytes) hold(arrival, bytes.length)
      }
      const onEnd = (): void => {
        stop()
        if (declared !== null && declared !== length) {
          reject(new AppError('INVALID_REQUEST', 'The body is not as long as Content-Length says'))
        } else {
          resolve(bytes === null ? Buffer.alloc(0) : bytes.subarray(0, length))
        }
      }

      const arrival: Arrival = { beganAtMs: performance.now(), heldBytes: 0, refuse: fail }
      stream.on('data', onData).on('end', onEnd).on('error', fail)
      enter(arrival)
    })
}

/** A buffer of twice the size that is needed, which begins with the same bytes. */
const enlarge = (bytes: Buffer | null, needed: number, limit: number): Buffer => {
  const larger = Buffer.allocUnsafeSlow(Math.min(limit, Math.max(leastHeldBytes, needed * 2)))
  bytes?.copy(larger)
  return larger
}

const tooLarge = (limit: number): AppError =>
  new AppError('REQUEST_TOO_LARGE', `The body is larger than ${limit} bytes`)
