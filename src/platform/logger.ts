import { type DestinationStream, pino, stdTimeFunctions } from 'pino'
import type { Logger } from '../ports/logger.js'
import { scrubFields, scrubText } from './scrub.js'

/** How much is logged. */
export type LogLevel = 'debug' | 'info' | 'warn' | 'error' | 'silent'

/** Where and how much is logged. */
export interface LoggerSettings {
  readonly level: LogLevel
  /** Standard output unless given. */
  readonly destination?: DestinationStream
}

/** Writes one JSON object a line; fields and messages lose their secrets on the way out. */
export const createLogger = ({ level, destination }: LoggerSettings): Logger => {
  const options = {
    level,
    base: null,
    timestamp: stdTimeFunctions.isoTime,
    formatters: {
      level: (label: string) => ({ level: label }),
      // pino's own `redact` knows fixed paths only; a secret may stand at any depth and in any spelling.
      log: (fields: Record<string, unknown>) => scrubFields(fields),
    },
  }
  const lines = destination === undefined ? pino(options) : pino(options, destination)
  // What is not written need not be scrubbed either.
  const writeAt = (name: 'debug' | 'info' | 'warn' | 'error'): Logger['info'] =>
    lines.isLevelEnabled(name)
      ? (fields, message) => lines[name](fields, scrubText(message))
      : () => undefined
  return {
    debug: writeAt('debug'),
    info: writeAt('info'),
    warn: writeAt('warn'),
    error: writeAt('error'),
  }
}

/** Logs nothing. */
export const silentLogger: Logger = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} }
