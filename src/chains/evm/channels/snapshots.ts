import type { Hex } from 'viem'
import { setNewest } from '../../../concurrency/boundedMap.js'
import type { Clock } from '../../../ports/clock.js'
import { smaller } from '../abi/words.js'
import { type Rpc, tryCall } from '../rpc/rpc.js'
import { type ChannelState, decodeState, planStateRead } from './contract.js'

/*
 * A voucher that a key signed needs nothing of the chain but what its channel holds, and of that the payer can take nothing
 * before the withdrawal that was announced is due, at least 15 minutes later. So a recent look may stand for one now.
 */
export interface ChannelSnapshots {
  /** What a recent look found, if it may answer for a voucher up to this ceiling; null: the chain must be asked. */
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
}

const maxSnapshots = 20_000

export const createChannelSnapshots = (
  rpc: Rpc,
  { maxAgeMs, maxRise }: SnapshotLimits,
  clock: Pick<Clock, 'now'>,
): ChannelSnapshots => {
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

  return {
    find: (channelId, maxClaimable) => {
      const snapshot = snapshots.get(channelId)
      if (snapshot === undefined || maxClaimable - snapshot.ceiling > maxRise) return null
      return clock.now().getTime() - snapshot.readAtMs < maxAgeMs ? snapshot.state : null
    },
    read: async (channelId, maxClaimable) => {
      const [began, readAtMs] = [generation, clock.now().getTime()]
      const state = await share(channelId)
      // What is withdrawn soon, is asked each time.
      const isKept = maxAgeMs > 0 && state !== null && state.withdrawal === 0n && began === generation
      if (!isKept) return state
      // Of two vouchers at the same time the lower one bounds the rise.
      const known = snapshots.get(channelId)
      const ceiling = known?.readAtMs === readAtMs ? smaller(known.ceiling, maxClaimable) : maxClaimable
      setNewest(snapshots, channelId, { state, ceiling, readAtMs }, maxSnapshots)
      return state
    },
    forget: (channelId) => {
      generation += 1
      snapshots.delete(channelId)
      reads.delete(channelId)
    },
  }
}
