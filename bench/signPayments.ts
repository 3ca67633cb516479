import type { Address, Hex } from 'viem'
import type { LocalChain } from '../test/support/evm/localChain.js'
import { exactPayment } from '../test/support/evm/payment.js'
import type { PayerWallet } from '../test/support/evm/wallets.js'
import { createPayer } from './createPayer.js'

export interface SignedPayment {
  readonly body: string
  readonly payer: Address
  readonly nonce: Hex
}

/** Amount of a payment, in the token's smallest unit. */
export const amount = 1_000n
const payerFunds = 1_000_000_000n

export const createPayers = async (chain: LocalChain, count: number): Promise<readonly PayerWallet[]> => {
  const payers = Array.from({ length: count }, createPayer)
  await chain.mint(
    payers.map(({ address }) => address),
    payerFunds,
  )
  return payers
}

/** Signs payments of the payers in turn, each with a new nonce. */
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
