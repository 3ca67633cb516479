import { sleep } from '../../../concurrency/deadline.js'
import { createFailureLog } from '../../../failureLog.js'
import type { Lane } from '../../../ports/settlementJournal.js'
import type { TonNetworkSettings } from '../settings.js'
import {
  maxUnconfirmedJump,
  type RelayAccount,
  readAgreedAccount,
  readRelayAccount,
} from './relayAccounts.js'
import type { RelayDependencies } from './relayQueue.js'
import { countRelayCost, type RelayWallet, readRelayExpiry, signRelayMessage } from './relayWallets.js'

interface RelayMaintenance {
  /** Never throws. */
  check(): Promise<void>
  /** How often a lane of this process had seqnos that no bytes had. */
  countRepairs(signer: string): number
  /** Signers of this process whose next message has waited for a minute. */
  listStuck(): readonly string[]
  close(): Promise<void>
}

const roundMs = 2_000
// After expiry plus this time no block can still include the message.
const expirySlackSeconds = 60
const fillerValiditySeconds = 600
// A message takes about ten seconds.
const stuckAfterSeconds = 60
// A wider gap is not filled: the lane is moved back.
const widestGap = 2 * maxUnconfirmedJump

/** Keeps seqnos advancing: resends lost messages, replaces expired ones that block later ones, and closes gaps. */
export const createRelayMaintenance = (
  dependencies: Pick<
    RelayDependencies,
    'rpc' | 'listWitnesses' | 'wallets' | 'lanes' | 'budget' | 'logger'
  > & {
    readonly network: Pick<TonNetworkSettings, 'network'>
  },
): RelayMaintenance => {
  const { network, rpc, wallets, lanes, budget, logger } = dependencies
  const stopped = new AbortController()
  /** A message sent since the last round gets one round to be included. */
  const lastSeqno = new Map<string, number>()
  /** The last seqno of each wallet that more than one endpoint had, where there are several. */
  const agreedSeqno = new Map<string, number>()
  const repairs = new Map<string, number>()
  /** Chain time since which a message of a wallet waits, and whether it is too long. */
  const waiting = new Map<string, { readonly since: number; readonly isStuck: boolean }>()
  const failures = createFailureLog({
    logger,
    event: 'lane.check_failed',
    recovered: 'lane.check_recovered',
  })

  const laneOf = ({ signer }: RelayWallet): Lane => ({ network: network.network, signer })

  const countRepair = ({ signer }: Lane) => {
    repairs.set(signer, (repairs.get(signer) ?? 0) + 1)
  }

  /** Asks every endpoint while a message is in flight: by too high a seqno of one, nothing would be left to do. */
  const readAccount = async (wallet: RelayWallet, next: number): Promise<RelayAccount> => {
    if ((agreedSeqno.get(wallet.signer) ?? -1) >= next) {
      const account = await readRelayAccount(rpc, wallet)
      if (account.seqno >= next) return account
    }
    const agreed = await readAgreedAccount(dependencies, wallet)
    agreedSeqno.set(wallet.signer, agreed.seqno)
    return agreed
  }

  const watch = (lane: Lane, isWaiting: boolean, { seqno, timestamp }: RelayAccount): void => {
    const before = waiting.get(lane.signer)
    if (!isWaiting) {
      waiting.delete(lane.signer)
      if (before?.isStuck === true) logger.info({ ...lane, seqno }, 'relay.lane_recovered')
      return
    }
    const since = before?.since ?? timestamp
    const isStuck = timestamp - since >= stuckAfterSeconds
    waiting.set(lane.signer, { since, isStuck })
    if (isStuck && before?.isStuck !== true) logger.error({ ...lane, seqno }, 'relay.lane_stuck')
  }

  const checkLane = async (wallet: RelayWallet): Promise<void> => {
    const lane = laneOf(wallet)
    const next = await lanes.readNext(lane)
    const account = await readAccount(wallet, next)
    const { seqno, timestamp, isDeployed } = account
    const before = lastSeqno.get(wallet.signer)
    lastSeqno.set(wallet.signer, seqno)
    const isWaiting = before === seqno && next > seqno
    watch(lane, isWaiting, account)
    if (!isWaiting) return

    const signFiller = (number: number) =>
      signRelayMessage(wallet, [], {
        seqno: number,
        validUntil: timestamp + fillerValiditySeconds,
        isDeployed,
      })
    const spendOnFiller = () => budget.spend(Number(countRelayCost([])), null)

    const [first] = await lanes.listFrom(lane, seqno, 1)
    if (first === undefined || first.nonce > seqno) {
      // A node once reported too high a seqno: nothing was recorded for this one.
      if (await lanes.rewindNonce(lane, seqno, widestGap)) {
        countRepair(lane)
        logger.error({ ...lane, from: seqno, until: first?.nonce ?? next }, 'nonce.rewound')
        return
      }
      const refund = await spendOnFiller()
      const filled = await lanes.fillNonceGap(lane, seqno, signFiller)
      if (filled === null) {
        refund()
        return
      }
      countRepair(lane)
      logger.error({ ...lane, nonce: seqno, transaction: filled.transaction }, 'nonce.gap_filled')
      await rpc.send(filled.bytes)
      return
    }
    const expiry = readRelayExpiry(first.bytes)
    if (expiry === null || timestamp < expiry + expirySlackSeconds) {
      await rpc.send(first.bytes)
      return
    }
    // Its payments have expired too; the replacement only consumes the seqno.
    const refund = await spendOnFiller()
    const replacement = await lanes.replace(lane, first, signFiller)
    if (replacement === null) {
      refund()
      return
    }
    logger.warn({ ...lane, seqno, replaces: first.transaction }, 'relay.message_replaced')
    await rpc.send(replacement.bytes)
  }

  const check = async (): Promise<void> => {
    try {
      const leased = await lanes.lease(
        network.network,
        wallets.map(({ signer }) => signer),
      )
      for (const wallet of wallets) {
        const { signer } = wallet
        if (!leased.includes(signer)) {
          waiting.delete(signer)
          continue
        }
        // One failing lane must not stop the others.
        await checkLane(wallet).then(
          () => failures.succeeded(signer),
          (error: unknown) => failures.failed(signer, { ...laneOf(wallet), error }),
        )
      }
      failures.succeeded(network.network)
    } catch (error) {
      failures.failed(network.network, { network: network.network, error })
    }
  }

  const rounds = (async () => {
    while (await sleep(roundMs, stopped.signal)) await check()
  })()

  return {
    check,
    countRepairs: (signer) => repairs.get(signer) ?? 0,
    listStuck: () => [...waiting].flatMap(([signer, { isStuck }]) => (isStuck ? [signer] : [])),
    close: async () => {
      stopped.abort()
      await rounds
    },
  }
}
