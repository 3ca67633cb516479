import type { Clock } from '../ports/clock.js'
import type { Logger } from '../ports/logger.js'
import type { RateLimiter } from '../ports/rateLimiter.js'
import type { SignerLanes } from '../ports/signerLanes.js'
import type { DirectChain } from '../schemes/exactDirect/directChain.js'
import type { Scheme } from '../schemes/scheme.js'

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
}

export interface ChainContext {
  readonly clock: Clock
  readonly logger: Logger
  readonly lanes: SignerLanes
  /** Shared by all instances, so that hourly budgets hold across them. */
  readonly limiter: RateLimiter
  /** Share of a settlement's cost that a payment must be worth where the operator sets no minimum; 0: none. */
  readonly minPaymentGasShare: number
}

export interface OpenChain {
  readonly schemes: readonly Scheme[]
  /** Networks of `exact-direct`: how their transactions are looked up. */
  readonly directChains?: readonly DirectChain[]
  health(): readonly NetworkHealth[]
  close(): Promise<void>
}

/** The SDK side of a family; imported only when the family is configured. */
export interface ChainModule<Settings> {
  open(settings: Settings, context: ChainContext): Promise<OpenChain>
}

/** Of the contracts of ours that a network can have. */
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
export interface ChainFamily<Settings> {
  readonly namespace: string
  readSettings(environment: Readonly<Record<string, string>>): SettingsReading<Settings>
  load(): Promise<ChainModule<Settings>>
  /** Only where a network can have contracts of ours. */
  loadDeploy?(): Promise<{ deploy(settings: Settings, deployment: Deployment): Promise<void> }>
}

/** A `ChainFamily` without its settings type, so that all families fit in one list. */
export interface AnyChainFamily {
  readonly namespace: string
  /** `open` is null when the family is not configured. */
  prepare(
    environment: Readonly<Record<string, string>>,
  ):
    | { readonly open: null }
    | { readonly open: (context: ChainContext) => Promise<OpenChain>; readonly deploy?: Deploy }
    | { readonly problems: readonly string[] }
}

export const defineChain = <Settings>(family: ChainFamily<Settings>): AnyChainFamily => ({
  namespace: family.namespace,
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
