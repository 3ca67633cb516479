import type { NightlyRun } from '../protocol/reconciliation.js'
import type { OpenCount } from './settlementOverview.js'
import type { OpenStreamCount } from './streamStore.js'

export interface LaneState {
  readonly network: string
  readonly signer: string
  readonly nextNonce: string
  /** Instance that holds the lane; null: none. */
  readonly holder: string | null
  /** Recorded transactions of it whose settlements are open. */
  readonly unconfirmed: number
  readonly oldestSeconds: number | null
}

/** Of settlements that were opened in the last 24 hours. */
interface DayCount {
  readonly network: string
  readonly confirmed: number
  readonly failed: number
  /** Failed after success was answered: a reorg took the payment back. */
  readonly lost: number
}

interface WebhookBacklog {
  /** At most `maxCounted`. */
  readonly waiting: number
  readonly isCountLimited: boolean
  /** Of those that were counted. */
  readonly oldestSeconds: number | null
}

/** Each count ends at 10,000. */
export interface WaitingWebhooks {
  readonly due: number
  /** Tried again later, or being sent. */
  readonly later: number
  /** Since the delivery was due that has waited longest; 0 if none is due. */
  readonly oldestDueSeconds: number
  /** The same of accounts whose receiver is not being called, and was not within 15 minutes: the service is late, not it. */
  readonly unattendedSeconds: number
}

interface LeasedJob {
  readonly job: string
  /** Instance that does it; null: none at the moment. */
  readonly holder: string | null
}

interface InstanceState {
  readonly id: string
  readonly seenSecondsAgo: number
  readonly isAlive: boolean
}

/** Reads of all instances' state, on connections for reads; each has a short statement time-out. */
export interface OverviewStore {
  countOpenSettlements(): Promise<readonly OpenCount[]>
  countOpenStreams(): Promise<readonly OpenStreamCount[]>
  listLanes(): Promise<readonly LaneState[]>
  /** Reads an index entry for each settlement of a day. */
  countDay(networks: readonly string[]): Promise<readonly DayCount[]>
  measureWebhooks(): Promise<WebhookBacklog>
  measureWaitingWebhooks(): Promise<WaitingWebhooks>
  findLastNightly(): Promise<NightlyRun | null>
  listJobs(): Promise<readonly LeasedJob[]>
  /** Newest heartbeat first; at most 50. */
  listInstances(): Promise<readonly InstanceState[]>
}

/** A connection pool of this process. */
export interface PoolState {
  readonly name: string
  readonly max: number
  readonly total: number
  readonly idle: number
  readonly waiting: number
}

/** How the runs of a job of this process went. */
export interface JobState {
  readonly name: string
  readonly everyMs: number
  /** One instance does it for all. */
  readonly isShared: boolean
  /** Null: it has not succeeded here since the start. */
  readonly succeededAt: Date | null
  readonly failedAt: Date | null
  /** Since the last success. */
  readonly failures: number
  readonly runningSince: Date | null
  /** When it last succeeded here, or was left to the instance that does it; before, when this process started. */
  readonly doneAt: Date
  /** Of the last round that ended here, however it ended. */
  readonly lastDurationMs: number | null
  /** Since this process started. */
  readonly failuresInAll: number
}

/** What this process knows of a network. */
export interface NetworkState {
  readonly network: string
  readonly isServing: boolean
  readonly isRpcReachable: boolean
  /** Holds no secrets; null while the network settles. */
  readonly problem: string | null
  readonly balanceLevel: 'ok' | 'low' | 'empty' | 'unknown'
  readonly signers: readonly {
    readonly signer: string
    readonly balance: bigint
    readonly settlementsLeft: number
    readonly laneRepairs?: number
  }[]
  readonly endpoints: readonly {
    /** Never the rest of the URL, which may hold a key. */
    readonly host: string
    readonly isUp: boolean
    readonly head: bigint | null
    readonly latencyMs: number | null
    readonly wrongChain?: string | null
    readonly lastFailure?: { readonly message: string; readonly at: Date } | null
  }[]
  readonly clockLagMs?: number
  readonly stuckLanes?: readonly string[]
  readonly queued?: number
  readonly limitations?: readonly string[]
}
