import { open } from '../../../src/chains/aptos/open.js'
import { readAptosSettings } from '../../../src/chains/aptos/settings.js'
import { systemClock } from '../../../src/platform/clock.js'
import { silentLogger } from '../../../src/platform/logger.js'
import type { Clock } from '../../../src/ports/clock.js'
import type { Logger } from '../../../src/ports/logger.js'
import { createMemoryRateLimiter } from '../../../src/stores/memory/rateLimiter.js'
import { usdt } from '../../support/aptos/payment.js'
import { createMemoryLanes } from '../../support/memoryLanes.js'

export const testnetEnvironment = (url: string): Record<string, string> => ({
  APTOS_RPC_URL_testnet: url,
  APTOS_TOKENS_testnet: `${usdt}=USDT/6`,
  APTOS_POLL_INTERVAL_MS_testnet: '20',
  APTOS_RPC_TIMEOUT_MS: '1000',
  APTOS_VERIFY_WAIT_MS: '100',
})

interface OpenOptions {
  readonly clock?: Clock
  readonly logger?: Logger
}

/** The family of one network without journal and database. */
export const openAptos = async (
  environment: Readonly<Record<string, string>>,
  { clock = systemClock, logger = silentLogger }: OpenOptions = {},
) => {
  const reading = readAptosSettings(environment)
  if ('problems' in reading || reading.settings === null) throw new Error('The settings cannot be read')
  const lanes = createMemoryLanes()
  const limiter = createMemoryRateLimiter({ clock })
  const opened = await open(reading.settings, { clock, logger, lanes, limiter, minPaymentGasShare: 0.1 })
  const [scheme] = opened.schemes
  const [chain] = opened.directChains ?? []
  if (scheme === undefined || chain === undefined) throw new Error('No scheme was opened')
  return {
    scheme,
    chain,
    lanes,
    health: opened.health,
    close: async () => {
      await opened.close()
      await limiter.close()
    },
  }
}

export type OpenedAptos = Awaited<ReturnType<typeof openAptos>>
