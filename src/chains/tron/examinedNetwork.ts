import type { KeptNetwork } from '../keeper.js'
import type { TronNode } from './node/node.js'
import type { TronNetworkSettings } from './settings.js'
import type { EnergySponsor } from './sponsoring/energySponsor.js'

/** What the keeper of a TRON network looks at: the nodes' chain, and what energy we have to lend. */
export const createExaminedNetwork = (
  { network, name, chainId }: TronNetworkSettings,
  { node, sponsor }: { readonly node: TronNode; readonly sponsor: EnergySponsor | null },
): KeptNetwork => ({
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
  describeRunway: () => (sponsor !== null && sponsor.health().settlesLeft === 0 ? 'low' : 'ok'),
  listEndpoints: node.listHealth,
})

/** The chain that a node serves in place of ours, or null. */
export const findWrongChain = (node: TronNode): string | null =>
  node.listHealth().find(({ wrongChain }) => wrongChain !== null)?.wrongChain ?? null

/** A node serves another chain: a mistake in the configuration, not an outage. */
export class WrongChainError extends Error {
  constructor(name: string, expected: string, actual: string) {
    super(`TRON_RPC_URL_${name}: the node serves chain 0x${actual}, not 0x${expected}`)
    this.name = 'WrongChainError'
  }
}
