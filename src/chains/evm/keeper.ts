import type { Hex } from 'viem'
import { sleep } from '../../platform/deadline.js'
import type { Logger } from '../../ports/logger.js'
import type { SignerLanes } from '../../ports/signerLanes.js'
import type { NetworkHealth } from '../chain.js'
import { type FeeOracle, highestGasPrice } from './fees.js'
import type { Rpc } from './rpc.js'
import type { EvmNetworkSettings } from './settings.js'
import type { Signers } from './signers.js'

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
    readonly lanes: SignerLanes
    readonly logger: Logger
  },
): Keeper => {
  const { rpc, fees, signers, gasPerSettlement, lanes, logger } = parts
  let able: ReadonlySet<Hex> = new Set()
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

  const findAble = async (): Promise<ReadonlySet<Hex>> => {
    const needed = gasPerSettlement * highestGasPrice(await fees.read())
    const balances = await Promise.all(signers.addresses.map((signer) => rpc.getBalance(signer)))
    return new Set(signers.addresses.filter((_, index) => (balances[index] ?? 0n) >= needed))
  }

  const check = async () => {
    const before = problem
    try {
      if (!areLanesOpen) await openLanes()
      able = await findAble()
      isRpcReachable = true
      problem = able.size > 0 ? null : 'no signer has enough native coin to pay for gas'
    } catch (error) {
      isRpcReachable = false
      problem = error instanceof WrongChainError ? error.message : 'no node answers'
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
    health: () => ({ network: network.network, isServing: problem === null, isRpcReachable, problem }),
    canPay: (address) => areLanesOpen && able.has(address),
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
