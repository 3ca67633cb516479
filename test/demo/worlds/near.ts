import type { SchemeNetworkClient } from '@x402/core/types'
import { startNearChain } from '../../support/near/nearChain.js'
import { createWallet, type NearWallet, nearBody, send, transferCall } from '../../support/near/payment.js'
import type { DemoWorld } from '../world.js'
import { createDollarServer } from './dollarServer.js'

const network = 'near:testnet'
const tokenId = 'usdc.fakes.testnet'
const initialBalance = 5_000_000n
const price = 10_000n

/** A local NEAR node and a token; customers pay with near-api-js. */
export const openNearWorld = async (): Promise<DemoWorld> => {
  const chain = await startNearChain({ blockTimeMs: 200 })
  const token = chain.addToken(tokenId)
  const [customer, other] = ['customer.testnet', 'other.testnet'].map((id) => createWallet(chain, id))
  if (customer === undefined || other === undefined) throw new Error('There are no wallets')
  const merchant = 'merchant.testnet'
  chain.addAccount(merchant, null)
  token.mint(merchant, 0n)
  for (const payer of [customer, other]) token.mint(payer.id, initialBalance)
  return {
    network,
    introduction: 'A local NEAR node runs, with a token; the customer sends the transfer itself',
    details: { node: chain.url, usdc: tokenId },
    environment: {
      NEAR_RPC_URL_testnet: chain.url,
      NEAR_TOKENS_testnet: `${tokenId}=USDC/6`,
      NEAR_POLL_INTERVAL_MS_testnet: '100',
      NEAR_SIGNER_testnet: 'facilitator.testnet',
    },
    feesPaidBy: 'the customer, in NEAR',
    symbol: 'USDC',
    customer: customer.id,
    wallet: null,
    merchant,
    balanceOf: async (owner) => token.balanceOf(owner),
    fund: async (owner, amount) => {
      if (!chain.ledger.accounts.has(owner)) throw new Error(`${owner} is no account`)
      token.mint(owner, amount)
    },
    client: createClient(customer),
    server: createDollarServer({ scheme: 'exact-direct', asset: tokenId }),
    signPayment: async () => {
      if (token.balanceOf(other.id) < price) token.mint(other.id, initialBalance)
      const txHash = await send(other, tokenId, [transferCall({ to: merchant, amount: price })])
      const terms = { asset: tokenId, payTo: merchant, amount: price, network, maxTimeoutSeconds: 600 }
      return nearBody(terms, { txHash, from: other.id })
    },
    close: chain.stop,
  }
}

/** Sends the transfer, waits until it is included, and names it. */
const createClient = (payer: NearWallet): SchemeNetworkClient => ({
  scheme: 'exact-direct',
  findDefaultAsset: (asset) => ({ asset, decimals: 6, symbol: 'USDC' }),
  createPaymentPayload: async (x402Version, { asset, payTo, amount }) => {
    const txHash = await send(payer, asset, [transferCall({ to: payTo, amount: BigInt(amount) })], 'INCLUDED')
    return { x402Version, payload: { txHash, from: payer.id, to: payTo, amount } }
  },
})
