import { sleep } from '../../../deadline.js'
import type { Lane } from '../../../ports/settlementJournal.js'
import { readRelayAccount } from './relayAccount.js'
import { readRelayExpiry, signRelayMessage } from './relayMessage.js'
import type { RelayDependencies } from './relayQueue.js'
import type { RelayWallet } from './relayWallets.js'

/** Looks after the relay wallets' numbers, so that no message that never arrives holds up the next ones. */
export interface RelayMaintenance {
  /** One round. Never throws. */
  check(): Promise<void>
  close(): Promise<void>
}

const roundMs = 2_000
// By then no block of before can hold a message that had expired.
const expirySlackSeconds = 60
const fillerSeconds = 600

/** Builds the maintenance; its rounds come by themselves. */
export const createRelayMaintenance = (
  dependencies: Pick<RelayDependencies, 'network' | 'api' | 'wallets' | 'lanes' | 'logger'>,
): RelayMaintenance => {
  const { network, api, wallets, lanes, logger } = dependencies
  const stopped = new AbortController()
  /** Where each wallet stood in the last round: what was sent since then is given its time. */
  const lastSeqno = new Map<string, number>()

  const checkLane = async (wallet: RelayWallet): Promise<void> => {
    const lane: Lane = { network: network.network, signer: wallet.signer }
    const { seqno, moment, isDeployed } = await readRelayAccount(api, wallet)
    const before = lastSeqno.get(wallet.signer)
    lastSeqno.set(wallet.signer, seqno)
    if (before !== seqno || (await lanes.readNext(lane)) <= seqno) return
    const filler = (number: number) =>
      signRelayMessage(wallet, [], { seqno: number, validUntil: moment + fillerSeconds, isDeployed })

    const [stuck] = await lanes.listFrom(lane, seqno, 1)
    if (stuck === undefined || stuck.nonce > seqno) {
      // A node once told too high a number: nothing was recorded for this one.
      if (await lanes.rewindNonce(lane, seqno)) return
      const filled = await lanes.fillNonceGap(lane, seqno, filler)
      if (filled !== null) await api.send(filled.bytes)
      return
    }
    const expiry = readRelayExpiry(stuck.bytes)
    if (expiry === null || moment < expiry + expirySlackSeconds) {
      await api.send(stuck.bytes)
      return
    }
    // What it carried has expired with it. Its number is used up, so that the wallet can go on.
    const replacement = await lanes.replace(lane, stuck, filler)
    if (replacement === null) return
    logger.warn({ ...lane, seqno, replaces: stuck.transaction }, 'relay.message_replaced')
    await api.send(replacement.bytes)
  }

  const check = async (): Promise<void> => {
    try {
      const held = await lanes.lease(
        network.network,
        wallets.map(({ signer }) => signer),
      )
      for (const wallet of wallets.filter(({ signer }) => held.includes(signer))) {
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
