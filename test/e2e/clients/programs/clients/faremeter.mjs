import { wrap } from '@faremeter/fetch'
import { createPaymentHandler as createEvmHandler } from '@faremeter/payment-evm/exact'
import { createPaymentHandler as createSolanaHandler } from '@faremeter/payment-solana/exact'
import { createLocalWallet as createEvmWallet } from '@faremeter/wallet-evm'
import { createLocalWallet as createSolanaWallet } from '@faremeter/wallet-solana'
import { createSolanaRpc } from '@solana/kit'
import { readResponse } from '../readResponse.mjs'

export const createBuyer = async ({ families: { evm, solana } }) => {
  const handlers = []
  if (evm !== undefined) {
    const chain = { id: evm.chainId, name: 'Base Sepolia' }
    handlers.push(createEvmHandler(await createEvmWallet(chain, evm.secret)))
  }
  if (solana !== undefined) {
    const wallet = await createSolanaWallet('devnet', Uint8Array.from(Buffer.from(solana.secret, 'hex')))
    handlers.push(createSolanaHandler(wallet, solana.asset, createSolanaRpc(solana.rpcUrl)))
  }
  const pay = wrap(fetch, { handlers, retryCount: 0, returnPaymentFailure: true })
  return async (url) => readResponse(await pay(url))
}
