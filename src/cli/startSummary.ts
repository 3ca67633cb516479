import type { Config } from '../config.js'
import { type Paint, printable } from './screen.js'

export interface ShownNetwork {
  readonly network: string
  readonly isServing: boolean
  readonly problem: string | null
  /** What it could settle and does not, as sentences. */
  readonly limitations?: readonly string[]
  readonly signers: readonly {
    readonly signer: string
    /** Smallest unit of the native coin. */
    readonly balance: bigint
    readonly settlementsLeft: number
  }[]
}

interface Started {
  readonly version: string
  /** As bound: the port is known when PORT is 0. */
  readonly port: number
  readonly config: Config
  readonly networks: readonly ShownNetwork[]
}

/** What an operator wants to see at the start: addresses, networks, stores, and what is risky. */
export const describeStart = ({ version, port, config, networks }: Started, paint: Paint): string => {
  const url = `http://${hostOf(config.server.host)}:${port}`
  const risks = listRisks(config, networks)
  const rows = [
    row('url', paint('cyan', url)),
    row('docs', `${url}/docs`),
    ...describeNetworks(networks, paint),
    row('database', describeDatabase(config)),
    row('limits', describeLimits(config)),
    row('keys', describeKeys(config)),
  ]
  return [
    '',
    `  ${paint('bold', 'quittance')} ${version}`,
    '',
    ...rows.map(({ name, text }) => `  ${paint('dim', name.padEnd(10))} ${text}`),
    ...(risks.length === 0 ? [] : ['', ...risks.map((risk) => `  ${paint('yellow', '!')} ${risk}`)]),
    '',
    paint('dim', '  Ctrl-C ends it. The log follows; piped, it is JSON.'),
    '',
    '',
  ].join('\n')
}

const row = (name: string, text: string) => ({ name, text })

/** A name that a browser on this machine reaches. */
const hostOf = (host: string): string => {
  if (host === '0.0.0.0' || host === '::') return 'localhost'
  return host.includes(':') ? `[${host}]` : host
}

const describeNetworks = (networks: readonly ShownNetwork[], paint: Paint) => {
  if (networks.length === 0) return [row('networks', paint('yellow', 'none'))]
  return networks.flatMap(({ network, isServing, problem, limitations = [], signers }, index) => {
    const state = isServing
      ? paint('green', 'serving')
      : paint('yellow', `not serving: ${printable(problem ?? 'not checked yet')}`)
    return [
      row(index === 0 ? 'networks' : '', `${network}  ${state}`),
      ...signers.map(({ signer, balance, settlementsLeft }) => {
        const left =
          settlementsLeft === 0 ? paint('yellow', 'pays for no settlement') : countLeft(settlementsLeft)
        return row('', `  ${signer}  ${formatBalance(network, balance)}, ${left}`)
      }),
      ...limitations.map((text) => row('', `  ${paint('yellow', printable(text))}`)),
    ]
  })
}

const countLeft = (settlements: number): string =>
  `enough for about ${Math.floor(settlements).toLocaleString('en')} settlements`

const coins: Readonly<Record<string, { readonly decimals: number; readonly symbol: string }>> = {
  eip155: { decimals: 18, symbol: '' },
  solana: { decimals: 9, symbol: ' SOL' },
  ton: { decimals: 9, symbol: ' TON' },
  tron: { decimals: 6, symbol: ' TRX' },
}

const shownDecimals = 4

/** Rounded down. */
const formatBalance = (network: string, balance: bigint): string => {
  const coin = coins[network.split(':')[0] ?? '']
  if (coin === undefined) return balance.toString()
  const units = balance / 10n ** BigInt(coin.decimals - shownDecimals)
  const fraction = (units % 10n ** BigInt(shownDecimals)).toString().padStart(shownDecimals, '0')
  return `${units / 10n ** BigInt(shownDecimals)}.${fraction}${coin.symbol}`
}

const describeDatabase = ({ stores }: Config): string => {
  if (stores.databaseUrl === null) return `embedded Postgres in ${stores.dataFolder}`
  if (stores.isSandbox) return "DATABASE_URL, in a sandbox's database of its own"
  return stores.databaseReadUrl === null ? 'DATABASE_URL' : 'DATABASE_URL, pages from DATABASE_READ_URL'
}

const describeLimits = ({ requestLimits, stores }: Config): string => {
  if (requestLimits === null) return 'off'
  return stores.redisUrl === null ? 'on, counted by this process' : 'on, counted in Redis'
}

const describeKeys = ({ accounts }: Config): string =>
  `${accounts.apiKeyRequired ? 'required' : 'optional'}, registration ${accounts.registration}`

const isLocal = (host: string): boolean => host === 'localhost' || host === '::1' || host.startsWith('127.')

const listRisks = (config: Config, networks: readonly ShownNetwork[]): readonly string[] => {
  const { server, accounts, requestLimits, metricsToken } = config
  const isReachable = !isLocal(server.host)
  return [
    ...(config.sandbox === 'off'
      ? []
      : [
          config.sandbox === 'default'
            ? 'SANDBOX: no chain is configured, so that no payment is real. Set EVM_PRIVATE_KEY, SOLANA_PRIVATE_KEY, TON_MNEMONIC, or the RPC URL of a network.'
            : 'SANDBOX=true: no payment is real.',
        ]),
    ...(networks.length === 0
      ? [
          'No network is configured: nothing can be paid. Set EVM_PRIVATE_KEY, SOLANA_PRIVATE_KEY, TON_MNEMONIC, or the RPC URL of another network.',
        ]
      : []),
    ...(accounts.registration === 'open'
      ? ['REGISTRATION=open shows every caller the full keys of any e-mail address.']
      : []),
    ...(isReachable && !accounts.apiKeyRequired && networks.length > 0 && config.sandbox === 'off'
      ? [
          `Every caller that reaches ${server.host} settles at your expense: see API_KEY_REQUIRED, or HOST=127.0.0.1.`,
        ]
      : []),
    ...(isReachable && requestLimits === null ? ['RATE_LIMITS=off: one caller can use all of it.'] : []),
    ...(isReachable && metricsToken === null ? ['/metrics is public: set METRICS_TOKEN.'] : []),
  ]
}
