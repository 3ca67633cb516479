import type { MonitoredNetwork } from '../common/networkMonitor.js'
import type { Rpc } from './rpc/rpc.js'
import type { SolanaNetworkSettings } from './settings.js'
import type { FeePayerBalances } from './transactions/feePayerBalances.js'

/** What the monitor of a cluster looks at: the nodes' genesis, and what our accounts own there. */
export const createMonitoredNetwork = (
  { network, reference }: SolanaNetworkSettings,
  { rpc, balances }: { readonly rpc: Rpc; readonly balances: FeePayerBalances },
): MonitoredNetwork => ({
  network,
  examine: async () => {
    if (!(await rpc.probe())) throw new Error('No endpoint answers')
    await balances.measure()
    return balances.list().some(({ signer }) => balances.canPay(signer))
      ? null
      : 'no fee payer has enough SOL to pay for a settlement'
  },
  describeFailure: () => {
    const strange = findWrongCluster(rpc)
    return strange === null ? 'no node answers' : new WrongClusterError(reference, strange).message
  },
  listSigners: balances.list,
  getBalanceLevel: balances.getLevel,
  listEndpoints: rpc.listHealth,
})

/** The cluster that a node serves in place of the configured one, or null. */
export const findWrongCluster = (rpc: Rpc): string | null =>
  rpc.listHealth().find(({ wrongChain }) => wrongChain !== null)?.wrongChain ?? null

/** The endpoint serves another cluster: a mistake in the configuration, not an outage. */
export class WrongClusterError extends Error {
  constructor(expected: string, actual: string) {
    super(`SOLANA_RPC_URL_${expected}: the endpoint serves the cluster ${actual}`)
    this.name = 'WrongClusterError'
  }
}
