import { composeApp, composeCore } from '../../src/compose.js'
import { readConfig } from '../../src/config.js'
import { systemClock } from '../../src/platform/clock.js'
import { silentLogger } from '../../src/platform/logger.js'
import { type CoreOptions, environmentFor, startPatientWait } from './core.js'
import { waitLimitMs } from './pollUntil.js'

export interface TestService {
  readonly url: string
  close(): Promise<void>
}

export const startService = async (
  // Port 0: any that is free.
  {
    port = 0,
    clock = systemClock,
    ...options
  }: Pick<CoreOptions, 'chain' | 'databaseUrl' | 'environment' | 'clock'> & { readonly port?: number },
): Promise<TestService> => {
  const config = readConfig(environmentFor(options))
  const logger = silentLogger
  const core = await composeCore(config, {
    clock,
    logger,
    startSettleWait: startPatientWait,
    patienceMs: waitLimitMs,
  })
  const stopJobs = core.startJobs()
  const app = await composeApp(config, core, logger)
  const url = await app.listen({ host: '127.0.0.1', port })
  return {
    url,
    close: async () => {
      await app.close()
      await stopJobs()
      await core.close()
    },
  }
}
