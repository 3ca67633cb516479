import type { Socket } from 'node:net'
import { AppError } from '../errors.js'
import { stalls } from '../platform/stallDetector.js'

const connectedAtMs = new WeakMap<Socket, number>()

export const rememberConnection = (socket: Socket): void => {
  connectedAtMs.set(socket, performance.now())
}

/** Whether this process stood still within the last `withinMs` and while the connection was open. */
export const wasCutOffByStall = (socket: Socket, withinMs: number): boolean => {
  const openMs = performance.now() - (connectedAtMs.get(socket) ?? 0)
  return stalls.hasStalled(Math.min(openMs, withinMs))
}

/** The request was cut off because this process stood still: nothing is wrong with it. */
export const stalledError = (): AppError =>
  new AppError('SERVICE_UNAVAILABLE', 'The service was interrupted; retry the same request', {
    retryAfterSeconds: 1,
  })
