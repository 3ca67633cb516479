import type { Address, Hex } from 'viem'
import type { LocalChain } from '../test/support/evm/localChain.js'
import { exactPayment } from '../test/support/evm/payment.js'
import type { PayerWallet } from '../test/support/evm/wallets.js'
import { createPayer } from './createPayer.js'

/** A signed payment, ready to be sent. */
export interface SignedPayment {
  /** The body of `/verify` and `/settle`. */
  readonly body: string
  readonly payer: Address
  readonly nonce: Hex
}

/** What one payment pays, in the token's smallest unit. */
export const amount = 1_000n
const payerFunds = 1_000_000_000n

/** Creates payers who can pay for every run. */
export const createPayers = async (chain: LocalChain, count: number): Promise<readonly PayerWallet[]> => {
  const payers = Array.from({ length: count }, createPayer)
  await chain.mint(
    payers.map(({ address }) => address),
    payerFunds,
  )
  return payers
}

/** Signs payments of the payers in turn, each with an authorization of its own. */
export const signPayments = async (
  chain: LocalChain,
  payers: readonly PayerWallet[],
  { count, payTo }: { readonly count: number; readonly payTo: Address },
): Promise<readonly SignedPayment[]> => {
  const payments: SignedPayment[] = []
  while (payments.length < count) {
    for (const wallet of payers.slice(0, count - payments.length)) {
      const body = await exactPayment({ chain, wallet, payTo, amount })
      const { nonce } = body.paymentPayload.payload.authorization
      payments.push({ body: JSON.stringify(body), payer: wallet.address, nonce })
    }
  }
  return payments
}
