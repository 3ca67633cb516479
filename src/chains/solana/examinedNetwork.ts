import type { KeptNetwork } from '../keeper.js'
import type { Rpc } from './rpc/rpc.js'
import type { FeeRunway } from './sending/feeRunway.js'
import type { SolanaNetworkSettings } from './settings.js'

/** What the keeper of a cluster looks at: the nodes' genesis, and what our accounts own there. */
export const createExaminedNetwork = (
  { network, reference }: SolanaNetworkSettings,
  { rpc, runway }: { readonly rpc: Rpc; readonly runway: FeeRunway },
): KeptNetwork => ({
  network,
  examine: async () => {
    if (!(await rpc.probe())) throw new Error('No endpoint answers')
    await runway.measure()
    return runway.list().some(({ signer }) => runway.canPay(signer))
      ? null
      : 'no fee payer has enough SOL to pay for a settlement'
  },
  describeFailure: () => {
    const strange = findWrongCluster(rpc)
    return strange === null ? 'no node answers' : new WrongClusterError(reference, strange).message
  },
  listSigners: runway.list,
  describeRunway: runway.describe,
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
