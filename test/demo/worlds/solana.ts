import { base58 } from '@scure/base'
import { createKeyPairSignerFromBytes } from '@solana/kit'
import { ExactSvmScheme } from '@x402/svm/exact/client'
import { ExactSvmScheme as ExactSvmServer } from '@x402/svm/exact/server'
import { startLocalSolana } from '../../support/solana/localChain.js'
import { createParties, solanaPayment } from '../../support/solana/payment.js'
import type { DemoWorld } from '../world.js'

const initialBalance = 5_000_000n
const price = 10_000n

/** LiteSVM with a slot every 400 ms, like mainnet, and USDC at its real address. */
export const openSolanaWorld = async (): Promise<DemoWorld> => {
  const chain = await startLocalSolana({ landSlots: 1, confirmSlots: 1 })
  const { payer: customer, payTo: merchant } = createParties(chain, initialBalance)
  const { payer } = createParties(chain, initialBalance)
  const fund = async (owner: string, amount: bigint) => {
    chain.give({ owner, amount: chain.holdingOf(owner) + amount })
  }
  return {
    network: 'solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp',
    introduction:
      'A local Solana cluster runs (mainnet’s genesis hash), with Circle’s USDC at its real address',
    details: { rpc: chain.url, websocket: chain.websocketUrl, usdc: chain.usdc },
    environment: {
      SOLANA_PRIVATE_KEY: chain.feePayers.map(({ secretKey }) => base58.encode(secretKey)).join(','),
      SOLANA_RPC_URL_mainnet: chain.url,
      SOLANA_POLL_INTERVAL_MS_mainnet: '100',
    },
    feesPaidBy: `the facilitator, ${chain.feePayers[0]?.publicKey.toBase58()}`,
    symbol: 'USDC',
    customer: customer.publicKey.toBase58(),
    wallet: { key: base58.encode(customer.secretKey), rpcUrl: chain.url },
    merchant,
    balanceOf: async (owner) => chain.holdingOf(owner),
    fund,
    client: new ExactSvmScheme(await createKeyPairSignerFromBytes(customer.secretKey), { rpcUrl: chain.url }),
    server: new ExactSvmServer(),
    signPayment: async () => {
      const owner = payer.publicKey.toBase58()
      if (chain.holdingOf(owner) < price) await fund(owner, initialBalance)
      return solanaPayment({ chain, payer, payTo: merchant, amount: price })
    },
    close: chain.stop,
  }
}
