import {
  knownNetworks as aptosNetworks,
  aptosVariables,
  readAptosSettings,
} from '../../src/chains/aptos/settings.js'
import {
  knownNetworks as cosmosNetworks,
  cosmosVariables,
  readCosmosSettings,
} from '../../src/chains/cosmos/settings.js'
import {
  knownNetworks as nearNetworks,
  nearVariables,
  readNearSettings,
} from '../../src/chains/near/settings.js'
import {
  knownNetworks as polkadotNetworks,
  polkadotVariables,
  readPolkadotSettings,
} from '../../src/chains/polkadot/settings.js'
import {
  readStacksSettings,
  knownNetworks as stacksNetworks,
  stacksVariables,
} from '../../src/chains/stacks/settings.js'
import {
  readTezosSettings,
  knownNetworks as tezosNetworks,
  tezosVariables,
} from '../../src/chains/tezos/settings.js'

interface DirectVariables {
  readonly name: string
  readonly variables: { readonly family: readonly string[]; readonly perNetwork: readonly string[] }
  readonly networks: readonly { readonly name: string }[]
  /** The variable that enables its first network. */
  readonly endpoint: string
  read(environment: Readonly<Record<string, string>>): unknown
}

/** Families on which we only read, as their settings name them. */
export const directVariables: readonly DirectVariables[] = [
  {
    name: 'NEAR',
    variables: nearVariables,
    networks: nearNetworks,
    endpoint: 'NEAR_RPC_URL_mainnet',
    read: readNearSettings,
  },
  {
    name: 'Aptos',
    variables: aptosVariables,
    networks: aptosNetworks,
    endpoint: 'APTOS_RPC_URL_mainnet',
    read: readAptosSettings,
  },
  {
    name: 'Tezos',
    variables: tezosVariables,
    networks: tezosNetworks,
    endpoint: 'TEZOS_TZKT_URL_mainnet',
    read: readTezosSettings,
  },
  {
    name: 'Polkadot',
    variables: polkadotVariables,
    networks: polkadotNetworks,
    endpoint: 'POLKADOT_RPC_URL_assethub',
    read: readPolkadotSettings,
  },
  {
    name: 'Stacks',
    variables: stacksVariables,
    networks: stacksNetworks,
    endpoint: 'STACKS_RPC_URL_mainnet',
    read: readStacksSettings,
  },
  {
    name: 'Cosmos',
    variables: cosmosVariables,
    networks: cosmosNetworks,
    endpoint: 'COSMOS_RPC_URL_noble',
    read: readCosmosSettings,
  },
]
