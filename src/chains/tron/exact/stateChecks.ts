import { setNewest } from '../../../concurrency/boundedMap.js'
import type { Clock } from '../../../ports/clock.js'
import { namesOf, type Rule, runRules, type Trace } from '../../../protocol/rules/rules.js'
import { toWord } from '../encoding/address.js'
import type { Rpc } from '../rpc/rpc.js'
import type { Account, Prices, Receipt, Resources, Simulation } from '../rpc/wireShapes.js'
import type { SignedTransfer } from './decode.js'
import type { FailedCheck } from './prepare.js'
import { expectedOf, isTransfer } from './resolve.js'

export interface ChainState {
  readonly transfer: SignedTransfer
  /** Id of the referenced block; null if it does not exist. */
  readonly referenceId: string | null
  readonly receipt: Receipt | null
  readonly account: Account | null
  readonly resources: Resources
  readonly simulation: Simulation
  readonly tokenBalance: bigint
  readonly prices: Prices
}

// Blocks that the chain may be ahead of the highest known block.
const headSlack = 1_000
// `ref_block_bytes` are the last two bytes of a block number.
const referenceRange = 0x1_0000

// balanceOf(address)
const balanceOf = '70a08231'

interface SharedState {
  readonly readPrices: () => Promise<Prices>
  readonly findReferenceId: FindReferenceId
}

export const readChainState = async (
  rpc: Rpc,
  transfer: SignedTransfer,
  { readPrices, findReferenceId }: SharedState,
): Promise<ChainState> => {
  const { owner, contract, data, transaction } = transfer
  const [referenceId, receipt, account, resources, simulation, balance, prices] = await Promise.all([
    findReferenceId(transfer.refBlockBytes),
    rpc.findReceipt(transaction),
    rpc.findAccount(owner),
    rpc.getResources(owner),
    rpc.simulate({ from: owner, to: contract, data }),
    rpc.simulate({ from: owner, to: contract, data: `${balanceOf}${toWord(owner)}` }),
    readPrices(),
  ])
  const tokenBalance = /^[0-9a-f]{64}$/.test(balance.returned) ? BigInt(`0x${balance.returned}`) : 0n
  return { transfer, referenceId, receipt, account, resources, simulation, tokenBalance, prices }
}

/** The id of the newest block whose number ends in these two bytes; null if there is none. */
type FindReferenceId = (refBlockBytes: string) => Promise<string | null>

// One block time. Payers who sign at the same time refer to the same block.
const maxReferenceAgeMs = 3_000
const maxReferences = 1_000

type BlockReader = Pick<Rpc, 'getHead' | 'findHeader' | 'getHighestKnownBlock'>

/**
 * The id of a block changes only when it is orphaned. A payment that refers to one that was is refused when it is sent, also
 * where the block was asked for just before.
 */
export const createReferenceIds = (rpc: BlockReader, clock: Pick<Clock, 'now'>): FindReferenceId => {
  const cache = new Map<number, { readonly id: string; readonly readAtMs: number }>()
  return async (refBlockBytes) => {
    if (!/^[0-9a-f]{4}$/.test(refBlockBytes)) return null
    const head = await getNewestBlockNumber(rpc)
    const low = Number.parseInt(refBlockBytes, 16)
    const top = head + headSlack
    const number = top - ((top - low) % referenceRange)
    if (number < 0) return null
    const readAtMs = clock.now().getTime()
    const cached = cache.get(number)
    if (cached !== undefined && Math.abs(readAtMs - cached.readAtMs) < maxReferenceAgeMs) return cached.id
    const header = await rpc.findHeader(number)
    if (header === null) return null
    setNewest(cache, number, { id: header.id, readAtMs }, maxReferences)
    return header.id
  }
}

const getNewestBlockNumber = async (rpc: BlockReader): Promise<number> => {
  const known = rpc.getHighestKnownBlock()
  return known > 0 ? known : (await rpc.getHead()).number
}

interface StateCandidate extends ChainState {
  /** Energy that we can delegate to the payer; 0 without sponsoring. */
  readonly maxDelegable: number
}

type StateCheck = Rule<StateCandidate, FailedCheck>['check']

// A transaction also pays bandwidth for its result.
const resultBytes = 64
// Energy use may rise between simulation and execution.
const energyHeadroom = 1.1

const isUnseen: StateCheck = ({ receipt }) =>
  receipt === null ? null : { reason: 'transaction_already_on_chain' }

const namesRecentBlock: StateCheck = ({ transfer, referenceId }) =>
  referenceId !== null && referenceId.slice(16, 32) === transfer.refBlockHash
    ? null
    : { reason: 'reference_block_mismatch' }

const ownerExists: StateCheck = ({ account }) =>
  account === null ? { reason: 'account_not_activated' } : null

// The owner's key may have been replaced, or several keys may be required.
const ownerMaySign: StateCheck = ({ account, transfer }) => {
  const permission = account?.owner ?? null
  if (permission === null) return null
  const key = permission.keys.find(({ address }) => address === transfer.owner)
  return key !== undefined && reaches(key.weight, permission.threshold)
    ? null
    : { reason: 'account_permission_mismatch' }
}

// Above 2^53 both are rounded: equal ones may differ on chain.
const reaches = (weight: number, threshold: number): boolean =>
  weight > threshold || (weight === threshold && Number.isSafeInteger(weight))

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

// fee_limit applies to all energy used, including staked and delegated energy.
const coversEnergyByFeeLimit: StateCheck = ({ transfer, simulation, prices }) =>
  BigInt(neededEnergy(simulation)) * BigInt(prices.energyPrice) <= transfer.feeLimit
    ? null
    : { reason: 'fee_limit_too_low' }

const canPayFees: StateCheck = (candidate) => {
  const { resources, transfer, prices, account } = candidate
  const size = transfer.bytes.length / 2 + resultBytes
  const isFree = Math.max(resources.freeBandwidth, resources.stakedBandwidth) >= size
  const needed = countBurnedSun(candidate) + BigInt(isFree ? 0 : size * prices.bandwidthPrice)
  return BigInt(account?.balance ?? 0) >= needed ? null : { reason: 'insufficient_energy' }
}

const rules: readonly Rule<StateCandidate, FailedCheck>[] = [
  { name: 'unseen', check: isUnseen },
  {
    name: 'reference_block',
    check: namesRecentBlock,
    compare: ({ transfer, referenceId }) => ({
      found: transfer.refBlockHash,
      expected: referenceId?.slice(16, 32) ?? 'a block that the network knows',
    }),
  },
  { name: 'account', check: ownerExists },
  { name: 'account_permission', check: ownerMaySign },
  { name: 'asset_contract', check: assetIsContract },
  {
    name: 'balance',
    check: ownsEnough,
    compare: ({ tokenBalance, transfer }) => ({
      found: tokenBalance,
      expected: `at least ${transfer.value}`,
    }),
  },
  { name: 'simulation', check: wouldSucceed },
  { name: 'transfer_event', check: wouldPay },
  {
    name: 'fee_limit',
    check: coversEnergyByFeeLimit,
    compare: ({ transfer, simulation, prices }) => ({
      found: `${transfer.feeLimit} sun`,
      expected: `at least ${BigInt(neededEnergy(simulation)) * BigInt(prices.energyPrice)} sun`,
    }),
  },
  {
    name: 'fee_balance',
    check: canPayFees,
    compare: ({ account, resources }) => ({
      found: `${account?.balance ?? 0} sun, ${resources.energy} energy`,
      expected: 'enough for energy and bandwidth of the transfer',
    }),
  },
]

export const stateRules = namesOf(rules)

/** Energy that the payer lacks for the transfer. */
export const findShortfall = ({
  simulation,
  resources,
}: Pick<ChainState, 'simulation' | 'resources'>): number =>
  Math.max(0, neededEnergy(simulation) - resources.energy)

const neededEnergy = ({ energy }: ChainState['simulation']): number => Math.ceil(energy * energyHeadroom)

/** TRX burned for energy that is neither the payer's nor delegated, in sun. */
const countBurnedSun = (candidate: StateCandidate): bigint => {
  const shortfall = findShortfall(candidate)
  return shortfall <= candidate.maxDelegable ? 0n : BigInt(shortfall) * BigInt(candidate.prices.energyPrice)
}

/** The first rule that the chain state breaks, or null. */
export const findFailedStateCheck = (candidate: StateCandidate, trace?: Trace): FailedCheck | null =>
  runRules(rules, candidate, trace)
