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
  const [first] = parts
  const error = typeof first === 'object' && first !== null && 'err' in first ? first.err : first
  return error instanceof Error ? { error: describeError(error) } : {}
}

const pickMessage = (parts: readonly unknown[]): string =>
  `fastify: ${parts.find((part) => typeof part === 'string') ?? 'unnamed'}`
