import type { Hex } from 'viem'
import { setNewest } from '../../../concurrency/boundedMap.js'
import type { Clock } from '../../../ports/clock.js'
import { smaller } from '../abi/words.js'
import { type Rpc, tryCall } from '../rpc/rpc.js'
import { type ChannelState, decodeState, planStateRead } from './states.js'

/*
 * A voucher that a key signed needs nothing of the chain but what its channel holds, and of that the payer can take nothing
 * before the withdrawal that was announced is due, at least 15 minutes later. So a recent look may stand for one now.
 */
export interface ChannelSnapshots {
  /**
   * What a recent look found, if it may answer for a voucher up to this ceiling; null: the chain must be asked. A look that is
   * about to end, by its age or by the rise, is renewed in the background, so that no voucher of a channel in use waits for a node.
   */
  find(channelId: Hex, maxClaimable: bigint): ChannelState | null
  /** Asks the chain, once for all who ask at the same time; null: no answer. */
  read(channelId: Hex, maxClaimable: bigint): Promise<ChannelState | null>
  /** A deposit, a claim or a refund of this process changed it. */
  forget(channelId: Hex): void
}

interface SnapshotLimits {
  /** How old a look may be; 0: none is kept. */
  readonly maxAgeMs: number
  /** How far ceilings may rise on one look, in smallest units. */
  readonly maxRise: bigint
}

interface Snapshot {
  readonly state: ChannelState
  /** Of the voucher that was verified when it was read. */
  readonly ceiling: bigint
  readonly readAtMs: number
  /** One renewal is tried; if it fails, the look ends at its time. */
  isRenewed: boolean
}

/**
 * Share of its time after which a look is renewed: from 0.5 to 0.8, by the channel. Channels that were first seen together would
 * otherwise be asked for together each time, and all vouchers would wait for that.
 */
const renewedAfter = (channelId: Hex): number =>
  0.5 + (0.3 * Number.parseInt(channelId.slice(-4), 16)) / 0x10000

const maxSnapshots = 20_000

export const createChannelSnapshots = (
  rpc: Rpc,
  { maxAgeMs, maxRise }: SnapshotLimits,
  clock: Pick<Clock, 'now'>,
): ChannelSnapshots => {
  const renewedRise = (maxRise * 7n) / 10n
  const snapshots = new Map<Hex, Snapshot>()
  const reads = new Map<Hex, Promise<ChannelState | null>>()
  /** Counts what was forgotten, so that a look from before it is not kept. */
  let generation = 0

  const look = async (channelId: Hex): Promise<ChannelState | null> =>
    decodeState(await tryCall(rpc, planStateRead(channelId)))

  const share = (channelId: Hex): Promise<ChannelState | null> => {
    const running = reads.get(channelId)
    if (running !== undefined) return running
    const started = look(channelId).finally(() => {
      if (reads.get(channelId) === started) reads.delete(channelId)
    })
    reads.set(channelId, started)
    return started
  }

  const read = async (channelId: Hex, maxClaimable: bigint): Promise<ChannelState | null> => {
    const [began, readAtMs] = [generation, clock.now().getTime()]
    const state = await share(channelId)
    if (maxAgeMs === 0 || state === null || began !== generation) return state
    if (state.withdrawal > 0n) {
      // While a withdrawal is announced, the chain is asked each time.
      snapshots.delete(channelId)
      return state
    }
    // A ceiling beyond all that the channel holds was refused: it would let those below rise without a bound.
    if (maxClaimable > state.balance) return state
    // Where two vouchers were verified at the same time, the lower one bounds the rise.
    const known = snapshots.get(channelId)
    const ceiling = known?.readAtMs === readAtMs ? smaller(known.ceiling, maxClaimable) : maxClaimable
    setNewest(snapshots, channelId, { state, ceiling, readAtMs, isRenewed: false }, maxSnapshots)
    return state
  }

  const renew = (channelId: Hex, snapshot: Snapshot, maxClaimable: bigint): void => {
    snapshot.isRenewed = true
    // The next look reports what is wrong with the nodes.
    read(channelId, maxClaimable).catch(() => undefined)
  }

  return {
    find: (channelId, maxClaimable) => {
      const snapshot = snapshots.get(channelId)
      if (snapshot === undefined) return null
      const [ageMs, rise] = [clock.now().getTime() - snapshot.readAtMs, maxClaimable - snapshot.ceiling]
      if (ageMs >= maxAgeMs || rise > maxRise) return null
      if (!snapshot.isRenewed && (ageMs >= maxAgeMs * renewedAfter(channelId) || rise > renewedRise)) {
        renew(channelId, snapshot, maxClaimable)
      }
      return snapshot.state
    },
    read,
    forget: (channelId) => {
      generation += 1
      snapshots.delete(channelId)
      reads.delete(channelId)
    },
  }
}
