import { setNewest } from './concurrency/boundedMap.js'
import type { LogEvent, Logger } from './ports/logger.js'

interface FailureLogOptions {
  readonly logger: Logger
  readonly level?: 'warn' | 'error'
  /** Every line about a failure has it. */
  readonly event: LogEvent
  /** The line after the failures has it; null: recovery cannot be observed. */
  readonly recovered: LogEvent | null
  /** Between two lines about one key; default 30 s. */
  readonly everyMs?: number
  /** Monotonic. */
  readonly now?: () => number
}

/** One failure that repeats is one incident, not a line for each time. */
export interface FailureLog {
  /**
   * The first failure of a key is logged with all fields. Further ones are counted: `failures` and `forSeconds` appear in
   * one line per interval.
   */
  failed(key: string, fields: Readonly<Record<string, unknown>>): void
  /** One line, only if failures of the key were logged. One that recovers and fails again within the interval is silent. */
  succeeded(key: string): void
}

interface Incident {
  readonly named: Readonly<Record<string, unknown>>
  startedAt: number
  loggedAt: number
  failures: number
  isOver: boolean
  hasLine: boolean
}

const defaultEveryMs = 30_000

// Keys come from configuration; the bound is for defects.
const maxIncidents = 1_000

export const createFailureLog = ({
  logger,
  level = 'warn',
  event,
  recovered,
  everyMs = defaultEveryMs,
  now = () => performance.now(),
}: FailureLogOptions): FailureLog => {
  const incidents = new Map<string, Incident>()

  const begin = (key: string, fields: Readonly<Record<string, unknown>>, at: number) => {
    const { error: _error, ...named } = fields
    const incident = { named, startedAt: at, loggedAt: at, failures: 1, isOver: false, hasLine: true }
    setNewest(incidents, key, incident, maxIncidents)
    logger[level](fields, event)
  }

  return {
    failed: (key, fields) => {
      const at = now()
      const incident = incidents.get(key)
      if (incident === undefined) return begin(key, fields, at)
      const isQuiet = at - incident.loggedAt < everyMs
      if (incident.isOver) {
        if (!isQuiet) return begin(key, fields, at)
        incident.startedAt = at
        incident.failures = 0
        incident.isOver = false
        incident.hasLine = false
      }
      incident.failures += 1
      if (isQuiet) return
      incident.loggedAt = at
      incident.hasLine = true
      logger[level]({ ...fields, ...describeLength(incident, at) }, event)
    },
    succeeded: (key) => {
      const incident = incidents.get(key)
      if (incident === undefined || incident.isOver) return
      incident.isOver = true
      if (!incident.hasLine || recovered === null) return
      logger.info({ ...incident.named, ...describeLength(incident, now()) }, recovered)
    },
  }
}

const describeLength = ({ failures, startedAt }: Incident, at: number) => ({
  failures,
  forSeconds: Math.round((at - startedAt) / 1_000),
})

/** The logger with these fields in every line, such as the job that writes it; a field of the line replaces one of them. */
export const nameLines = (logger: Logger, named: Readonly<Record<string, unknown>>): Logger => ({
  debug: (fields, event) => logger.debug({ ...named, ...fields }, event),
  info: (fields, event) => logger.info({ ...named, ...fields }, event),
  warn: (fields, event) => logger.warn({ ...named, ...fields }, event),
  error: (fields, event) => logger.error({ ...named, ...fields }, event),
})
