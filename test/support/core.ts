import { type Core, composeCore } from '../../src/compose.js'
import { readConfig } from '../../src/config.js'
import { systemClock } from '../../src/platform/clock.js'
import { silentLogger } from '../../src/platform/logger.js'
import type { Clock } from '../../src/ports/clock.js'
import type { Logger } from '../../src/ports/logger.js'
import type { WebhookTransport } from '../../src/ports/webhookTransport.js'
import type { LocalChain } from './evm/localChain.js'

/** What a core under test is made of. */
export interface CoreOptions {
  /** An EVM chain; chains of other families are told by the environment. */
  readonly chain?: Pick<LocalChain, 'chainId' | 'url' | 'facilitators'>
  readonly databaseUrl: string
  /** Variables over those that the chain and the database give. */
  readonly environment?: Readonly<Record<string, string>>
  readonly clock?: Clock
  readonly logger?: Logger
  readonly webhookTransport?: WebhookTransport
}

/** The environment of a service under test. */
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
      }),
  // A test sends from one address what the default allows many.
  RATE_LIMITS: 'off',
  ...environment,
})

/** Opens the service without its HTTP side: real chain, real database. */
export const openCore = (options: CoreOptions): Promise<Core> =>
  composeCore(readConfig(environmentFor(options)), {
    clock: options.clock ?? systemClock,
    logger: options.logger ?? silentLogger,
    measuresProcess: false,
    ...(options.webhookTransport === undefined ? {} : { webhookTransport: options.webhookTransport }),
  })
