import { type Core, composeCore } from '../../src/compose.js'
import { readConfig } from '../../src/config.js'
import { systemClock } from '../../src/platform/clock.js'
import { silentLogger } from '../../src/platform/logger.js'
import type { Clock } from '../../src/ports/clock.js'
import type { Logger } from '../../src/ports/logger.js'
import type { WebhookTransport } from '../../src/ports/webhookOutbox.js'
import type { StartSettleWait } from '../../src/usecases/core/settle/settlementContext.js'
import type { LocalChain } from './evm/localChain.js'
import { patientTimeouts } from './patientTimeouts.js'
import { waitLimitMs } from './pollUntil.js'
import { patientTimeoutMs } from './rpcProxy.js'

const patientWaitMs = 60_000

export interface CoreOptions {
  /** An EVM chain; other families are configured by `environment`. */
  readonly chain?: Pick<LocalChain, 'chainId' | 'url' | 'facilitators'>
  readonly databaseUrl: string
  /** Overrides the variables derived from chain and database. */
  readonly environment?: Readonly<Record<string, string>>
  readonly clock?: Clock
  readonly logger?: Logger
  readonly webhookTransport?: WebhookTransport
  readonly startSettleWait?: StartSettleWait
  /** Default: no metrics of the process. */
  readonly measuresProcess?: boolean
}

/** The variables that configure networks, with those of the test. */
const listNetworks = ({ chain, environment = {} }: CoreOptions): Record<string, string> => ({
  ...(chain === undefined
    ? {}
    : {
        EVM_PRIVATE_KEY: chain.facilitators.map(({ privateKey }) => privateKey).join(','),
        [`EVM_RPC_URL_${chain.chainId}`]: chain.url,
        [`EVM_POLL_INTERVAL_MS_${chain.chainId}`]: '100',
      }),
  ...environment,
})

export const environmentFor = (options: CoreOptions): Record<string, string> => {
  const networks = listNetworks(options)
  return {
    DATABASE_URL: options.databaseUrl,
    // Without a chain it would be one.
    SANDBOX: 'false',
    KEY_ENCRYPTION_SECRET: 'instances-of-a-test-share-this-secret',
    // A busy machine must not turn a success into a pending settlement, or end a verification.
    SETTLE_WAIT_SECONDS: `${patientWaitMs / 1_000}`,
    VERIFY_DEADLINE_SECONDS: '60',
    DATABASE_READ_TIMEOUT_MS: patientTimeoutMs,
    // All requests of a test come from one address.
    RATE_LIMITS: 'off',
    ...patientTimeouts(networks),
    ...networks,
  }
}

/** A short wait begins when there is something to wait for: before that, it would fail requests of a busy machine. */
export const startPatientWait: StartSettleWait = (milliseconds) => {
  const ended = new AbortController()
  let limit: AbortSignal
  const endAfter = (limitMs: number) => {
    const next = AbortSignal.timeout(limitMs)
    limit = next
    next.addEventListener('abort', () => {
      if (limit === next) ended.abort(next.reason)
    })
  }
  endAfter(patientWaitMs)
  return { signal: ended.signal, onOpened: () => endAfter(milliseconds) }
}

/** Settle waits as long as a busy machine needs, until the test ends its patience: those after that are as short as configured. */
export const createPatience = () => {
  let isPatient = true
  const start: StartSettleWait = (milliseconds) => startPatientWait(isPatient ? patientWaitMs : milliseconds)
  const end = () => {
    isPatient = false
  }
  return { startSettleWait: start, end }
}

/** Settle waits that end when the test says so. */
export const createManualWait = () => {
  const started = new Set<AbortController>()
  const startSettleWait: StartSettleWait = () => {
    const ended = new AbortController()
    started.add(ended)
    return { signal: ended.signal, onOpened: () => undefined }
  }
  const end = () => {
    for (const ended of started) ended.abort(new Error('The wait ended'))
    started.clear()
  }
  return { startSettleWait, end }
}

/** The service without HTTP, on a real chain and database. */
export const openCore = (options: CoreOptions): Promise<Core> =>
  composeCore(readConfig(environmentFor(options)), {
    clock: options.clock ?? systemClock,
    logger: options.logger ?? silentLogger,
    measuresProcess: options.measuresProcess ?? false,
    startSettleWait: options.startSettleWait ?? startPatientWait,
    patienceMs: waitLimitMs,
    ...(options.webhookTransport === undefined ? {} : { webhookTransport: options.webhookTransport }),
  })
