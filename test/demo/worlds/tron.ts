import type { SchemeNetworkClient } from '@x402/core/types'
import { createTronKey, type TronKey } from '../../support/tron/keys.js'
import { signTransfer, tronPayment } from '../../support/tron/payment.js'
import { startTronChain, type TronChain } from '../../support/tron/tronChain.js'
import type { DemoWorld } from '../world.js'
import { createDollarServer } from './dollarServer.js'

const network = 'tron:nile'
const initialBalance = 5_000_000n
const price = 10_000n
const stakedSun = 1_000_000_000_000

/** A client that signs the transfer with tronweb. */
const createClient = (chain: TronChain, payer: TronKey): SchemeNetworkClient => ({
  scheme: 'exact',
  findDefaultAsset: (asset) => ({ asset, decimals: 6, symbol: 'USDT' }),
  createPaymentPayload: async (x402Version, { asset, payTo, amount }) => {
    const payload = await signTransfer({ chain, payer, payTo, token: asset, amount: BigInt(amount) })
    return { x402Version, payload: { ...payload } }
  },
})

/** A local TRON node, a token like USDT, and staked TRX for energy delegation. */
export const openTronWorld = async (): Promise<DemoWorld> => {
  // Three times as fast as TRON.
  const chain = await startTronChain({ blockTimeMs: 1_000 })
  const token = await chain.deploy('TetherTrc20')
  const [customer, other, sponsor, merchant] = [
    createTronKey(),
    createTronKey(),
    createTronKey(),
    createTronKey(),
  ]
  for (const payer of [customer, other]) {
    // Existing accounts without TRX and energy.
    chain.fund(payer.address, 0)
    await chain.mint(token, payer.address, initialBalance)
  }
  chain.fund(sponsor.address, 1_000_000_000)
  chain.stake(sponsor.address, stakedSun)
  return {
    network,
    introduction: 'A local TRON chain runs (Nile’s id), with a token that behaves like USDT on TRON',
    details: { node: chain.url, usdt: token },
    environment: {
      TRON_RPC_URL_nile: chain.url,
      TRON_TOKENS_nile: `${token}=USDT/6`,
      TRON_POLL_INTERVAL_MS_nile: '200',
      TRON_PRIVATE_KEY: sponsor.privateKey,
      TRON_SPONSOR_ENERGY: 'true',
      // The customers have no API key, and the merchant is new.
      SPONSORED_RECIPIENTS: '*',
    },
    feesPaidBy: `energy delegated by the facilitator, ${sponsor.address}`,
    symbol: 'USDT',
    customer: customer.address,
    wallet: null,
    merchant: merchant.address,
    balanceOf: (owner) => chain.balanceOf(token, owner),
    fund: async (owner, amount) => {
      await chain.mint(token, owner, amount)
    },
    client: createClient(chain, customer),
    server: createDollarServer({ scheme: 'exact', asset: token }),
    signPayment: async () => {
      if ((await chain.balanceOf(token, other.address)) < price) {
        await chain.mint(token, other.address, initialBalance)
      }
      return await tronPayment({
        chain,
        payer: other,
        payTo: merchant.address,
        token,
        amount: price,
        maxTimeoutSeconds: 600,
      })
    },
    close: () => chain.stop(),
  }
}
