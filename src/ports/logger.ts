import type { LogEvent } from './logEvents.js'

type Write = (fields: Readonly<Record<string, unknown>>, event: LogEvent) => void

/**
 * Structured log. `fields` must not contain payment payloads, signatures or secrets. What an operator should do is a
 * field, `hint`.
 */
export interface Logger {
  readonly debug: Write
  readonly info: Write
  readonly warn: Write
  readonly error: Write
}
