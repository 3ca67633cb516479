import { sleep } from '../../../concurrency/deadline.js'
import type { Lane } from '../../../ports/settlementJournal.js'
import { readRelayAccount } from './relayAccount.js'
import { readRelayExpiry, signRelayMessage } from './relayMessage.js'
import type { RelayDependencies } from './relayQueue.js'
import type { RelayWallet } from './relayWallets.js'

interface RelayMaintenance {
  /** Never throws. */
  check(): Promise<void>
  close(): Promise<void>
}

const roundMs = 2_000
// After expiry plus this time no block can still include the message.
const expirySlackSeconds = 60
const fillerValiditySeconds = 600

/** Keeps seqnos advancing: resends lost messages, and replaces expired ones that block later ones. */
export const createRelayMaintenance = (
  dependencies: Pick<RelayDependencies, 'network' | 'rpc' | 'wallets' | 'lanes' | 'logger'>,
): RelayMaintenance => {
  const { network, rpc, wallets, lanes, logger } = dependencies
  const stopped = new AbortController()
  /** A message sent since the last round gets one round to be included. */
  const lastSeqno = new Map<string, number>()

  const checkLane = async (wallet: RelayWallet): Promise<void> => {
    const lane: Lane = { network: network.network, signer: wallet.signer }
    const { seqno, timestamp, isDeployed } = await readRelayAccount(rpc, wallet)
    const before = lastSeqno.get(wallet.signer)
    lastSeqno.set(wallet.signer, seqno)
    if (before !== seqno || (await lanes.readNext(lane)) <= seqno) return
    const signFiller = (number: number) =>
      signRelayMessage(wallet, [], {
        seqno: number,
        validUntil: timestamp + fillerValiditySeconds,
        isDeployed,
      })

    const [stuck] = await lanes.listFrom(lane, seqno, 1)
    if (stuck === undefined || stuck.nonce > seqno) {
      // A node once reported too high a seqno: nothing was recorded for this one.
      if (await lanes.rewindNonce(lane, seqno)) return
      const filled = await lanes.fillNonceGap(lane, seqno, signFiller)
      if (filled !== null) await rpc.send(filled.bytes)
      return
    }
    const expiry = readRelayExpiry(stuck.bytes)
    if (expiry === null || timestamp < expiry + expirySlackSeconds) {
      await rpc.send(stuck.bytes)
      return
    }
    // Its payments have expired too; the replacement only consumes the seqno.
    const replacement = await lanes.replace(lane, stuck, signFiller)
    if (replacement === null) return
    logger.warn({ ...lane, seqno, replaces: stuck.transaction }, 'relay.message_replaced')
    await rpc.send(replacement.bytes)
  }

  const check = async (): Promise<void> => {
    try {
      const leased = await lanes.lease(
        network.network,
        wallets.map(({ signer }) => signer),
      )
      for (const wallet of wallets.filter(({ signer }) => leased.includes(signer))) {
        await checkLane(wallet)
      }
    } catch (error) {
      logger.debug({ network: network.network, error }, 'relay.check_failed')
    }
  }

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
