import { sleep, withSignal } from '../../../concurrency/deadline.js'
import type { Clock } from '../../../ports/clock.js'
import type { Logger } from '../../../ports/logger.js'
import type { SignerLanes } from '../../../ports/signerLanes.js'
import { type HourlyBudget, spendForBatch } from '../../common/hourlyBudget.js'
import { networkUnavailable } from '../../common/networkUnavailable.js'
import type { Rpc } from '../rpc/rpc.js'
import type { TonNetworkSettings } from '../settings.js'
import {
  createPendingRequests,
  type PendingRequest,
  type Relayed,
  type RelayRequest,
} from './pendingRequests.js'
import { advanceLane, type RelayAccount, readAgreedAccount, readRelayAccount } from './relayAccounts.js'
import { countRelayCost, type RelayWallet, signRelayMessage } from './relayWallets.js'

export interface RelayQueue {
  /** Records, then sends. Rejects only if nothing was recorded. */
  submit(request: RelayRequest): Promise<Relayed>
  /** Payments that wait for a place in a message. */
  countQueued(): number
  close(): Promise<void>
}

export interface RelayDependencies {
  readonly network: TonNetworkSettings
  readonly rpc: Rpc
  /** Each healthy endpoint by itself. */
  readonly listWitnesses: () => readonly Pick<Rpc, 'readAccount'>[]
  readonly wallets: readonly RelayWallet[]
  readonly canPay: (signer: string) => boolean
  readonly lanes: SignerLanes
  readonly budget: HourlyBudget
  readonly clock: Clock
  readonly logger: Logger
  readonly expiryMarginSeconds: number
}

// A message that is not included by then is replaced by the maintenance.
const maxValiditySeconds = 600

/**
 * One message in flight per wallet, because a seqno is valid only after the previous one is used; payments
 * that arrive meanwhile join the next message.
 */
export const createRelayQueue = (dependencies: RelayDependencies): RelayQueue => {
  const { network, rpc, wallets, canPay, lanes, budget, clock, logger } = dependencies
  const pending = createPendingRequests(network.network)
  const stopped = new AbortController()

  const laneOf = ({ signer }: RelayWallet) => ({ network: network.network, signer })
  const nowSeconds = () => Math.floor(clock.now().getTime() / 1_000)

  /** Null while the wallet's last message is in flight. */
  const findIdleAccount = async (wallet: RelayWallet): Promise<RelayAccount | null> => {
    const lane = laneOf(wallet)
    const [seen, next] = await Promise.all([readRelayAccount(rpc, wallet), lanes.readNext(lane)])
    if (seen.seqno <= next) return seen.seqno === next ? seen : null
    // Used externally, or a node is wrong: a message with a seqno of the future would block the lane.
    const account = await readAgreedAccount(dependencies, wallet, seen)
    await advanceLane(lanes, lane, account)
    return account.seqno === (await lanes.readNext(lane)) ? account : null
  }

  /** Waits until the seqno advances, or the maintenance, which also resends lost messages, takes it back. */
  const waitForInclusion = async (wallet: RelayWallet, seqno: number): Promise<void> => {
    const isOver = async () => {
      const account = await readRelayAccount(rpc, wallet)
      return account.seqno > seqno || (await lanes.readNext(laneOf(wallet))) <= seqno
    }
    while (!stopped.signal.aborted) {
      if (await isOver().catch(() => false)) return
      await sleep(network.pollIntervalMs, stopped.signal)
    }
  }

  const record = (wallet: RelayWallet, batch: readonly PendingRequest[], { isDeployed }: RelayAccount) => {
    const payments = batch.map(({ prepared }) => prepared)
    const latestExpiry = Math.max(...payments.map(({ decoded }) => decoded.request.validUntil))
    const validUntil = Math.min(latestExpiry, nowSeconds() + maxValiditySeconds)
    return lanes.record(
      laneOf(wallet),
      batch.map(({ recorder }) => recorder),
      (seqno) => signRelayMessage(wallet, payments, { seqno, validUntil, isDeployed }),
    )
  }

  const relay = async (
    wallet: RelayWallet,
    batch: readonly PendingRequest[],
    account: RelayAccount,
  ): Promise<void> => {
    const drawn = await spendForBatch(budget, batch, (own) =>
      Number(countRelayCost(own.map(({ prepared }) => prepared))),
    )
    if ('refused' in drawn) {
      for (const [request, error] of drawn.refused) request.reject(error)
      pending.putBack(batch.filter((request) => !drawn.refused.has(request)))
      return
    }
    const result = await record(wallet, batch, account)
    if ('lost' in result) {
      drawn.refund()
      const isLost = ({ recorder }: PendingRequest) => result.lost.includes(recorder.settlementId)
      const error = new Error('Another instance took over the settlement: nothing was sent')
      for (const request of batch.filter(isLost)) request.reject(error)
      pending.putBack(batch.filter((request) => !isLost(request)))
      return
    }
    const { transaction, bytes } = result.recorded
    const settled = (async () => {
      await rpc.send(bytes)
      await waitForInclusion(wallet, account.seqno)
    })()
    for (const request of batch) request.resolve({ transaction, settled })
    // A silent endpoint must not block `close`.
    await withSignal(settled, stopped.signal)
  }

  /** Sends at most one message; `later`: poll again after the interval. */
  const relayNext = async (wallet: RelayWallet): Promise<'again' | 'later'> => {
    const account = canPay(wallet.signer) ? await findIdleAccount(wallet) : null
    if (account === null) return 'later'
    const latestExpiry = nowSeconds() + dependencies.expiryMarginSeconds
    const batch = pending.take({ balance: account.balance, latestExpiry })
    if (batch.length === 0) return 'later'
    try {
      await relay(wallet, batch, account)
    } catch (error) {
      // No effect on requests that are already resolved.
      for (const request of batch) request.reject(error)
    }
    return 'again'
  }

  const run = async (wallet: RelayWallet): Promise<void> => {
    while (!stopped.signal.aborted) {
      await pending.whenNotEmpty()
      if (stopped.signal.aborted) return
      const next = await relayNext(wallet).catch((error: unknown) => {
        logger.debug({ ...laneOf(wallet), error }, 'relay.failed')
        return 'later' as const
      })
      if (next === 'later') await sleep(network.pollIntervalMs, stopped.signal)
    }
  }

  const running = wallets.map(run)

  return {
    submit: async (request) => {
      const isOpen = !request.waitUntil.aborted && !stopped.signal.aborted
      if (isOpen && wallets.some(({ signer }) => canPay(signer))) return await pending.add(request)
      throw networkUnavailable(network.network)
    },
    countQueued: pending.count,
    close: async () => {
      stopped.abort()
      pending.close()
      await Promise.all(running)
    },
  }
}
