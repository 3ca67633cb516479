import type { Clock } from '../ports/clock.js'
import type { Logger } from '../ports/logger.js'
import type { RateLimiter } from '../ports/rateLimiter.js'
import type { SignerLanes } from '../ports/signerLanes.js'
import type { Scheme } from '../schemes/scheme.js'

/** Whether payments on a network can be settled right now. */
export interface NetworkHealth {
  readonly network: string
  /** False takes the network out of `/supported` until it is true again. */
  readonly isServing: boolean
  readonly isRpcReachable: boolean
  /** What an operator should know, without secrets; null when all is well. */
  readonly problem: string | null
  /** Whether the signers can pay: for enough settlements, for few, or for none; `unknown` before they were looked at. */
  readonly balanceLevel: 'ok' | 'low' | 'empty' | 'unknown'
  readonly signers: readonly SignerHealth[]
  readonly endpoints: readonly EndpointStatus[]
}

/** What one of our accounts can pay for on a network. */
export interface SignerHealth {
  readonly signer: string
  /** In the smallest unit of the network's coin. */
  readonly balance: bigint
  /** An estimate at the current price; 0 when it cannot pay for the next settlement. */
  readonly settlementsLeft: number
}

/** How one of a network's nodes does. */
export interface EndpointStatus {
  /** Host name only, numbered where several endpoints share one. */
  readonly host: string
  readonly isUp: boolean
  /** The number of the newest block that it told. */
  readonly head: bigint | null
  readonly latencyMs: number | null
}

/** What a chain family needs from the rest of the service. */
export interface ChainContext {
  readonly clock: Clock
  readonly logger: Logger
  readonly lanes: SignerLanes
  /** Counts what settlements cost, so that a network's gas budget holds across instances. */
  readonly limiter: RateLimiter
}

/** A family that is open: its schemes, and how its networks do. */
export interface OpenChain {
  readonly schemes: readonly Scheme[]
  health(): readonly NetworkHealth[]
  close(): Promise<void>
}

/** What a family's SDK side exports; loaded only when the family is enabled. */
export interface ChainModule<Settings> {
  open(settings: Settings, context: ChainContext): Promise<OpenChain>
}

/** The settings of a family as read from the environment, or every problem in them. */
export type SettingsReading<Settings> =
  | { readonly settings: Settings | null }
  | { readonly problems: readonly string[] }

/** A family's manifest: imports no SDK, so that a family that is off costs nothing. */
export interface ChainFamily<Settings> {
  readonly namespace: string
  /** Null settings: the family is not configured. */
  readSettings(environment: Readonly<Record<string, string>>): SettingsReading<Settings>
  load(): Promise<ChainModule<Settings>>
}

/** A family whose settings type is sealed inside, so that families of all kinds stand in one list. */
export interface SealedFamily {
  readonly namespace: string
  /** Reads the family's part of the environment; `open` is null when it is not configured. */
  prepare(
    environment: Readonly<Record<string, string>>,
  ):
    | { readonly open: ((context: ChainContext) => Promise<OpenChain>) | null }
    | { readonly problems: readonly string[] }
}

/** Seals a family's manifest for the list of families. */
export const defineChain = <Settings>(family: ChainFamily<Settings>): SealedFamily => ({
  namespace: family.namespace,
  prepare: (environment) => {
    const reading = family.readSettings(environment)
    if ('problems' in reading) return reading
    const { settings } = reading
    if (settings === null) return { open: null }
    return {
      open: async (context) => {
        const module = await family.load()
        return await module.open(settings, context)
      },
    }
  },
})
