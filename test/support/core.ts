import { type Core, composeCore } from '../../src/compose.js'
import { readConfig } from '../../src/config.js'
import { systemClock } from '../../src/platform/clock.js'
import { silentLogger } from '../../src/platform/logger.js'
import type { Clock } from '../../src/ports/clock.js'
import type { Logger } from '../../src/ports/logger.js'
import type { WebhookTransport } from '../../src/ports/webhookTransport.js'
import type { LocalChain } from './evm/localChain.js'
import { patientTimeoutMs } from './rpcProxy.js'

export interface CoreOptions {
  /** An EVM chain; other families are configured by `environment`. */
  readonly chain?: Pick<LocalChain, 'chainId' | 'url' | 'facilitators'>
  readonly databaseUrl: string
  /** Overrides the variables derived from chain and database. */
  readonly environment?: Readonly<Record<string, string>>
  readonly clock?: Clock
  readonly logger?: Logger
  readonly webhookTransport?: WebhookTransport
}

export const environmentFor = ({
  chain,
  databaseUrl,
  environment = {},
}: CoreOptions): Record<string, string> => ({
  DATABASE_URL: databaseUrl,
  KEY_ENCRYPTION_SECRET: 'instances-of-a-test-share-this-secret',
  ...(chain === undefined
    ? {}
    : {
        EVM_PRIVATE_KEY: chain.facilitators.map(({ privateKey }) => privateKey).join(','),
        [`EVM_RPC_URL_${chain.chainId}`]: chain.url,
        [`EVM_POLL_INTERVAL_MS_${chain.chainId}`]: '50',
        EVM_RPC_TIMEOUT_MS: patientTimeoutMs,
      }),
  // A busy machine must not turn a success into a pending settlement, or end a verification.
  SETTLE_WAIT_SECONDS: '60',
  VERIFY_DEADLINE_SECONDS: '60',
  // All requests of a test come from one address.
  RATE_LIMITS: 'off',
  ...environment,
})

/** The service without HTTP, on a real chain and database. */
export const openCore = (options: CoreOptions): Promise<Core> =>
  composeCore(readConfig(environmentFor(options)), {
    clock: options.clock ?? systemClock,
    logger: options.logger ?? silentLogger,
    measuresProcess: false,
    ...(options.webhookTransport === undefined ? {} : { webhookTransport: options.webhookTransport }),
  })
