import { randomBytes } from 'node:crypto'
import { namespaceOf } from '../../protocol/network.js'
import type { Network } from '../../schemes/network.js'
import type { OfflineNetwork, OfflineScheme } from '../../schemes/offlineScheme.js'
import type { AnyChainFamily, ChainContext, ChainModule, NetworkHealth, Sandbox } from '../chain.js'
import { listFixedPayers } from './fixedPayers.js'
import { createSandboxNetwork } from './network.js'
import { type AddressGroup, createRequestWriter, listAddresses } from './requests.js'
import { createSandboxScheme } from './scheme.js'
import type { SandboxSettings } from './settings.js'

/** Every scheme that the readers of the other families have on the networks of the sandbox. */
export const createOpen =
  (readers: readonly AnyChainFamily[]): ChainModule<SandboxSettings>['open'] =>
  async ({ networks }, context: ChainContext) => {
    const { clock, logger, scenarios } = context
    const modules = await Promise.all(readers.map((reader) => reader.loadOffline?.()))
    const offline = modules.flatMap((module) => module?.listOfflineSchemes(networks, context) ?? [])
    const missing = networks.filter((network) => !offline.some(({ kind }) => kind.network === network))
    if (missing.length > 0) throw new Error(`No family reads payments of ${missing.join(', ')}`)
    const groups = createGroups(offline)
    const writeRequest = await createRequestWriter(offline)
    const opened = new Map<string, Network>()
    const openNetwork = (each: OfflineNetwork): Network => {
      const network = opened.get(each.id) ?? createSandboxNetwork(each, scenarios)
      opened.set(each.id, network)
      return network
    }
    logger.warn(
      { networks, hint: 'payments are simulated, and no request reaches a chain' },
      'sandbox.simulates_networks',
    )
    return {
      schemes: offline.map((each) => {
        const { scheme, network } = each.kind
        const fixed = listFixedPayers(namespaceOf(network), scheme, each.network.forms)
        return createSandboxScheme({
          offline: each,
          network: openNetwork(each.network),
          fixed,
          scenarios,
          clock,
        })
      }),
      directChains: [],
      contractReaders: [],
      listClockLagsMs: () => [],
      sandbox: {
        networks,
        listAddresses: (now) => listAddresses(groups, writeRequest, now),
        hasReorgs: (network) =>
          offline.some((each) => each.network.id === network && each.network.forms.blocks !== null),
        newPayer: createNewPayer(offline),
        findFixedPayer: (network, name) =>
          groups
            .find(({ networks: own }) => own.includes(network))
            ?.payers.find((payer) => payer.name === name.toUpperCase())?.address ?? null,
        writeRequest,
      },
      health: () => networks.map(reportHealth),
      close: async () => undefined,
    }
  }

const createGroups = (offline: readonly OfflineScheme[]): readonly AddressGroup[] => {
  const namespaces = [...new Set(offline.map(({ kind }) => namespaceOf(kind.network)))]
  return namespaces.map((namespace) => {
    const own = offline.filter(({ kind }) => namespaceOf(kind.network) === namespace)
    const exact = own.find(({ kind }) => kind.scheme === 'exact')
    if (exact === undefined) throw new Error(`The scheme exact is missing on ${namespace}`)
    return {
      namespace,
      networks: [...new Set(own.map(({ kind }) => kind.network))],
      schemes: [...new Set(own.filter(isScripted).map(({ kind }) => kind.scheme))],
      payers: listFixedPayers(namespace, 'exact', exact.network.forms),
    }
  })
}

/** Whether payers without keys can pay by it. */
const isScripted = ({ contract }: OfflineScheme): boolean => contract === undefined

const createNewPayer =
  (offline: readonly OfflineScheme[]): Sandbox['newPayer'] =>
  (network) => {
    const scheme = offline.find(({ kind }) => kind.network === network)
    if (scheme === undefined) throw new Error(`${network} is not a network of the sandbox`)
    return scheme.network.forms.formatAddress(randomBytes(32))
  }

const reportHealth = (network: string): NetworkHealth => ({
  network,
  isServing: true,
  isRpcReachable: true,
  problem: null,
  balanceLevel: 'ok',
  signers: [],
  endpoints: [],
})
