import type { FastifyBaseLogger } from 'fastify'
import { describeError } from '../platform/scrub.js'
import type { Logger } from '../ports/logger.js'

/**
 * Lets fastify write its few own lines (an answer after the answer, a broken stream) into our log. Of the
 * objects that it would log, requests and replies among them, nothing is taken over but the error.
 */
export const createFastifyLogger = (logger: Logger): FastifyBaseLogger => {
  const write =
    (log: Logger['info']) =>
    (...parts: readonly unknown[]): void =>
      log(pickFields(parts), pickMessage(parts))
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

const findError = (given: unknown): unknown => {
  if (typeof given !== 'object' || given === null) return null
  if ('err' in given) return given.err
  return 'error' in given ? given.error : given
}

const pickMessage = (parts: readonly unknown[]): string =>
  parts.find((part) => typeof part === 'string') ?? 'fastify'
