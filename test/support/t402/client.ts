import type { TonChain } from '../ton/tonChain.js'
import type { TestWallet } from '../ton/wallets.js'
import type { TronKey } from '../tron/keys.js'
import type { TronChain } from '../tron/tronChain.js'

export interface T402Requirements {
  readonly scheme: string
  readonly network: string
  readonly amount: string
  readonly asset: string
  readonly payTo: string
  readonly maxTimeoutSeconds: number
  readonly extra: Readonly<Record<string, unknown>>
}

/** The part of a t402 scheme client that differs between families: the proof of a payment. */
export interface T402Client {
  createPaymentPayload(requirements: T402Requirements): Promise<Readonly<Record<string, unknown>>>
}

export interface TronClientOptions {
  readonly chain: Pick<TronChain, 'url'>
  readonly payer: TronKey
  /** How the signer returns the transaction. */
  readonly signer: 'hex' | 'json' | 'object'
}

export interface TonClientOptions {
  readonly chain: TonChain
  readonly wallet: TestWallet
  /** What the signer returns: an external message, or the signed body alone as wallet contracts create it. */
  readonly signer: 'external' | 'body'
  /** `valid_until` that the wallet chooses; default: its own clock, a second after the client's. */
  readonly validUntil?: number
}

/** The request of t402's HTTP facilitator client: no version at its top level. */
export const writeT402Request = async (client: T402Client, requirements: T402Requirements) => ({
  paymentPayload: {
    t402Version: 2,
    resource: { url: 'https://shop.example/report' },
    accepted: requirements,
    payload: await client.createPaymentPayload(requirements),
  },
  paymentRequirements: requirements,
})
