import { type Hex, isAddressEqual, keccak256, parseTransaction } from 'viem'
import type { PrivateKeyAccount } from 'viem/accounts'
import { sleep } from '../../platform/deadline.js'
import type { Clock } from '../../ports/clock.js'
import type { Logger } from '../../ports/logger.js'
import type { Lane, SignedTransaction } from '../../ports/settlementJournal.js'
import type { LaneTransaction, SignerLanes } from '../../ports/signerLanes.js'
import { bumpFees } from './bumpFees.js'
import type { FeeOracle, Fees } from './fees.js'
import { asHex } from './hex.js'
import type { LanePool } from './lanePool.js'
import type { ReceiptWatcher } from './receiptWatcher.js'
import type { Rpc } from './rpc.js'
import type { EvmNetworkSettings } from './settings.js'

/** Looks after the lanes of one network, so that none stands still: leases, gaps, stuck transactions. */
export interface LaneUpkeep {
  /** One round. Never throws. */
  check(): Promise<void>
  close(): Promise<void>
}

/** What looking after lanes needs. */
export interface UpkeepParts {
  readonly rpc: Rpc
  readonly fees: FeeOracle
  readonly accounts: readonly PrivateKeyAccount[]
  readonly lanes: SignerLanes
  readonly pool: LanePool
  readonly receipts: ReceiptWatcher
  readonly clock: Clock
  readonly logger: Logger
  /** How long a transaction may wait before it is offered at a higher price. */
  readonly replaceAfterMs: number
}

const roundMs = 2_000
// Nodes take only so many of one account at once; the next round goes on where this one ends.
const transactionsPerRound = 50
// A transfer of nothing to oneself.
const fillingGas = 21_000n

/** Builds the upkeep; its rounds come by themselves. */
export const createLaneUpkeep = (network: EvmNetworkSettings, parts: UpkeepParts): LaneUpkeep => {
  const { rpc, fees, accounts, lanes, pool, receipts, clock, logger, replaceAfterMs } = parts
  /** Where each lane stood in the last round. */
  const lastCount = new Map<Hex, number>()

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

  /** Gives numbers that no bytes have a transaction of nothing, or moves the lane back where there are none at all. */
  const closeGap = async (account: PrivateKeyAccount, lane: Lane, from: number, until: number) => {
    if (await lanes.retreat(lane, from)) {
      logger.error({ ...lane, from, until }, 'lane.moved_back')
      return
    }
    const filling = { to: account.address, gas: fillingGas, fees: await fees.read() }
    for (let nonce = from; nonce < until; nonce++) {
      const filled = await lanes.fill(lane, nonce, sign(account, filling))
      if (filled === null) continue
      logger.error({ ...lane, nonce, transaction: filled.transaction }, 'lane.gap_filled')
      await rpc.send(asHex(filled.bytes))
    }
  }

  /** Offers the same call at a higher price, under the same number: at most one of the two is mined. */
  const replace = async (
    account: PrivateKeyAccount,
    lane: Lane,
    stuck: LaneTransaction,
  ): Promise<boolean> => {
    const { to, data, gas, ...old } = parseTransaction(asHex(stuck.bytes))
    const higher = bumpFees(readFees(old), await fees.read(), network.maxFeePerGas)
    if (to == null || gas === undefined || higher === null) return false
    const call = { to, gas, fees: higher, ...(data === undefined ? {} : { data }) }
    const replacement = await lanes.replace(lane, stuck, sign(account, call))
    if (replacement === null) return false
    const { transaction } = replacement
    logger.warn({ ...lane, nonce: stuck.nonce, replaces: stuck.transaction, transaction }, 'lane.replaced')
    receipts.follow(asHex(stuck.transaction), asHex(transaction))
    await rpc.send(asHex(replacement.bytes))
    return true
  }

  const isOverdue = ({ recordedAt }: LaneTransaction): boolean =>
    clock.now().getTime() - recordedAt.getTime() >= replaceAfterMs

  const checkLane = async (account: PrivateKeyAccount): Promise<void> => {
    const { address } = account
    const lane = { network: network.network, signer: address }
    const count = await rpc.getTransactionCount(address, 'latest')
    pool.setMined(address, count)
    const hasStoodStill = lastCount.get(address) === count
    lastCount.set(address, count)
    if (!hasStoodStill) return
    const next = await lanes.readNext(lane)
    if (next <= count) return

    const waiting = await lanes.listFrom(lane, count, transactionsPerRound)
    const [first] = waiting
    if (first === undefined || first.nonce > count) {
      const until = Math.min(first?.nonce ?? next, count + transactionsPerRound)
      await closeGap(account, lane, count, until)
      return
    }
    for (const transaction of waiting) {
      if (isOverdue(transaction) && (await replace(account, lane, transaction))) continue
      await rpc.send(asHex(transaction.bytes))
    }
  }

  const check = async () => {
    try {
      const held = await lanes.lease(
        network.network,
        accounts.map(({ address }) => address),
      )
      pool.setHeld(held)
      for (const account of accounts) {
        if (held.some((address) => isAddressEqual(asHex(address), account.address))) await checkLane(account)
        else pool.setMined(account.address, await rpc.getTransactionCount(account.address, 'latest'))
      }
    } catch (error) {
      logger.warn({ network: network.network, error }, 'lane.check_failed')
    }
  }

  const stopped = new AbortController()
  const rounds = (async () => {
    while (await sleep(roundMs, stopped.signal)) await check()
  })()

  return {
    check,
    close: async () => {
      stopped.abort()
      await rounds
    },
  }
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
