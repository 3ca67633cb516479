import type { ChannelCustody } from '../ports/channelCustody.js'
import type { ChannelLedger } from '../ports/channelLedger.js'
import type { Clock } from '../ports/clock.js'
import type { PromisedCount } from '../ports/holds.js'
import type { Logger } from '../ports/logger.js'
import type { RateLimiter, Requester } from '../ports/rateLimiter.js'
import type { SandboxChannels, SandboxScenarios } from '../ports/sandbox.js'
import type { SignerLanes } from '../ports/signerLanes.js'
import type { SignatureVerdict, SignedStatement, SignedText } from '../ports/walletSignatures.js'
import type { SandboxAddress, SandboxPayment } from '../protocol/sandbox.js'
import type { DirectChain } from '../schemes/exactDirect/directChain.js'
import type { OfflineScheme } from '../schemes/offlineScheme.js'
import type { Scheme } from '../schemes/scheme.js'
import type { FamilyVariableNames } from './common/familySettings.js'
import type { SponsoringTerms } from './common/sponsoring.js'

export interface NetworkHealth {
  readonly network: string
  readonly isServing: boolean
  readonly isRpcReachable: boolean
  /** For operators; holds no secrets. Null while the network settles. */
  readonly problem: string | null
  /** `low`: below the configured number of settlements; `empty`: none; `unknown`: not measured yet. */
  readonly balanceLevel: 'ok' | 'low' | 'empty' | 'unknown'
  readonly signers: readonly SignerHealth[]
  readonly endpoints: readonly EndpointStatus[]
  /** How far the process's clock is behind the newest block; 0 if it is not. Only where deadlines are block times. */
  readonly clockLagMs?: number
  /** Signers that wait for too long for their next transaction; only where signers send one at a time. */
  readonly stuckLanes?: readonly string[]
  /** Payments that wait in this process for a place in a transaction; only where signers have lanes. */
  readonly queued?: number
  /** What the network could settle and does not, as sentences. Public. Absent: nothing. */
  readonly limitations?: readonly string[]
}

export interface SignerHealth {
  readonly signer: string
  /** Smallest unit of the native coin. */
  readonly balance: bigint
  /** Estimate at the current price; 0 when the next settlement cannot be paid for. */
  readonly settlementsLeft: number
  /** How often its lane had nonces without a transaction; only where signers have lanes. */
  readonly laneRepairs?: number
}

export interface EndpointStatus {
  readonly host: string
  readonly isUp: boolean
  readonly head: bigint | null
  readonly latencyMs: number | null
  /** Chain that it serves, where it is another one; absent: not known. */
  readonly wrongChain?: string | null
  /** Since the start, without secrets. */
  readonly lastFailure?: { readonly message: string; readonly at: Date } | null
}

/** Who uses a network, and who watches it. */
export interface NetworkActivity {
  /** The last payment of the network in this process, or its start, in terms of `performance.now()`. */
  findUsedAt(network: string): number
  /** Living processes that watch the same network, this one included. */
  countInstances(): number
}

export interface ChainContext {
  readonly clock: Clock
  readonly logger: Logger
  readonly lanes: SignerLanes
  /** Living processes that share the lanes, this one included. Absent: one. */
  readonly countInstances?: () => number
  /** Absent: networks are checked as often as if they were used. */
  readonly activity?: NetworkActivity
  /** Shared by all instances, so that hourly budgets hold across them. */
  readonly limiter: RateLimiter
  /** Share of a settlement's cost that a payment must be worth where the operator sets no minimum; 0: none. */
  readonly minPaymentGasShare: number
  /** Whether payments from the cross-check amount on need endpoints of two hosts. Absent: true. */
  readonly requiresCrossCheck?: boolean
  /** Which amounts pay under `exact`. Absent: at least the required one. */
  readonly exactAmount?: 'at_least' | 'equal'
  /**
   * Settlements of a network that were promised and have not ended, by account or `anonymous`: open streams, and what
   * accounts have verified and hold. Absent: none.
   */
  readonly countPromised?: (network: string) => Promise<readonly PromisedCount[]>
  /** Whose the channels are that a family signs for. Absent: it signs for none. */
  readonly channelCustody?: ChannelCustody
  /** Keeps the vouchers of those channels. Absent: none is kept. */
  readonly channelLedger?: Pick<ChannelLedger, 'keep' | 'find' | 'hasSweep'>
  /** For families that pay the fees of payers. Absent: they do so for callers with a key only. */
  readonly sponsoring?: SponsoringTerms
  /** Absent: the sandbox has fixed payers only. */
  readonly scenarios?: SandboxScenarios
  /** Absent: the sandbox has no payment channels. */
  readonly channels?: SandboxChannels
}

export interface OpenChain {
  readonly schemes: readonly Scheme[]
  /** Networks of `exact-direct`: how their transactions are looked up. */
  readonly directChains: readonly DirectChain[]
  /** Null unless this is the sandbox. */
  readonly sandbox: Sandbox | null
  /** Networks whose contracts can be asked whether they signed. */
  readonly contractReaders: readonly ContractReader[]
  /**
   * How far the process's clock is behind each network whose deadlines are block times; null: not known at the moment.
   * Called often.
   */
  listClockLagsMs(): readonly (number | null)[]
  health(): readonly NetworkHealth[]
  close(): Promise<void>
}

export interface Sandbox {
  /** CAIP-2 identifiers. */
  readonly networks: readonly string[]
  /** Every fixed payer; each call draws new nonces. */
  listAddresses(now: Date): readonly SandboxAddress[]
  /** Whether blocks of the network can be orphaned. */
  hasReorgs(network: string): boolean
  /** A random address without a known key, for a scenario. Throws for a network that is not of the sandbox. */
  newPayer(network: string): string
  /** Address of a fixed payer, by its name in any letter case; null if no payer of the network has it. */
  findFixedPayer(network: string, name: string): string | null
  /** A body for /verify and /settle with a new nonce; null if the payer is no address of the network. */
  writeRequest(network: string, payer: string, now: Date): SandboxPayment | null
}

type HexText = `0x${string}`

/**
 * Asks contracts that a caller chose, on one network, without sender, value and effect. Rejects when no node answers in
 * time, and with an `AppError` when the requester's share of this work is used up.
 */
export interface ContractReader {
  /** CAIP-2 identifier. */
  readonly network: string
  /** Runs creation code in one call; its result, or null if it fails. */
  run(
    program: {
      readonly code: HexText
      readonly gas: bigint
      /** From the result: what of the gas the requester gets back. */
      findUnusedGas(result: HexText | null): bigint
    },
    requester: Requester,
  ): Promise<HexText | null>
}

/** How messages of a family's wallets are verified. Reader null: no node of the network is configured. */
export interface SignInModule {
  verifySignature(statement: SignedStatement, reader: ContractReader | null): Promise<SignatureVerdict>
  verifyMessage(text: SignedText, reader: ContractReader | null): Promise<boolean>
}

/** Wallets of a CAIP-2 namespace that can sign in, whether or not the family is configured. */
export interface SignInFamily {
  readonly namespace: string
  /** Imports the family's libraries. */
  loadSignIn(): Promise<SignInModule>
}

/** The SDK side of a family; imported only when the family is configured. */
export interface ChainModule<Settings> {
  open(settings: Settings, context: ChainContext): Promise<OpenChain>
}

/** It takes the place of a chain. */
export type OfflineContext = Pick<ChainContext, 'clock' | 'logger' | 'channels'>

/** Checks of a family that need no chain; loads its SDK. */
export interface OfflineModule {
  /** Lists schemes of those given networks (CAIP-2) that the family has; others are ignored. */
  listOfflineSchemes(networks: readonly string[], context: OfflineContext): readonly OfflineScheme[]
}

/** Which of our contracts a network can have, and has. */
export interface Deployment {
  /** CAIP-2 identifier. */
  readonly network: string
  /** Computes what it would cost, and sends nothing. */
  readonly isDryRun: boolean
  /** For the operator; holds no secrets. */
  print(line: string): void
}

/** Deploys what is missing; throws `DeploymentError`. */
export type Deploy = (deployment: Deployment) => Promise<void>

/** Parsed settings, or every problem found. Null settings: the family is not configured. */
export type SettingsReading<Settings> =
  | { readonly settings: Settings | null }
  | { readonly problems: readonly string[] }

/** Manifest of a family. Must not import an SDK: it is loaded even when the family is off. */
interface ChainFamily<Settings> {
  readonly namespace: string
  /** Absent: it has none of its own. */
  readonly variables?: FamilyVariableNames
  readSettings(environment: Readonly<Record<string, string>>): SettingsReading<Settings>
  load(): Promise<ChainModule<Settings>>
  /** Only where the sandbox has a network of the family. */
  loadOffline?(): Promise<OfflineModule>
  /** Only where a network can have contracts of ours. */
  loadDeploy?(): Promise<{ deploy(settings: Settings, deployment: Deployment): Promise<void> }>
  /** Only where wallets sign messages. */
  loadSignIn?(): Promise<SignInModule>
}

/** A `ChainFamily` without its settings type, so that all families fit in one list. */
export interface AnyChainFamily {
  readonly namespace: string
  readonly variables?: FamilyVariableNames
  loadSignIn?(): Promise<SignInModule>
  /** `open` is null when the family is not configured. */
  prepare(
    environment: Readonly<Record<string, string>>,
  ):
    | { readonly open: null }
    | { readonly open: (context: ChainContext) => Promise<OpenChain>; readonly deploy?: Deploy }
    | { readonly problems: readonly string[] }
  loadOffline?(): Promise<OfflineModule>
}

export const defineChain = <Settings>(family: ChainFamily<Settings>): AnyChainFamily => ({
  namespace: family.namespace,
  ...(family.variables === undefined ? {} : { variables: family.variables }),
  ...(family.loadOffline === undefined ? {} : { loadOffline: family.loadOffline }),
  ...(family.loadSignIn === undefined ? {} : { loadSignIn: family.loadSignIn }),
  prepare: (environment) => {
    const reading = family.readSettings(environment)
    if ('problems' in reading) return reading
    const { settings } = reading
    if (settings === null) return { open: null }
    const { loadDeploy } = family
    return {
      open: async (context) => {
        const module = await family.load()
        return await module.open(settings, context)
      },
      ...(loadDeploy === undefined
        ? {}
        : { deploy: async (deployment: Deployment) => (await loadDeploy()).deploy(settings, deployment) }),
    }
  },
})
