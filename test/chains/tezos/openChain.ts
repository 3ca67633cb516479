import { open } from '../../../src/chains/tezos/open.js'
import { readTezosSettings } from '../../../src/chains/tezos/settings.js'
import { systemClock } from '../../../src/platform/clock.js'
import { silentLogger } from '../../../src/platform/logger.js'
import type { Clock } from '../../../src/ports/clock.js'
import { createMemoryRateLimiter } from '../../../src/stores/memory/rateLimiter.js'
import { createMemoryLanes } from '../../support/memoryLanes.js'
import { usdt } from '../../support/tezos/payment.js'

export const octezAt = (url: string) => ({ TEZOS_RPC_URL_ghostnet: url })
export const tzktAt = (url: string) => ({ TEZOS_TZKT_URL_ghostnet: url })

/** The family of one network without journal and database. */
export const openTezos = async (sources: Readonly<Record<string, string>>, clock: Clock = systemClock) => {
  const reading = readTezosSettings({
    TEZOS_TOKENS_ghostnet: `${usdt}=USDt/6`,
    TEZOS_POLL_INTERVAL_MS_ghostnet: '20',
    TEZOS_RPC_TIMEOUT_MS: '1000',
    TEZOS_VERIFY_WAIT_MS: '100',
    ...sources,
  })
  if ('problems' in reading || reading.settings === null) throw new Error('The settings cannot be read')
  const lanes = createMemoryLanes()
  const limiter = createMemoryRateLimiter({ clock })
  const context = { clock, logger: silentLogger, lanes, limiter, minPaymentGasShare: 0.1 }
  const opened = await open(reading.settings, context)
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

export type OpenedTezos = Awaited<ReturnType<typeof openTezos>>
