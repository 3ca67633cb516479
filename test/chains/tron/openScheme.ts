import { open } from '../../../src/chains/tron/open.js'
import { readTronSettings } from '../../../src/chains/tron/settings.js'
import { systemClock } from '../../../src/platform/clock.js'
import { silentLogger } from '../../../src/platform/logger.js'
import type { Clock } from '../../../src/ports/clock.js'
import type { Payment } from '../../../src/protocol/payment.js'
import { isRefused, readPayment } from '../../../src/protocol/readPayment.js'
import { wirePaymentRequest } from '../../../src/protocol/wire.js'
import type { Scheme } from '../../../src/schemes/scheme.js'
import { createMemoryRateLimiter } from '../../../src/stores/cache/rateLimiter.js'
import { createMemoryLanes } from '../../support/memoryLanes.js'
import { patientTimeoutMs } from '../../support/rpcProxy.js'

/** The scheme of one network without journal and database. */
export interface OpenScheme {
  readonly scheme: Scheme
  readonly lanes: ReturnType<typeof createMemoryLanes>
  close(): Promise<void>
}

export const nileEnvironment = (url: string, tokens: string): Record<string, string> => ({
  TRON_RPC_URL_nile: url,
  TRON_TOKENS_nile: tokens,
  TRON_POLL_INTERVAL_MS_nile: '100',
  TRON_RPC_TIMEOUT_MS: patientTimeoutMs,
  // Payers of tests have no API key, and their recipients are new.
  SPONSORED_RECIPIENTS: '*',
})

export const openScheme = async (
  environment: Readonly<Record<string, string>>,
  clock: Clock = systemClock,
): Promise<OpenScheme> => {
  const reading = readTronSettings(environment)
  if ('problems' in reading || reading.settings === null) throw new Error('The settings cannot be read')
  const lanes = createMemoryLanes()
  const limiter = createMemoryRateLimiter({ clock })
  const opened = await open(reading.settings, {
    clock,
    logger: silentLogger,
    lanes,
    limiter,
    minPaymentGasShare: 0.1,
  })
  const [scheme] = opened.schemes
  if (scheme === undefined) throw new Error('No scheme was opened')
  return {
    scheme,
    lanes,
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
