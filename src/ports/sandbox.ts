import type { Reason } from '../protocol/reasons.js'

/** What happens to the payments of one payer. Times are seconds of the scenario's own clock. */
export interface ScenarioScript {
  /** Null: /verify answers valid. */
  readonly verifyRefusal: Reason | null
  readonly settle: {
    /** Null: confirmed; else it fails for this reason. */
    readonly failure: Reason | null
    /** How long the outcome is pending after it was sent; 0: /settle itself answers the outcome. */
    readonly pendingSeconds: number
  }
  /** Null: the block of the payment becomes final. */
  readonly reorg: {
    /** Blocks of 2 s on top of the payment's block when it is orphaned. */
    readonly afterBlocks: number
    /** Null: another block confirms it; else it fails for this reason. */
    readonly failure: Reason | null
  } | null
}

export interface Scenario {
  /** UUID: hashes of virtual blocks contain it. */
  readonly id: string
  /** CAIP-2 identifier. */
  readonly network: string
  /** In the form in which answers name payers of the network. */
  readonly payer: string
  readonly script: ScenarioScript
  /** How far its clock was advanced. The clock starts at 0 and moves by requests only, never by itself. */
  readonly clockMs: number
  readonly createdAt: Date
  readonly expiresAt: Date
}

interface NewScenario extends Pick<Scenario, 'network' | 'payer' | 'script' | 'expiresAt'> {
  /** Who makes it: its address, its site, its account. */
  readonly holders: readonly string[]
}

/** The scenarios of the sandbox, shared by all instances. */
export interface SandboxScenarios {
  /** The scenario of a payer; null without one, and once it expired. */
  findByPayer(network: string, payer: string): Promise<Scenario | null>
  /** Null once it expired. */
  find(id: string): Promise<Scenario | null>
}

export interface SandboxScenarioStore extends SandboxScenarios {
  /** `full`: the sandbox has as many as it keeps. `share`: a holder has an eighth of the free ones. */
  create(scenario: NewScenario): Promise<Scenario | 'full' | 'share'>
  /** Advances its clock, and makes the waiting webhooks of its payments due that much earlier. Null once it expired. */
  advance(id: string, milliseconds: number): Promise<Scenario | null>
  /** Until the next waiting webhook of its payments is due; null without one. */
  findNextDueMs(id: string): Promise<number | null>
  /** Deletes expired scenarios. */
  purge(stopped?: AbortSignal): Promise<void>
}

export interface SandboxInbox {
  readonly id: string
  /** Deliveries that are still answered with status 500. */
  readonly failuresLeft: number
  readonly expiresAt: Date
}

interface SandboxMessage {
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
  /** What the inbox answered. */
  readonly status: number
  readonly receivedAt: Date
}

/** Receivers of webhooks for those who have no public HTTPS endpoint to try with. Shared by all instances. */
export interface SandboxInboxes {
  create(inbox: { readonly failures: number; readonly expiresAt: Date }): Promise<SandboxInbox>
  /** Null once it expired. */
  find(id: string): Promise<SandboxInbox | null>
  /** Newest first, up to 100. */
  listMessages(id: string): Promise<readonly SandboxMessage[]>
  /** Stores a message and returns what the inbox answers; null if there is no such inbox. Keeps the newest 100. */
  receive(id: string, message: Pick<SandboxMessage, 'headers' | 'body'>): Promise<number | null>
  /** Deletes expired inboxes. */
  purge(stopped?: AbortSignal): Promise<void>
}

/** What the settlement contract of `batch-settlement` knows of a channel; amounts in smallest units. */
export interface SandboxChannel {
  /** Deposits less refunds: what was claimed is still in it. */
  readonly balance: bigint
  readonly totalClaimed: bigint
  readonly refundNonce: bigint
}

export interface SandboxReceiver {
  readonly totalClaimed: bigint
  readonly totalSettled: bigint
}

interface NamedChannel {
  readonly channelId: string
  readonly receiver: string
  readonly token: string
}

interface ClaimedTotal {
  readonly channelId: string
  readonly total: bigint
}

/** What one transaction changes, as the contract would: all of it or nothing. Addresses have one spelling. */
export type SandboxChannelChange =
  | (NamedChannel & { readonly type: 'deposit'; readonly amount: bigint })
  /** A total that is reached already is skipped. */
  | { readonly type: 'claim'; readonly rows: readonly ClaimedTotal[] }
  | { readonly type: 'settle'; readonly receiver: string; readonly token: string }
  | {
      readonly type: 'refund'
      readonly channelId: string
      readonly nonce: bigint
      /** At most: what is claimed stays. */
      readonly amount: bigint
      /** Claimed before it returns the rest. */
      readonly rows: readonly ClaimedTotal[]
    }

export interface SandboxExecution {
  /** What was deposited, paid out or returned; 0 for a claim. */
  readonly amount: bigint
  /** The channel of a deposit or a refund, afterwards. */
  readonly channel: SandboxChannel | null
}

/** The settlement contract of the sandbox, shared by all instances. Channels are forgotten a week after their last change. */
export interface SandboxChannels {
  /** By id, without those that do not exist. */
  find(network: string, channelIds: readonly string[]): Promise<ReadonlyMap<string, SandboxChannel>>
  findReceiver(network: string, receiver: string, token: string): Promise<SandboxReceiver>
  /**
   * Makes room for a channel before its deposit is recorded. `full`: the sandbox has as many as it keeps. `share`: a holder
   * has an eighth of the free ones.
   */
  reserve(
    network: string,
    channel: NamedChannel,
    holders: readonly string[],
  ): Promise<'reserved' | 'full' | 'share'>
  /** Executes a transaction once, and returns the same for each further call. Null: it reverted, and changed nothing. */
  execute(
    network: string,
    transaction: string,
    change: SandboxChannelChange,
  ): Promise<SandboxExecution | null>
  /** Of a transaction that was executed a day ago at most; null for another, and for one that reverted. */
  findExecution(network: string, transaction: string): Promise<SandboxExecution | null>
}

export interface SandboxChannelStore extends SandboxChannels {
  /** Deletes what expired. */
  purge(stopped?: AbortSignal): Promise<void>
}
