import { open } from '../../../src/chains/stacks/open.js'
import { readStacksSettings } from '../../../src/chains/stacks/settings.js'
import { systemClock } from '../../../src/platform/clock.js'
import { silentLogger } from '../../../src/platform/logger.js'
import type { Clock } from '../../../src/ports/clock.js'
import { isRefused, readPayment } from '../../../src/protocol/legacy.js'
import type { Payment } from '../../../src/protocol/payment.js'
import { wirePaymentRequest } from '../../../src/protocol/wire.js'
import { createMemoryRateLimiter } from '../../../src/stores/memory/rateLimiter.js'
import { createMemoryLanes } from '../../support/memoryLanes.js'

export const testnetEnvironment = (url: string, ...tokens: string[]): Record<string, string> => ({
  STACKS_RPC_URL_testnet: url,
  STACKS_TOKENS_testnet: tokens.map((token) => `${token}=USD/6`).join(),
  STACKS_CONFIRMATIONS_testnet: '2',
  STACKS_POLL_INTERVAL_MS_testnet: '20',
  STACKS_RPC_TIMEOUT_MS: '2000',
  STACKS_VERIFY_WAIT_MS: '0',
})

/** The scheme of one network without journal and database. */
export const openScheme = async (
  environment: Readonly<Record<string, string>>,
  clock: Clock = systemClock,
) => {
  const reading = readStacksSettings(environment)
  if ('problems' in reading || reading.settings === null) throw new Error('The settings cannot be read')
  const lanes = createMemoryLanes()
  const limiter = createMemoryRateLimiter({ clock })
  const opened = await open(reading.settings, {
    clock,
    logger: silentLogger,
    lanes,
    limiter,
    minPaymentGasShare: 0,
  })
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

export const readBody = (body: unknown): Payment => {
  const payment = readPayment(wirePaymentRequest.parse(body))
  if (isRefused(payment)) throw new Error(`The body is refused as ${payment.reason}`)
  return payment
}
