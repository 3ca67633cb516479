import type { MonitoredNetwork } from '../common/networkMonitor.js'
import type { Rpc } from './rpc/rpc.js'
import type { SolanaNetworkSettings } from './settings.js'
import type { FeePayerBalances } from './transactions/feePayerBalances.js'

/** Checks the cluster's genesis hash and the fee payers' balances. */
export const createMonitoredNetwork = (
  { network, reference }: SolanaNetworkSettings,
  { rpc, balances }: { readonly rpc: Rpc; readonly balances: FeePayerBalances },
): MonitoredNetwork => ({
  network,
  findProblem: async () => {
    if (!(await rpc.probe())) throw new Error('No endpoint responds')
    await balances.measure()
    return balances.list().some(({ signer }) => balances.canPay(signer))
      ? null
      : 'no fee payer has enough SOL for a settlement: fund at least one'
  },
  describeFailure: () => {
    const wrongChain = findWrongChain(rpc)
    return wrongChain === null ? 'no node answers' : new WrongChainError(reference, wrongChain).message
  },
  listSigners: balances.list,
  getBalanceLevel: balances.getLevel,
  listEndpoints: rpc.listHealth,
})

/** Reference of the cluster that an endpoint serves in place of the configured one, or null. */
export const findWrongChain = (rpc: Rpc): string | null =>
  rpc.listHealth().find(({ wrongChain }) => wrongChain !== null)?.wrongChain ?? null

/** A configuration error, not an outage: it stops the start. */
export class WrongChainError extends Error {
  constructor(expected: string, actual: string) {
    super(`SOLANA_RPC_URL_${expected}: the endpoint serves the cluster ${actual}`)
    this.name = 'WrongClusterError'
  }
}
