import type { Account } from '@aptos-labs/ts-sdk'
import type { SchemeNetworkClient } from '@x402/core/types'
import { type AptosChain, startAptosChain } from '../../support/aptos/aptosChain.js'
import {
  addressOf,
  aptosPayment,
  aptosTestnet,
  call,
  createAptosAccount,
  transferCall,
  usdt,
} from '../../support/aptos/payment.js'
import type { DemoWorld } from '../world.js'
import { createDollarServer } from './dollarServer.js'

const initialBalance = 5_000_000n
const price = 10_000n
const asset = `${aptosTestnet}/fa:${usdt}`

/** A client that pays with Aptos' own library, and then names the transaction. */
const createClient = (chain: AptosChain, payer: Account): SchemeNetworkClient => ({
  scheme: 'exact-direct',
  findDefaultAsset: (named) => ({ asset: named, decimals: 6, symbol: 'USDT' }),
  createPaymentPayload: async (x402Version, { asset: named, payTo, amount }) => {
    const metadataAddress = named.slice(named.indexOf('fa:') + 'fa:'.length)
    const txHash = await call(chain, payer, transferCall(metadataAddress, payTo, BigInt(amount)))
    return { x402Version, payload: { txHash, from: addressOf(payer), to: payTo, amount, metadataAddress } }
  },
})

/** A local Aptos node with a fungible asset like USDT. */
export const openAptosWorld = async (): Promise<DemoWorld> => {
  const chain = await startAptosChain({ blockTimeMs: 250 })
  chain.createAsset(usdt)
  const [customer, other, merchant] = [
    createAptosAccount(chain),
    createAptosAccount(chain),
    createAptosAccount(chain),
  ]
  for (const payer of [customer, other]) chain.mint(usdt, addressOf(payer), initialBalance)
  return {
    network: aptosTestnet,
    introduction: 'A local Aptos chain runs (the testnet’s id), with a fungible asset like USDT',
    details: { node: chain.url, usdt },
    environment: {
      APTOS_RPC_URL_testnet: chain.url,
      APTOS_TOKENS_testnet: `${usdt}=USDT/6`,
      APTOS_POLL_INTERVAL_MS_testnet: '100',
    },
    feesPaidBy: 'the customer, who sends the transfer',
    symbol: 'USDT',
    customer: addressOf(customer),
    wallet: null,
    merchant: addressOf(merchant),
    balanceOf: async (owner) => chain.balanceOf(usdt, owner),
    fund: async (owner, amount) => {
      if (!/^0x[0-9a-fA-F]{1,64}$/.test(owner)) throw new Error(`${owner} is no address of Aptos`)
      chain.mint(usdt, owner, amount)
    },
    client: createClient(chain, customer),
    server: createDollarServer({ scheme: 'exact-direct', asset }),
    signPayment: async () => {
      const from = addressOf(other)
      if (chain.balanceOf(usdt, from) < price) chain.mint(usdt, from, initialBalance)
      const payTo = addressOf(merchant)
      const transaction = await call(chain, other, transferCall(usdt, payTo, price))
      return aptosPayment({ transaction, from, payTo, amount: price, maxTimeoutSeconds: 600 })
    },
    close: () => chain.stop(),
  }
}
