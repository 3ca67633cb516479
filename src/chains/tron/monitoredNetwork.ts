import type { MonitoredNetwork } from '../common/networkMonitor.js'
import type { EnergyDelegator } from './energy/energyDelegator.js'
import type { Rpc } from './rpc/rpc.js'
import type { TronNetworkSettings } from './settings.js'

export const createMonitoredNetwork = (
  { network, name, chainId }: TronNetworkSettings,
  { rpc, sponsor }: { readonly rpc: Rpc; readonly sponsor: EnergyDelegator | null },
): MonitoredNetwork => ({
  network,
  findProblem: async () => {
    if (!(await rpc.probe())) throw new Error('No endpoint responds')
    await sponsor?.check()
    return null
  },
  describeFailure: () => {
    const wrongChain = findWrongChain(rpc)
    return wrongChain === null ? 'no node answers' : new WrongChainError(name, chainId, wrongChain).message
  },
  listSigners: () => (sponsor === null ? [] : [sponsor.health()]),
  // Never `empty`: payers with energy or TRX need none of ours.
  getBalanceLevel: () => (sponsor !== null && sponsor.health().settlementsLeft === 0 ? 'low' : 'ok'),
  listEndpoints: rpc.listHealth,
})

/** Id of the chain that an endpoint serves in place of the configured one, or null. */
export const findWrongChain = (rpc: Rpc): string | null =>
  rpc.listHealth().find(({ wrongChain }) => wrongChain !== null)?.wrongChain ?? null

/** A configuration error, not an outage: it stops the start. */
export class WrongChainError extends Error {
  constructor(name: string, expected: string, actual: string) {
    super(`TRON_RPC_URL_${name}: the endpoint serves chain 0x${actual}, not 0x${expected}`)
    this.name = 'WrongChainError'
  }
}
