import type { SchemeNetworkClient, SchemeNetworkServer } from '@x402/core/types'
import { createTronKey, type TronKey } from '../../support/tron/keys.js'
import { signTransfer, tronPayment } from '../../support/tron/payment.js'
import { startTronChain, type TronChain } from '../../support/tron/tronChain.js'
import type { DemoWorld } from '../world.js'

const network = 'tron:nile'
const purse = 5_000_000n
const stakedSun = 1_000_000_000_000

/** What a wallet does for a shop: tronweb signs the transfer that was asked for. */
const createClient = (chain: TronChain, payer: TronKey): SchemeNetworkClient => ({
  scheme: 'exact',
  findDefaultAsset: (asset) => ({ asset, decimals: 6, symbol: 'USDT' }),
  createPaymentPayload: async (x402Version, { asset, payTo, amount }) => {
    const payload = await signTransfer({ chain, payer, payTo, token: asset, amount: BigInt(amount) })
    return { x402Version, payload: { ...payload } }
  },
})

/** How a shop names its price in the token. */
const createServer = (token: string): SchemeNetworkServer => ({
  scheme: 'exact',
  defaultAssetTransferMethod: 'default',
  paymentFlows: { default: { default: 'authorization', supported: ['authorization'] } },
  getAssetDecimals: () => 6,
  parsePrice: async (price) => {
    if (typeof price === 'object') return price
    const cents = Math.round(Number(String(price).replace(/^\$/, '')) * 100)
    return { amount: String(cents * 10_000), asset: token, extra: {} }
  },
  enhancePaymentRequirements: async (requirements) => requirements,
})

/** A TRON node of our own over a virtual machine, with a token like Tether's, and energy to lend. */
export const openTronWorld = async (): Promise<DemoWorld> => {
  // Three times as fast as TRON itself.
  const chain = await startTronChain({ blockTimeMs: 1_000 })
  const token = await chain.deploy('TetherTrc20')
  const [customer, other, lender, merchant] = [
    createTronKey(),
    createTronKey(),
    createTronKey(),
    createTronKey(),
  ]
  for (const payer of [customer, other]) {
    // It exists, and owns no TRX and no energy.
    chain.fund(payer.address, 0)
    await chain.mint(token, payer.address, purse)
  }
  chain.fund(lender.address, 1_000_000_000)
  chain.stake(lender.address, stakedSun)
  return {
    network,
    introduction: 'A local TRON chain runs (Nile’s id), with a token that behaves as Tether’s does there',
    details: { node: chain.url, usdt: token },
    environment: {
      TRON_RPC_URL_nile: chain.url,
      TRON_TOKENS_nile: token,
      TRON_POLL_INTERVAL_MS_nile: '200',
      TRON_PRIVATE_KEY: lender.privateKey,
      TRON_SPONSOR_ENERGY: 'true',
    },
    feesPaidBy: `energy that the facilitator lends, of ${lender.address}`,
    symbol: 'USDT',
    customer: customer.address,
    merchant: merchant.address,
    balanceOf: (owner) => chain.balanceOf(token, owner),
    client: createClient(chain, customer),
    server: createServer(token),
    signPayment: () =>
      tronPayment({
        chain,
        payer: other,
        payTo: merchant.address,
        token,
        amount: 10_000n,
        maxTimeoutSeconds: 600,
        signed: { lifetimeMs: 600_000 },
      }),
    close: () => chain.stop(),
  }
}
