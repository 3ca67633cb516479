import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'
import type { FacilitatorKey } from '../test/support/evm/localChain.js'
import { reservePort } from '../test/support/reservePort.js'
import { type Contender, type Launch, launch, root } from './launch.js'
import { makeFolder } from './makeFolder.js'

export interface ContenderOptions {
  readonly rpcUrl: string
  readonly key: FacilitatorKey
  readonly environment?: Readonly<Record<string, string>>
}

export const startOurs = (
  { rpcUrl, key, environment = {} }: ContenderOptions,
  databaseUrl?: string,
): Promise<Contender> =>
  startService({
    EVM_PRIVATE_KEY: key.privateKey,
    EVM_RPC_URL_84532: rpcUrl,
    // A run spends more gas than the default hourly budget.
    EVM_GAS_BUDGET_GWEI_PER_HOUR_84532: '1000000000000',
    ...(databaseUrl === undefined ? {} : { DATABASE_URL: databaseUrl }),
    ...environment,
  })

/** The built service with default settings, except for rate limits. */
export const startService = (environment: Readonly<Record<string, string>>): Promise<Contender> =>
  startWithDefaults({
    LOG_LEVEL: 'error',
    // Counted as in production, but never reached.
    ANONYMOUS_REQUESTS_PER_MINUTE: '1000000000',
    ANONYMOUS_SETTLES_PER_MINUTE: '1000000000',
    SETTLES_PER_PAYER_PER_HOUR: '0',
    SETTLES_PER_RECIPIENT_PER_HOUR: '0',
    ...environment,
  })

/** The built service with default settings. */
export const startWithDefaults = (environment: Readonly<Record<string, string>>): Promise<Contender> =>
  launchOurs({
    name: environment.DATABASE_URL === undefined ? 'quittance' : 'quittance on Postgres',
    args: readStartArgs(),
    readyPath: '/ready',
    environment,
  })

/** The built service with its limits, but for the rates of callers without a key. */
export const startLimited = ({ name, environment }: Pick<Launch, 'name' | 'environment'>) =>
  launchOurs({
    name,
    args: ['--max-semi-space-size=32', join(root, 'dist/main.js')],
    readyPath: '/health',
    environment: {
      LOG_LEVEL: 'error',
      ANONYMOUS_REQUESTS_PER_MINUTE: '1000000000',
      ANONYMOUS_SETTLES_PER_MINUTE: '1000000000',
      ...environment,
    },
  })

/** On a port and a data folder of its own. */
const launchOurs = async ({ environment, ...options }: Omit<Launch, 'port'>): Promise<Contender> => {
  const port = await reservePort()
  const folder = await makeFolder()
  const contender = await launch({
    ...options,
    port,
    environment: { PORT: String(port), HOST: '127.0.0.1', DATA_FOLDER: folder.path, ...environment },
  })
  return {
    ...contender,
    stop: async () => {
      await contender.stop()
      await folder.remove()
    },
  }
}

/** Arguments of node in `npm start`. */
const readStartArgs = (): readonly string[] => {
  const { scripts } = startable.parse(JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')))
  const words = scripts.start.split(' ')
  return words.slice(words.indexOf('node') + 1).map((arg) => (arg.endsWith('.js') ? join(root, arg) : arg))
}

const startable = z.object({ scripts: z.object({ start: z.string() }) })

/** The reference facilitator of the protocol, from its npm packages. */
export const startReference = async ({ rpcUrl, key }: ContenderOptions): Promise<Contender> => {
  const port = await reservePort()
  return await launch({
    name: 'reference',
    port,
    args: ['--import', 'tsx', join(root, 'bench/reference.ts'), rpcUrl, key.privateKey, String(port)],
    readyPath: '/health',
    environment: {},
  })
}

/** The least that one process can do for a payment, in a separate process to measure its CPU time. */
export const startLimit = async (chainId: number): Promise<Contender> => {
  const port = await reservePort()
  return await launch({
    name: 'limit',
    port,
    args: [
      '--max-semi-space-size=32',
      '--import',
      'tsx',
      join(root, 'bench/limit.ts'),
      String(chainId),
      String(port),
    ],
    readyPath: '/health',
    environment: {},
  })
}
