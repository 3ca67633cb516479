import { getAddress, type Hex, keccak256, parseTransaction } from 'viem'
import type { PrivateKeyAccount } from 'viem/accounts'
import { createFailureLog } from '../../../../failureLog.js'
import type { Clock } from '../../../../ports/clock.js'
import type { Logger } from '../../../../ports/logger.js'
import type { Lane, SignedTransaction } from '../../../../ports/settlementJournal.js'
import type { LaneTransaction, SignerLanes } from '../../../../ports/signerLanes.js'
import { asHex } from '../../abi/words.js'
import type { Rpc } from '../../rpc/rpc.js'
import type { EvmNetworkSettings } from '../../settings.js'
import { bumpFees, type FeeOracle, type Fees, highestGasPrice } from '../fees/fees.js'
import { type GasBudget, spendForReplacement, toGwei } from '../fees/gasBudget.js'
import type { ReceiptWatcher } from '../receipts/receiptWatcher.js'
import type { NoncePool } from './noncePool.js'
import { maxUnconfirmedJump, readTransactionCount } from './sendInLane.js'

/** Renews leases, fills nonce gaps, replaces stuck transactions. */
export interface LaneMaintenance {
  /** One round. Never throws. */
  check(): Promise<void>
  /** How often a lane of this process had nonces that no bytes had. */
  countRepairs(address: string): number
  close(): Promise<void>
}

interface LaneMaintenanceDependencies {
  readonly rpc: Rpc
  readonly fees: FeeOracle
  readonly accounts: readonly PrivateKeyAccount[]
  readonly lanes: SignerLanes
  readonly pool: NoncePool
  readonly receipts: ReceiptWatcher
  readonly budget: GasBudget
  readonly clock: Clock
  readonly logger: Logger
  /** A transaction that is pending for longer than this is replaced at a higher price. */
  readonly replaceAfterMs: number
}

const roundMs = 2_000
// For so long a lane without a transaction in flight is left alone, unless a nonce is allocated.
const quietMs = 15_000
// Nodes accept a limited number per account; the next round continues.
const transactionsPerRound = 50
// A transaction that offers more than this multiple of the current price is not stuck by its price.
const maxOverCurrentPrice = 4n
// An empty transaction from the account to itself takes this.
const gapFillGas = 21_000n
// A wider gap is not filled: the lane is moved back.
const widestGap = 2 * maxUnconfirmedJump

/** Starts the rounds. */
export const createLaneMaintenance = (
  network: EvmNetworkSettings,
  dependencies: LaneMaintenanceDependencies,
): LaneMaintenance => {
  const { rpc, fees, accounts, lanes, pool, receipts, budget, clock, logger, replaceAfterMs } = dependencies
  const repairs = new Map<string, number>()
  const failures = createFailureLog({
    logger,
    event: 'lane.check_failed',
    recovered: 'lane.check_recovered',
  })
  /** Transaction count of each account in the last round. */
  const lastCount = new Map<Hex, number>()
  /** The last count of each account that more than one endpoint had, where there are several. */
  const agreedCount = new Map<Hex, number>()
  /** The next nonce of each account when all before it were last found mined, and when that was. */
  const quiet = new Map<Hex, { readonly next: number; readonly at: number }>()
  /** The newest block when a lane last had waiting transactions. */
  const lastHead = new Map<Hex, bigint>()
  const stopped = new AbortController()

  const sign =
    (account: PrivateKeyAccount, transaction: Omit<Unsigned, 'nonce'>) =>
    async (nonce: number): Promise<SignedTransaction> => {
      const { fees: offered, ...rest } = transaction
      const bytes = await account.signTransaction({
        chainId: network.chainId,
        nonce,
        value: 0n,
        ...rest,
        ...offered,
      })
      return { transaction: keccak256(bytes), bytes }
    }

  /** Fills nonces without recorded bytes, or rewinds the lane when nothing is recorded close behind them. */
  const closeGap = async (account: PrivateKeyAccount, lane: Lane, { from, until }: NonceGap) => {
    if (await lanes.rewindNonce(lane, from, widestGap)) {
      countRepair(lane)
      logger.error({ ...lane, from, until }, 'nonce.rewound')
      return
    }
    const filling = { to: account.address, gas: gapFillGas, fees: await fees.read() }
    const end = Math.min(until, from + transactionsPerRound)
    countRepair(lane)
    for (let nonce = from; nonce < end && !stopped.signal.aborted; nonce++) {
      await budget.spend(toGwei(gapFillGas * highestGasPrice(filling.fees)), null)
      const filled = await lanes.fillNonceGap(lane, nonce, sign(account, filling))
      if (filled === null) continue
      logger.error({ ...lane, nonce, transaction: filled.transaction }, 'nonce.gap_filled')
      await rpc.send(asHex(filled.bytes))
    }
  }

  const laneOf = (signer: Hex): Lane => ({ network: network.network, signer })

  const countRepair = ({ signer }: Lane) => {
    repairs.set(signer, (repairs.get(signer) ?? 0) + 1)
  }

  /** Sends the same call at a higher price with the same nonce: at most one of the two is mined. */
  const replace = async (
    account: PrivateKeyAccount,
    lane: Lane,
    stuck: LaneTransaction,
    behind: readonly LaneTransaction[],
  ): Promise<boolean> => {
    const { to, data, gas, ...old } = parseTransaction(asHex(stuck.bytes))
    const [offered, current] = [readFees(old), await fees.read()]
    if (highestGasPrice(offered) > maxOverCurrentPrice * highestGasPrice(current)) return false
    const higher = bumpFees(offered, current, fees.getMaxFeePerGas())
    if (to == null || gas === undefined || higher === null) return false
    // At most one of the two is mined: only the difference may be spent in addition.
    const more = highestGasPrice(higher) - highestGasPrice(offered)
    try {
      const isUrgentFor = [stuck, ...behind].flatMap(({ urgentShares }) => urgentShares)
      await spendForReplacement(budget, toGwei(gas * more), { shares: stuck.urgentShares, isUrgentFor })
    } catch (error) {
      logger.warn({ ...lane, transaction: stuck.transaction, error }, 'transaction.replacement_too_expensive')
      return false
    }
    const call = { to, gas, fees: higher, ...(data === undefined ? {} : { data }) }
    const replacement = await lanes.replace(lane, stuck, sign(account, call))
    if (replacement === null) return false
    const { transaction } = replacement
    logger.warn(
      { ...lane, nonce: stuck.nonce, replaces: stuck.transaction, transaction },
      'transaction.replaced',
    )
    receipts.followReplacement(asHex(stuck.transaction), asHex(transaction))
    await rpc.send(asHex(replacement.bytes))
    return true
  }

  const isOverdue = ({ recordedAt }: LaneTransaction): boolean =>
    clock.now().getTime() - recordedAt.getTime() >= replaceAfterMs

  /** False on a halted chain, where no price helps. */
  const hasChainMoved = async (address: Hex): Promise<boolean> => {
    const head = await rpc.getBlock('latest')
    const before = lastHead.get(address)
    if (head === null) return false
    lastHead.set(address, head.number)
    return before !== undefined && head.number > before
  }

  /** Asks every endpoint while something is in flight: by too high a count of one, nothing would be left to do. */
  const readCount = async (address: Hex, next: number): Promise<number> => {
    if ((agreedCount.get(address) ?? -1) >= next) {
      const count = await rpc.getTransactionCount(address, 'latest')
      if (count >= next) return count
    }
    const { count } = await readTransactionCount(rpc, address)
    agreedCount.set(address, count)
    return count
  }

  const unblock = async (
    account: PrivateKeyAccount,
    { count, next }: { readonly count: number; readonly next: number },
  ): Promise<void> => {
    if (next <= count) return
    const lane = laneOf(account.address)
    const waiting = await lanes.listFrom(lane, count, transactionsPerRound)
    const [first] = waiting
    if (first === undefined || first.nonce > count) {
      await closeGap(account, lane, { from: count, until: first?.nonce ?? next })
      return
    }
    const canReplace = await hasChainMoved(account.address)
    for (const [index, transaction] of waiting.entries()) {
      if (stopped.signal.aborted) return
      const behind = waiting.slice(index + 1)
      if (canReplace && isOverdue(transaction) && (await replace(account, lane, transaction, behind)))
        continue
      await rpc.send(asHex(transaction.bytes))
    }
  }

  /** Another instance maintains this lane: its replacements answer the waits of this one. */
  const followOthers = async (signer: Hex, from: number): Promise<void> => {
    const newest = await lanes.listFrom(laneOf(signer), from, transactionsPerRound)
    for (const { transaction, replaced } of newest) {
      for (const old of replaced) receipts.followReplacement(asHex(old), asHex(transaction))
    }
  }

  const isQuiet = (address: Hex): boolean => {
    const found = quiet.get(address)
    if (found === undefined || performance.now() - found.at >= quietMs) return false
    return lanes.peekNext(laneOf(address)) === found.next
  }

  const checkLane = async (account: PrivateKeyAccount, isLeased: boolean): Promise<void> => {
    const { address } = account
    const isUsed = pool.isInUse(address) || receipts.isWaiting()
    // Either its holder maintains it and this process waits for nothing there, or there is nothing to maintain.
    if (!isUsed && (!isLeased || isQuiet(address))) {
      lastCount.delete(address)
      return
    }
    try {
      const next = await lanes.readNext(laneOf(address))
      const count = await readCount(address, next)
      const before = lastCount.get(address)
      lastCount.set(address, count)
      pool.setMined(address, count)
      if (next <= count) quiet.set(address, { next, at: performance.now() })
      else quiet.delete(address)
      if (!isLeased) await followOthers(address, before ?? count)
      else if (before === count) await unblock(account, { count, next })
      if (pool.isOverfull(address)) pool.setNext(address, await lanes.readNext(laneOf(address)))
      failures.succeeded(address)
    } catch (error) {
      // One failing lane must not stop the others.
      failures.failed(address, { network: network.network, signer: address, error })
    }
  }

  const check = async () => {
    try {
      const signers = accounts.map(({ address }) => address)
      const answer = await lanes.lease(network.network, signers)
      const leased = new Set(answer.map((signer) => getAddress(signer)))
      pool.setLeased([...leased])
      await Promise.all(accounts.map((account) => checkLane(account, leased.has(account.address))))
      failures.succeeded(network.network)
    } catch (error) {
      failures.failed(network.network, { network: network.network, error })
    }
  }

  const rounds = (async () => {
    while (await clock.sleep(roundMs, stopped.signal)) await check()
  })()

  return {
    check,
    countRepairs: (address) => repairs.get(address) ?? 0,
    close: async () => {
      stopped.abort()
      await rounds
    },
  }
}

/** Nonces without bytes; `until` is the next one that has some, or that none was drawn for. */
interface NonceGap {
  readonly from: number
  readonly until: number
}

interface Unsigned {
  readonly nonce: number
  readonly to: Hex
  readonly gas: bigint
  readonly fees: Fees
  readonly data?: Hex
}

const readFees = (transaction: {
  readonly gasPrice?: bigint | undefined
  readonly maxFeePerGas?: bigint | undefined
  readonly maxPriorityFeePerGas?: bigint | undefined
}): Fees => {
  const { gasPrice, maxFeePerGas, maxPriorityFeePerGas } = transaction
  return maxFeePerGas === undefined
    ? { type: 'legacy', gasPrice: gasPrice ?? 0n }
    : { type: 'eip1559', maxFeePerGas, maxPriorityFeePerGas: maxPriorityFeePerGas ?? 0n }
}
