import { sleep, withSignal } from '../../../deadline.js'
import type { Clock } from '../../../ports/clock.js'
import type { Logger } from '../../../ports/logger.js'
import type { RateLimiter } from '../../../ports/rateLimiter.js'
import type { SignerLanes } from '../../../ports/signerLanes.js'
import { spendHourlyBudget } from '../../common/hourlyBudget.js'
import { networkUnavailable } from '../../common/networkUnavailable.js'
import type { Toncenter } from '../rpc/rpc.js'
import type { TonNetworkSettings } from '../settings.js'
import { createOrderQueue } from './orderQueue.js'
import { type RelayAccount, readRelayAccount } from './relayAccount.js'
import { countAttached, signRelayMessage } from './relayMessage.js'
import type { QueuedOrder, Relayed, RelayRequest } from './relayRequest.js'
import type { RelayWallet } from './relayWallets.js'

/** Relays payments on one network, together where they wait together. */
export interface RelayQueue {
  /** Records, then sends. Throws only when nothing was recorded. */
  submit(order: RelayRequest): Promise<Relayed>
  close(): Promise<void>
}

/** What relaying needs. */
export interface RelayDependencies {
  readonly network: TonNetworkSettings
  readonly api: Toncenter
  readonly wallets: readonly RelayWallet[]
  readonly canPay: (signer: string) => boolean
  readonly lanes: SignerLanes
  readonly limiter: RateLimiter
  readonly clock: Clock
  readonly logger: Logger
  /** A payment must live this much longer than now to be sent. */
  readonly expiryMarginSeconds: number
}

// A message that has not come in time is replaced by one that carries nothing: see the maintenance.
const maxValiditySeconds = 600

/**
 * Builds the queue. Every wallet has one message under way, because the next one's number is good only when this
 * one's is used; what comes meanwhile goes with the next one.
 */
export const createRelayQueue = (dependencies: RelayDependencies): RelayQueue => {
  const { network, api, wallets, canPay, lanes, limiter, clock, logger } = dependencies
  const orders = createOrderQueue(network.network)
  const budget = {
    network: network.network,
    called: 'relay',
    key: `gas:${network.network}`,
    limit: network.relayBudgetPerHour,
  }
  const stopped = new AbortController()

  const laneOf = ({ signer }: RelayWallet) => ({ network: network.network, signer })
  const nowSeconds = () => Math.floor(clock.now().getTime() / 1_000)

  /** The wallet as it is now, if its last message has landed; null while that is under way. */
  const findFree = async (wallet: RelayWallet): Promise<RelayAccount | null> => {
    const lane = laneOf(wallet)
    const [account, next] = await Promise.all([readRelayAccount(api, wallet), lanes.readNext(lane)])
    if (account.seqno < next) return null
    // Somebody used the wallet beside us.
    if (account.seqno > next) await lanes.advance(lane, account.seqno)
    return account
  }

  /** Waits until the wallet's number has moved on; the maintenance sends again what gets lost. */
  const waitForLanding = async (wallet: RelayWallet, seqno: number): Promise<void> => {
    while (!stopped.signal.aborted) {
      const account = await readRelayAccount(api, wallet).catch(() => null)
      if (account !== null && account.seqno > seqno) return
      await sleep(network.pollIntervalMs, stopped.signal)
    }
  }

  const record = (wallet: RelayWallet, batch: readonly QueuedOrder[], { isDeployed }: RelayAccount) => {
    const payments = batch.map(({ prepared }) => prepared)
    const last = Math.max(...payments.map(({ decoded }) => decoded.request.validUntil))
    const validUntil = Math.min(last, nowSeconds() + maxValiditySeconds)
    return lanes.record(
      laneOf(wallet),
      batch.map(({ recorder }) => recorder),
      (seqno) => signRelayMessage(wallet, payments, { seqno, validUntil, isDeployed }),
    )
  }

  const relay = async (
    wallet: RelayWallet,
    batch: readonly QueuedOrder[],
    account: RelayAccount,
  ): Promise<void> => {
    const attached = batch.reduce((sum, { prepared }) => sum + countAttached(prepared), 0n)
    await spendHourlyBudget(limiter, budget, Number(attached))
    const answer = await record(wallet, batch, account)
    if ('lost' in answer) {
      const isLost = ({ recorder }: QueuedOrder) => answer.lost.includes(recorder.settlementId)
      const error = new Error('The settlement was taken over: nothing is sent for it')
      for (const order of batch.filter(isLost)) order.reject(error)
      orders.putBack(batch.filter((order) => !isLost(order)))
      return
    }
    const { transaction, bytes } = answer.recorded
    const settled = (async () => {
      await api.send(bytes)
      await waitForLanding(wallet, account.seqno)
    })()
    for (const order of batch) order.resolve({ transaction, settled })
    // A node that is silent keeps nobody from closing.
    await withSignal(settled, stopped.signal)
  }

  /** One message, or nothing; says whether to wait before the next look. */
  const work = async (wallet: RelayWallet): Promise<'again' | 'later'> => {
    const account = canPay(wallet.signer) ? await findFree(wallet) : null
    if (account === null) return 'later'
    const latestExpiry = nowSeconds() + dependencies.expiryMarginSeconds
    const batch = orders.take({ balance: account.balance, latestExpiry })
    if (batch.length === 0) return 'later'
    try {
      await relay(wallet, batch, account)
    } catch (error) {
      // Whoever was told that it was recorded does not hear this any more.
      for (const order of batch) order.reject(error)
    }
    return 'again'
  }

  const run = async (wallet: RelayWallet): Promise<void> => {
    while (!stopped.signal.aborted) {
      await orders.whenSome()
      if (stopped.signal.aborted) return
      const next = await work(wallet).catch((error: unknown) => {
        logger.debug({ ...laneOf(wallet), error }, 'relay.failed')
        return 'later' as const
      })
      if (next === 'later') await sleep(network.pollIntervalMs, stopped.signal)
    }
  }

  const running = wallets.map(run)

  return {
    submit: async (order) => {
      const isOpen = !order.waitUntil.aborted && !stopped.signal.aborted
      if (isOpen && wallets.some(({ signer }) => canPay(signer))) return await orders.add(order)
      throw networkUnavailable(network.network)
    },
    close: async () => {
      stopped.abort()
      orders.end()
      await Promise.all(running)
    },
  }
}
