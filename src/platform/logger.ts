import { type DestinationStream, pino, stdTimeFunctions } from 'pino'
import type { Logger } from '../ports/logger.js'
import { scrubFields } from './scrub.js'

type LogLevel = 'debug' | 'info' | 'warn' | 'error' | 'silent'

interface LoggerSettings {
  readonly level: LogLevel
  readonly destination?: DestinationStream
}

/** Writes one JSON object per line. Secrets are removed from fields. */
export const createLogger = ({ level, destination }: LoggerSettings): Logger => {
  const options = {
    level,
    base: null,
    timestamp: stdTimeFunctions.isoTime,
    formatters: {
      level: (label: string) => ({ level: label }),
      // pino's `redact` only handles fixed paths; secrets can occur at any depth.
      log: (fields: Record<string, unknown>) => scrubFields(fields),
    },
  }
  const lines = destination === undefined ? pino(options) : pino(options, destination)
  const writeAt = (name: 'debug' | 'info' | 'warn' | 'error'): Logger['info'] =>
    lines.isLevelEnabled(name) ? (fields, event) => lines[name](fields, event) : () => undefined
  return {
    debug: writeAt('debug'),
    info: writeAt('info'),
    warn: writeAt('warn'),
    error: writeAt('error'),
  }
}

export const silentLogger: Logger = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} }
