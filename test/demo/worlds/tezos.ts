import type { SchemeNetworkClient } from '@x402/core/types'
import {
  batchOf,
  createTezosAccount,
  ghostnet,
  pay,
  type TezosAccount,
  tezosPayment,
  usdt,
} from '../../support/tezos/payment.js'
import { startTezosChain, type TezosChain } from '../../support/tezos/tezosChain.js'
import type { DemoWorld } from '../world.js'
import { createDollarServer } from './dollarServer.js'

const initialBalance = 5_000_000n
const price = 10_000n
const asset = `${ghostnet}/fa2:${usdt}/0`

/** A client that pays with taquito, and then names the operation. */
const createClient = (chain: TezosChain, payer: TezosAccount): SchemeNetworkClient => ({
  scheme: 'exact-direct',
  findDefaultAsset: (named) => ({ asset: named, decimals: 6, symbol: 'USDt' }),
  createPaymentPayload: async (x402Version, { asset: named, payTo, amount }) => {
    const [contractAddress = '', tokenId = '0'] = named
      .slice(named.indexOf('fa2:') + 'fa2:'.length)
      .split('/')
    const transfer = { to: payTo, amount: BigInt(amount), tokenId: Number(tokenId) }
    const opHash = await pay(chain, payer, [batchOf(payer.address, transfer)], contractAddress)
    const from = payer.address
    const token = { contractAddress, tokenId: Number(tokenId) }
    return { x402Version, payload: { opHash, from, to: payTo, amount, ...token } }
  },
})

/** A local Tezos node and its indexer, with an FA2 contract like USDt. */
export const openTezosWorld = async (): Promise<DemoWorld> => {
  // Twelve times as fast as Tezos.
  const chain = await startTezosChain({ blockTimeMs: 500 })
  chain.createToken(usdt)
  const [customer, other, merchant] = await Promise.all([
    createTezosAccount(chain),
    createTezosAccount(chain),
    createTezosAccount(chain),
  ])
  for (const payer of [customer, other]) chain.mint(usdt, payer.address, initialBalance)
  return {
    network: ghostnet,
    introduction: 'A local Tezos chain runs (Ghostnet’s id), with an indexer and an FA2 contract like USDt',
    details: { node: chain.url, tzkt: chain.tzktUrl, usdt },
    environment: {
      TEZOS_RPC_URL_ghostnet: chain.url,
      TEZOS_TZKT_URL_ghostnet: chain.tzktUrl,
      TEZOS_TOKENS_ghostnet: `${usdt}:0=USDt/6`,
      TEZOS_POLL_INTERVAL_MS_ghostnet: '200',
    },
    feesPaidBy: 'the customer, who sends the transfer',
    symbol: 'USDt',
    customer: customer.address,
    wallet: null,
    merchant: merchant.address,
    balanceOf: async (owner) => chain.balanceOf(usdt, owner),
    fund: async (owner, amount) => {
      if (!/^(tz[1-4]|KT1)[1-9A-HJ-NP-Za-km-z]{33}$/.test(owner)) {
        throw new Error(`${owner} is no address of Tezos`)
      }
      chain.mint(usdt, owner, amount)
    },
    client: createClient(chain, customer),
    server: createDollarServer({ scheme: 'exact-direct', asset }),
    signPayment: async () => {
      if (chain.balanceOf(usdt, other.address) < price) chain.mint(usdt, other.address, initialBalance)
      const transfer = { to: merchant.address, amount: price }
      const transaction = await pay(chain, other, [batchOf(other.address, transfer)])
      const parties = { from: other.address, payTo: merchant.address }
      return tezosPayment({ transaction, ...parties, amount: price, maxTimeoutSeconds: 600 })
    },
    close: () => chain.stop(),
  }
}
