import type { Hex } from 'viem'
import type { SignerLanes } from '../../ports/signerLanes.js'
import type { KeptNetwork } from '../keeper.js'
import type { FeeOracle } from './gas/fees.js'
import type { GasRunway } from './gas/gasRunway.js'
import type { Rpc } from './rpc/rpc.js'
import type { Signers } from './sending/signers.js'
import type { EvmNetworkSettings } from './settings.js'

/** An EVM network under the eyes of its keeper. */
export interface ExaminedNetwork extends KeptNetwork {
  /** Whether an account can pay for the next settlement; false for all while the network is not open. */
  canPay(address: Hex): boolean
}

/** What the keeper of an EVM network looks at: the nodes' chain, our numbers there, and our gas. */
export const createExaminedNetwork = (
  { network, chainId }: EvmNetworkSettings,
  parts: {
    readonly rpc: Rpc
    readonly fees: FeeOracle
    readonly signers: Signers
    readonly runway: GasRunway
    readonly lanes: SignerLanes
  },
): ExaminedNetwork => {
  const { rpc, fees, signers, runway, lanes } = parts
  let areLanesOpen = false

  const openLanes = async () => {
    const answered = await rpc.getChainId()
    if (answered !== chainId) throw new WrongChainError(chainId, String(answered))
    for (const signer of signers.addresses) {
      const used = await rpc.getTransactionCount(signer, 'latest')
      await lanes.advance({ network, signer }, used)
    }
    areLanesOpen = true
  }

  return {
    network,
    examine: async () => {
      if (!(await rpc.probe())) throw new Error('No endpoint answers')
      if (!areLanesOpen) await openLanes()
      const reading = await fees.refresh()
      await runway.measure(reading)
      if (reading.fees === null) return `gas costs more than EVM_MAX_FEE_GWEI_${chainId} allows`
      return signers.addresses.some(runway.canPay) ? null : 'no signer has enough native coin to pay for gas'
    },
    describeFailure: (error) => {
      if (error instanceof WrongChainError) return error.message
      const strange = rpc.listHealth().find(({ wrongChain }) => wrongChain !== null)?.wrongChain
      return strange == null ? 'no node answers' : new WrongChainError(chainId, strange).message
    },
    listSigners: runway.list,
    describeRunway: runway.describe,
    listEndpoints: rpc.listHealth,
    canPay: (address) => areLanesOpen && runway.canPay(address),
  }
}

/** The endpoint serves another chain: a mistake in the configuration, not an outage. */
export class WrongChainError extends Error {
  constructor(expected: number, actual: string) {
    super(`EVM_RPC_URL_${expected}: the endpoint serves chain ${actual}`)
    this.name = 'WrongChainError'
  }
}
