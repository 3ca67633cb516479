import type { Logger } from '../../ports/logger.js'

/** `connection`: it broke. `commands`: they fail or do not answer in time, with or without a connection. */
type Sign = 'connection' | 'commands'

/** One line when Redis fails, by whichever sign is noticed first, and one when no sign is left. */
export interface RedisOutage {
  begin(sign: Sign, problem: string): void
  end(sign: Sign): void
}

export const createRedisOutage = (logger: Logger): RedisOutage => {
  const signs = new Set<Sign>()
  return {
    begin: (sign, problem) => {
      if (signs.size === 0) logger.warn({ variable: 'REDIS_URL', problem }, 'redis.degraded')
      signs.add(sign)
    },
    end: (sign) => {
      if (signs.delete(sign) && signs.size === 0) logger.info({}, 'redis.recovered')
    },
  }
}
