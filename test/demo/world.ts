import type { SchemeNetworkClient, SchemeNetworkServer } from '@x402/core/types'

/** What the demo needs of a chain family: a chain on this machine, a customer with money, a merchant without. */
export interface DemoWorld {
  readonly network: `${string}:${string}`
  /** What runs, in a sentence, and what else is worth knowing of it. */
  readonly introduction: string
  readonly details: Readonly<Record<string, string>>
  /** The facilitator's variables for this chain. */
  readonly environment: Readonly<Record<string, string>>
  /** Who pays the network's fees, in words. */
  readonly feesPaidBy: string
  /** What the token is called; it has six decimals. */
  readonly symbol: string
  readonly customer: string
  readonly merchant: string
  /** In smallest units of the token. */
  balanceOf(owner: string): Promise<bigint>
  /** How the customer signs, and how the shop names its price. */
  readonly client: SchemeNetworkClient
  readonly server: SchemeNetworkServer
  /** The body of /verify and /settle for one cent, of another customer, for people who call the facilitator themselves. */
  signPayment(): Promise<unknown>
  close(): Promise<void>
}
