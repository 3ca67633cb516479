import { Address } from '@ton/core'
import type { SchemeNetworkClient, SchemeNetworkServer } from '@x402/core/types'
import { facilitatorMnemonic } from '../../support/ton/facilitatorMnemonic.js'
import { sponsoredPayment } from '../../support/ton/payment.js'
import { fundRelayWallets } from '../../support/ton/relayWallets.js'
import { startTonChain, type TonChain } from '../../support/ton/tonChain.js'
import { randomAddress, type TestWallet } from '../../support/ton/wallets.js'
import type { DemoWorld } from '../world.js'

const initialBalance = 5_000_000n
const price = 10_000n
const decimals = 6

/**
 * TON's virtual machine behind the toncenter API, and a jetton. The customer has no TON and no deployed
 * wallet.
 */
export const openTonWorld = async (): Promise<DemoWorld> => {
  const chain = await startTonChain()
  chain.ledger.setDelays({ inclusionMs: 1_000, hopMs: 200 })
  const [relay] = await fundRelayWallets(chain)
  const createCustomer = () => chain.createPayer({ coins: initialBalance, nanoTon: 0n, isDeployed: false })
  const customer = await createCustomer()
  const other = await createCustomer()
  const merchant = randomAddress()
  const asset = chain.token.master.toRawString()
  return {
    network: chain.network,
    introduction:
      'A TON network of one process runs, with a jetton; the customer has no TON and no deployed wallet',
    details: { api: chain.url, jetton: asset },
    environment: {
      TON_MNEMONIC: facilitatorMnemonic,
      TON_RPC_URL_testnet: chain.url,
      TON_TOKENS_testnet: `${asset}=USDT/6`,
      TON_POLL_INTERVAL_MS_testnet: '200',
      TON_RELAY_WALLETS: '1',
      // The customers have no API key, and the merchant is new.
      SPONSORED_RECIPIENTS: '*',
    },
    feesPaidBy: `the facilitator, ${relay?.toRawString()}`,
    symbol: 'USDT',
    customer: customer.address.toRawString(),
    wallet: null,
    merchant: merchant.toRawString(),
    balanceOf: (owner) => chain.token.balanceOf(Address.parse(owner)),
    fund: (owner, amount) => chain.token.mint(Address.parse(owner), amount),
    client: createClient(chain, customer),
    server: createServer(asset),
    signPayment: async () => {
      if ((await chain.token.balanceOf(other.address)) < price) {
        await chain.token.mint(other.address, initialBalance)
      }
      return await sponsoredPayment({ chain, wallet: other, payTo: merchant, amount: price })
    },
    close: () => chain.stop(),
  }
}

/** Signs a relayed payment according to the TON scheme of x402, which has no published client package yet. */
const createClient = (chain: TonChain, wallet: TestWallet): SchemeNetworkClient => ({
  scheme: 'exact',
  findDefaultAsset: (asset) => ({ asset, symbol: 'USDT', decimals }),
  createPaymentPayload: async (x402Version, { payTo, amount, maxTimeoutSeconds, extra }) => {
    const { responseDestination } = extra
    const { paymentPayload } = await sponsoredPayment({
      chain,
      wallet,
      payTo: Address.parse(payTo),
      amount: BigInt(amount),
      maxTimeoutSeconds,
      ...(typeof responseDestination === 'string'
        ? { responseDestination: Address.parse(responseDestination) }
        : {}),
    })
    return { x402Version, payload: { ...paymentPayload.payload } }
  },
})

/** Converts a dollar price to the jetton, and passes on the facilitator's response destination. */
const createServer = (asset: string): SchemeNetworkServer => ({
  scheme: 'exact',
  defaultAssetTransferMethod: 'default',
  paymentFlows: { default: { supported: ['authorization'], default: 'authorization' } },
  getAssetDecimals: () => decimals,
  parsePrice: async (price) => {
    if (typeof price === 'object') return price
    const dollars = Number(String(price).replace('$', ''))
    return { asset, amount: String(Math.round(dollars * 10 ** decimals)) }
  },
  enhancePaymentRequirements: async (requirements, { extra }) => ({
    ...requirements,
    extra: { ...requirements.extra, ...extra },
  }),
})
