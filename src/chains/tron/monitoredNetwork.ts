import type { MonitoredNetwork } from '../common/networkMonitor.js'
import type { EnergyDelegator } from './energy/energyDelegator.js'
import type { TronRpc } from './rpc/rpc.js'
import type { TronNetworkSettings } from './settings.js'

/** What the monitor of a TRON network looks at: the nodes' chain, and what energy we have to lend. */
export const createMonitoredNetwork = (
  { network, name, chainId }: TronNetworkSettings,
  { node, sponsor }: { readonly node: TronRpc; readonly sponsor: EnergyDelegator | null },
): MonitoredNetwork => ({
  network,
  examine: async () => {
    if (!(await node.probe())) throw new Error('No node answers')
    await sponsor?.check()
    return null
  },
  describeFailure: () => {
    const strange = findWrongChain(node)
    return strange === null ? 'no node answers' : new WrongChainError(name, chainId, strange).message
  },
  listSigners: () => (sponsor === null ? [] : [sponsor.health()]),
  // Payers who have energy or TRX need none of ours.
  getBalanceLevel: () => (sponsor !== null && sponsor.health().settlementsLeft === 0 ? 'low' : 'ok'),
  listEndpoints: node.listHealth,
})

/** The chain that a node serves in place of ours, or null. */
export const findWrongChain = (node: TronRpc): string | null =>
  node.listHealth().find(({ wrongChain }) => wrongChain !== null)?.wrongChain ?? null

/** A node serves another chain: a mistake in the configuration, not an outage. */
export class WrongChainError extends Error {
  constructor(name: string, expected: string, actual: string) {
    super(`TRON_RPC_URL_${name}: the node serves chain 0x${actual}, not 0x${expected}`)
    this.name = 'WrongChainError'
  }
}
