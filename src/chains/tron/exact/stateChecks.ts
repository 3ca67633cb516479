import type { ChainState } from './chainState.js'
import type { Refusal } from './checks.js'
import { expectedOf, isTransfer } from './judge.js'

/** One rule that the chain decides: null when it holds. */
type StateCheck = (facts: ChainState, help: EnergyHelp) => Refusal | null

/** Who pays for the execution beside the payer. */
export interface EnergyHelp {
  /** How much energy we would lend to a payer for one payment; 0 where we lend none. */
  readonly maxDelegable: number
}

// Beside its own bytes a transaction is charged for the result that it will carry.
const resultBytes = 64
// The chain may ask more in the next block than in this one.
const energyHeadroom = 1.1

const isUnseen: StateCheck = ({ receipt }) =>
  receipt === null ? null : { reason: 'transaction_already_on_chain' }

const namesRecentBlock: StateCheck = ({ transfer, referenceId }) =>
  referenceId !== null && referenceId.slice(16, 32) === transfer.refBlockHash
    ? null
    : { reason: 'reference_block_mismatch' }

const ownerExists: StateCheck = ({ account }) =>
  account === null ? { reason: 'account_not_activated' } : null

// Whoever recovers to the owner's address need not be who may sign for it: keys can be exchanged, or several needed.
const ownerMaySign: StateCheck = ({ account, transfer }) => {
  const permission = account?.owner ?? null
  if (permission === null) return null
  const key = permission.keys.find(({ address }) => address === transfer.owner)
  return key !== undefined && key.weight >= permission.threshold
    ? null
    : { reason: 'account_permission_mismatch' }
}

const assetIsContract: StateCheck = ({ simulation }) =>
  simulation.isContract ? null : { reason: 'asset_not_deployed_contract' }

const ownsEnough: StateCheck = ({ tokenBalance, transfer }) =>
  tokenBalance >= transfer.value ? null : { reason: 'insufficient_balance' }

const wouldSucceed: StateCheck = ({ simulation }) =>
  simulation.succeeds ? null : { reason: 'invalid_exact_tron_transaction_simulation_failed' }

const wouldPay: StateCheck = ({ simulation, transfer }) =>
  simulation.logs === null || simulation.logs.some((log) => isTransfer(log, expectedOf(transfer)))
    ? null
    : { reason: 'transfer_event_mismatch' }

// The limit is held against all the energy that is used, also against what is staked or lent and burns nothing.
const limitsFeeEnough: StateCheck = ({ transfer, simulation, prices }) =>
  BigInt(neededEnergy(simulation)) * BigInt(prices.energyPrice) <= transfer.feeLimit
    ? null
    : { reason: 'fee_limit_too_low' }

const canPayForIt: StateCheck = (facts, help) => {
  const { resources, transfer, prices, account } = facts
  const size = transfer.bytes.length / 2 + resultBytes
  const isFree = Math.max(resources.freeBandwidth, resources.stakedBandwidth) >= size
  const needed = burnOf(facts, help) + BigInt(isFree ? 0 : size * prices.bandwidthPrice)
  return BigInt(account?.balance ?? 0) >= needed ? null : { reason: 'insufficient_energy' }
}

const checks: readonly StateCheck[] = [
  isUnseen,
  namesRecentBlock,
  ownerExists,
  ownerMaySign,
  assetIsContract,
  ownsEnough,
  wouldSucceed,
  wouldPay,
  limitsFeeEnough,
  canPayForIt,
]

/** The energy that the payer lacks for his transfer. */
export const findShortfall = ({
  simulation,
  resources,
}: Pick<ChainState, 'simulation' | 'resources'>): number =>
  Math.max(0, neededEnergy(simulation) - resources.energy)

const neededEnergy = ({ energy }: ChainState['simulation']): number => Math.ceil(energy * energyHeadroom)

/** What the network will burn of the payer's TRX for energy that neither he has nor we lend, in sun. */
const burnOf = (facts: ChainState, { maxDelegable }: EnergyHelp): bigint => {
  const shortfall = findShortfall(facts)
  return shortfall <= maxDelegable ? 0n : BigInt(shortfall) * BigInt(facts.prices.energyPrice)
}

/** The first rule that the chain says is broken, or null. */
export const findFailedStateCheck = (facts: ChainState, help: EnergyHelp): Refusal | null => {
  for (const rule of checks) {
    const refusal = rule(facts, help)
    if (refusal !== null) return refusal
  }
  return null
}
