import type { Logger } from '../../src/ports/logger.js'

interface LoggedLine {
  readonly level: 'debug' | 'info' | 'warn' | 'error'
  readonly message: string
  readonly fields: Readonly<Record<string, unknown>>
}

export interface MemoryLogger extends Logger {
  readonly lines: readonly LoggedLine[]
  messages(): readonly string[]
}

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
