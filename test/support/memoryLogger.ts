import type { Logger } from '../../src/ports/logger.js'

/** A line that was logged. */
export interface LoggedLine {
  readonly level: 'debug' | 'info' | 'warn' | 'error'
  readonly message: string
  readonly fields: Readonly<Record<string, unknown>>
}

/** Keeps what is logged. */
export interface MemoryLogger extends Logger {
  readonly lines: readonly LoggedLine[]
  /** The messages so far, in order. */
  messages(): readonly string[]
}

/** Creates a logger that prints nothing. */
export const createMemoryLogger = (): MemoryLogger => {
  const lines: LoggedLine[] = []
  const at =
    (level: LoggedLine['level']): Logger['info'] =>
    (fields, message) =>
      void lines.push({ level, message, fields })
  return {
    lines,
    messages: () => lines.map(({ message }) => message),
    debug: at('debug'),
    info: at('info'),
    warn: at('warn'),
    error: at('error'),
  }
}
