import { fromBech32 } from '@cosmjs/encoding'
import type { SchemeNetworkClient } from '@x402/core/types'
import { startCosmosChain } from '../../support/cosmos/cosmosChain.js'
import {
  type CosmosWallet,
  cosmosBody,
  createWallet,
  send,
  sendMessage,
} from '../../support/cosmos/payment.js'
import type { DemoWorld } from '../world.js'
import { createDollarServer } from './dollarServer.js'

const network = 'cosmos:grand-1'
const denom = 'uusdc'
const initialBalance = 5_000_000n
const price = 10_000n
// The fee is paid in the token.
const maxFee = 20_000n

/** A local node of a chain like Noble; customers pay with @cosmjs/stargate. */
export const openCosmosWorld = async (): Promise<DemoWorld> => {
  const chain = await startCosmosChain({ blockTimeMs: 200 })
  const { ledger } = chain
  const [customer, other, merchant, facilitator] = await Promise.all(
    Array.from({ length: 4 }, () => createWallet(chain)),
  )
  if (customer === undefined || other === undefined || merchant === undefined || facilitator === undefined) {
    throw new Error('There are no wallets')
  }
  for (const { address } of [customer, other]) ledger.fund(address, denom, initialBalance)
  return {
    network,
    introduction:
      'A local Cosmos chain runs (the id of Noble’s test network); the customer sends the transfer itself',
    details: { node: chain.url, usdc: denom },
    environment: {
      COSMOS_RPC_URL_grand: chain.url,
      COSMOS_POLL_INTERVAL_MS_grand: '100',
      COSMOS_SIGNER_grand: facilitator.address,
    },
    feesPaidBy: 'the customer, in USDC',
    symbol: 'USDC',
    customer: customer.address,
    wallet: null,
    merchant: merchant.address,
    balanceOf: async (owner) => ledger.bank.balanceOf(owner, denom),
    fund: async (owner, amount) => {
      // Throws for what is no address.
      fromBech32(owner, 90)
      ledger.fund(owner, denom, amount)
    },
    client: createClient(customer),
    server: createDollarServer({ scheme: 'exact-direct', asset: denom }),
    signPayment: async () => {
      const { address } = other
      if (ledger.bank.balanceOf(address, denom) < price + maxFee) ledger.fund(address, denom, initialBalance)
      const txHash = await send(other, [sendMessage({ from: address, to: merchant.address, amount: price })])
      const terms = { payTo: merchant.address, amount: price, network, maxTimeoutSeconds: 600 }
      return cosmosBody(terms, { txHash, from: address, denom })
    },
    close: chain.stop,
  }
}

/** Sends the transfer, waits for its block, and names it. */
const createClient = (payer: CosmosWallet): SchemeNetworkClient => ({
  scheme: 'exact-direct',
  findDefaultAsset: (asset) => ({ asset, decimals: 6, symbol: 'USDC' }),
  createPaymentPayload: async (x402Version, { asset, payTo, amount }) => {
    const from = payer.address
    const message = sendMessage({ from, to: payTo, amount: BigInt(amount), denom: asset })
    const txHash = await send(payer, [message])
    return { x402Version, payload: { txHash, from, to: payTo, amount, denom: asset } }
  },
})
