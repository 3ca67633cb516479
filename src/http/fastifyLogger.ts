import type { FastifyBaseLogger } from 'fastify'
import { describeError } from '../platform/scrub.js'
import type { Logger } from '../ports/logger.js'

/** For lines of Fastify itself. Logs only the error of a logged object: requests and replies contain secrets. */
export const createFastifyLogger = (logger: Logger): FastifyBaseLogger => {
  const write =
    (log: Logger['info']) =>
    (...parts: readonly unknown[]): void =>
      log({ text: pickText(parts), ...pickFields(parts) }, 'server.log')
  const adapter: FastifyBaseLogger = {
    level: 'info',
    fatal: write(logger.error),
    error: write(logger.error),
    warn: write(logger.warn),
    info: write(logger.info),
    debug: write(logger.debug),
    trace: write(logger.debug),
    silent: () => {},
    child: () => adapter,
  }
  return adapter
}

const pickFields = (parts: readonly unknown[]): Record<string, unknown> => {
  const error = findError(parts[0])
  return error instanceof Error ? { error: describeError(error) } : {}
}

const findError = (value: unknown): unknown => {
  if (typeof value !== 'object' || value === null) return null
  if ('err' in value) return value.err
  return 'error' in value ? value.error : value
}

const pickText = (parts: readonly unknown[]): string => parts.find((part) => typeof part === 'string') ?? ''
