import { z } from 'zod'
import type { SettingsReading } from '../chain.js'
import {
  type DirectNetworkSettings,
  type DirectSettings,
  defineDirectSettings,
  type KnownDirectNetwork,
} from '../common/direct/settings.js'

interface KnownCosmosNetwork extends KnownDirectNetwork {
  /** Account addresses (bech32) begin with it. */
  readonly prefix: string
}

/** Noble, where Circle issues USDC, and its test network. */
export const knownNetworks: readonly KnownCosmosNetwork[] = [
  {
    name: 'noble',
    chainId: 'noble-1',
    prefix: 'noble',
    tokens: [{ asset: 'uusdc', symbol: 'USDC', decimals: 6 }],
  },
  {
    name: 'grand',
    chainId: 'grand-1',
    isTestnet: true,
    prefix: 'noble',
    tokens: [{ asset: 'uusdc', symbol: 'USDC', decimals: 6 }],
  },
]

const prefix = z.string().regex(/^[a-z][a-z0-9]{0,19}$/, 'must be the prefix of addresses, such as noble')

const settings = defineDirectSettings({
  namespace: 'cosmos',
  networks: knownNetworks,
  chainIdForm: /^[a-zA-Z0-9_-]{1,32}$/,
  assetForm: /^[a-zA-Z][a-zA-Z0-9/:._-]{2,127}$/,
  exampleAsset: 'uusdc',
  signerForm: /^[a-z][a-z0-9]{0,19}1[02-9ac-hj-np-z]{38,58}$/,
  defaultPollIntervalMs: 1_000,
  defaultCrossCheckAmount: 1_000_000_000n,
  own: { PREFIX: prefix.optional() },
})

export interface CosmosNetworkOwn {
  /** Account addresses (bech32) begin with it. */
  readonly PREFIX: string
}

export type CosmosNetworkSettings = DirectNetworkSettings<CosmosNetworkOwn>

export const cosmosVariables = settings.variables

export const readCosmosSettings = (
  environment: Readonly<Record<string, string>>,
): SettingsReading<DirectSettings<CosmosNetworkOwn>> => {
  const reading = settings.read(environment)
  if ('problems' in reading) return reading
  if (reading.settings === null) return { settings: null }
  const networks: CosmosNetworkSettings[] = []
  const problems: string[] = []
  for (const network of reading.settings.networks) {
    const { name, own } = network
    const known = knownNetworks.find((each) => each.name === name)
    const PREFIX = own.PREFIX ?? known?.prefix
    if (PREFIX === undefined)
      problems.push(`COSMOS_PREFIX_${name}: is required, because ${name} is not built in`)
    else networks.push({ ...network, own: { PREFIX } })
  }
  return problems.length > 0 ? { problems } : { settings: { ...reading.settings, networks } }
}
