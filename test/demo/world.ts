import type { SchemeNetworkClient, SchemeNetworkServer } from '@x402/core/types'

/** What the demo needs of a chain family: a local chain, a funded customer, a merchant. */
export interface DemoWorld {
  readonly network: `${string}:${string}`
  readonly introduction: string
  readonly details: Readonly<Record<string, string>>
  /** Environment variables of the facilitator. */
  readonly environment: Readonly<Record<string, string>>
  readonly feesPaidBy: string
  /** Token with six decimals. */
  readonly symbol: string
  readonly customer: string
  /** Funded, for the published client in another process, with the endpoint it needs. Null: none is published. */
  readonly wallet: { readonly key: string; readonly rpcUrl: string } | null
  readonly merchant: string
  /** Smallest units. */
  balanceOf(owner: string): Promise<bigint>
  /** Adds tokens. Rejects if the owner is no address. */
  fund(owner: string, amount: bigint): Promise<void>
  readonly client: SchemeNetworkClient
  readonly server: SchemeNetworkServer
  /** A /verify and /settle body for one cent, for manual calls. Its payer is funded again when needed. */
  signPayment(): Promise<unknown>
  /** The same for at most one cent under `upto`, by a permit of a new wallet. Absent: the family has no `upto`. */
  signUpto?(): Promise<object>
  close(): Promise<void>
}
