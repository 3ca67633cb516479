import type { Hex } from 'viem'
import { sleep } from '../../deadline.js'
import type { Logger } from '../../ports/logger.js'
import type { SignerLanes } from '../../ports/signerLanes.js'
import type { NetworkHealth } from '../chain.js'
import type { FeeOracle } from './gas/fees.js'
import { createGasRunway } from './gas/gasRunway.js'
import type { Rpc } from './rpc/rpc.js'
import type { Signers } from './sending/signers.js'
import type { EvmNetworkSettings } from './settings.js'

/** Looks after one network: whether it can settle. */
export interface Keeper {
  health(): NetworkHealth
  canPay(address: Hex): boolean
  /** One round: nodes and gas. Never throws. */
  check(): Promise<void>
  close(): Promise<void>
}

const roundMs = 5_000

/** Builds the keeper; its first round is the caller's to await, later ones come by themselves. */
export const createKeeper = (
  network: EvmNetworkSettings,
  parts: {
    readonly rpc: Rpc
    readonly fees: FeeOracle
    readonly signers: Signers
    /** An account that cannot pay for this much is not asked to: it could not even simulate a transfer. */
    readonly gasPerSettlement: bigint
    readonly lowRunwaySettles: number
    readonly lanes: SignerLanes
    readonly logger: Logger
  },
): Keeper => {
  const { rpc, fees, signers, lowRunwaySettles, lanes, logger } = parts
  const runway = createGasRunway(network.network, parts)
  let problem: string | null = 'not asked yet'
  let isRpcReachable = false
  let areLanesOpen = false

  const openLanes = async () => {
    const chainId = await rpc.getChainId()
    if (chainId !== network.chainId) throw new WrongChainError(network.chainId, chainId)
    for (const signer of signers.addresses) {
      const used = await rpc.getTransactionCount(signer, 'latest')
      await lanes.advance({ network: network.network, signer }, used)
    }
    areLanesOpen = true
  }

  /** Who can pay, and what stands in the way of settling even so. */
  const findProblem = async (): Promise<string | null> => {
    const reading = await fees.refresh()
    await runway.measure(reading)
    if (reading.fees === null) return `gas costs more than EVM_MAX_FEE_GWEI_${network.chainId} allows`
    return signers.addresses.some(runway.canPay) ? null : 'no signer has enough native coin to pay for gas'
  }

  const describeFailure = (error: unknown): string => {
    if (error instanceof WrongChainError) return error.message
    const strange = rpc.listHealth().find(({ wrongChain }) => wrongChain !== null)?.wrongChain
    return strange == null ? 'no node answers' : new WrongChainError(network.chainId, strange).message
  }

  const describeRunway = (): NetworkHealth['runway'] => {
    const known = runway.list()
    if (known.length === 0) return 'unknown'
    const settlesLeft = known.reduce((sum, signer) => sum + signer.settlesLeft, 0)
    if (settlesLeft === 0) return 'empty'
    return settlesLeft < lowRunwaySettles ? 'low' : 'ok'
  }

  const check = async () => {
    const before = problem
    try {
      if (!(await rpc.probe())) throw new Error('No endpoint answers')
      if (!areLanesOpen) await openLanes()
      problem = await findProblem()
      isRpcReachable = true
    } catch (error) {
      isRpcReachable = false
      problem = describeFailure(error)
      logger.debug({ network: network.network, error }, 'network.check_failed')
    }
    if (problem === before) return
    if (problem === null) logger.info({ network: network.network }, 'network.serving')
    else logger.error({ network: network.network, problem }, 'network.not_serving')
  }

  const stopped = new AbortController()
  const rounds = (async () => {
    while (await sleep(roundMs, stopped.signal)) await check()
  })()

  return {
    health: () => ({
      network: network.network,
      isServing: problem === null,
      isRpcReachable,
      problem,
      runway: describeRunway(),
      signers: runway.list(),
      endpoints: rpc.listHealth(),
    }),
    canPay: (address) => areLanesOpen && runway.canPay(address),
    check,
    close: async () => {
      stopped.abort()
      await rounds
    },
  }
}

/** The endpoint serves another chain: a mistake in the configuration, not an outage. */
export class WrongChainError extends Error {
  constructor(expected: number, actual: number) {
    super(`EVM_RPC_URL_${expected}: the endpoint serves chain ${actual}`)
    this.name = 'WrongChainError'
  }
}
