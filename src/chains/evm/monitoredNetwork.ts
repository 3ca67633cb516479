import type { Hex } from 'viem'
import type { SignerLanes } from '../../ports/signerLanes.js'
import type { ChainClock } from '../common/chainClock.js'
import type { MonitoredNetwork } from '../common/networkMonitor.js'
import { type Offer, UnknownOfferError } from './offer.js'
import type { Rpc } from './rpc/rpc.js'
import type { EvmNetworkSettings } from './settings.js'
import type { FeeOracle } from './transactions/fees/fees.js'
import { advanceLane, readTransactionCount } from './transactions/lanes/sendInLane.js'
import type { GasBalances, Signers } from './transactions/signers.js'

interface MonitoredEvmNetwork extends MonitoredNetwork {
  /** Whether an account can pay for the next settlement; false until the lanes are open. */
  canPay(address: Hex): boolean
}

/** Checks the nodes' chain id, opens the lanes at the chain's nonces, measures gas balances, and reads what is offered. */
export const createMonitoredNetwork = (
  { network, chainId, maxFeePerGas }: EvmNetworkSettings,
  dependencies: {
    readonly rpc: Rpc
    readonly fees: FeeOracle
    readonly signers: Signers
    readonly balances: GasBalances
    readonly offer: Offer
    readonly lanes: SignerLanes
    readonly clock: ChainClock
  },
): MonitoredEvmNetwork => {
  const { rpc, fees, signers, balances, offer, lanes, clock } = dependencies
  let areLanesOpen = false

  const openLanes = async () => {
    const actual = await rpc.getChainId()
    if (actual !== chainId) throw new WrongChainError(chainId, String(actual))
    for (const signer of signers.addresses) {
      await advanceLane(lanes, { network, signer }, await readTransactionCount(rpc, signer))
    }
    areLanesOpen = true
  }

  /** The probe has just read the newest block of each endpoint. */
  const observeTime = () =>
    clock.observe(
      rpc
        .listHealth()
        .flatMap(({ isUp, headTimestamp }) =>
          isUp && headTimestamp !== null ? [BigInt(headTimestamp)] : [],
        ),
    )

  return {
    network,
    findProblem: async () => {
      if (!(await rpc.probe())) throw new Error('No endpoint responds')
      if (!areLanesOpen) await openLanes()
      observeTime()
      const [reading] = await Promise.all([fees.refresh(), offer.read()])
      await balances.measure(reading)
      if (reading.fees === null) {
        return maxFeePerGas === null
          ? `gas costs far more than usual, and EVM_MAX_FEE_GWEI_${chainId} is not set`
          : `gas costs more than EVM_MAX_FEE_GWEI_${chainId} allows`
      }
      return signers.addresses.some(balances.canPay)
        ? null
        : 'no signer has enough native coin to pay for gas'
    },
    describeFailure: (error) => {
      if (error instanceof WrongChainError || error instanceof UnknownOfferError) return error.message
      const wrong = rpc.listHealth().find(({ wrongChain }) => wrongChain !== null)?.wrongChain
      return wrong == null ? 'no node answers' : new WrongChainError(chainId, wrong).message
    },
    listSigners: balances.list,
    getBalanceLevel: balances.getLevel,
    listEndpoints: rpc.listHealth,
    canPay: (address) => areLanesOpen && balances.canPay(address),
  }
}

/** The endpoint serves another chain: a configuration error, not an outage. */
export class WrongChainError extends Error {
  constructor(expected: number, actual: string) {
    super(`EVM_RPC_URL_${expected}: the endpoint serves chain ${actual}`)
    this.name = 'WrongChainError'
  }
}
