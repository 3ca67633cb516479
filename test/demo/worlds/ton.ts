import { Address } from '@ton/core'
import type { SchemeNetworkClient, SchemeNetworkServer } from '@x402/core/types'
import { facilitatorWords } from '../../support/ton/facilitatorWords.js'
import { sponsoredPayment } from '../../support/ton/payment.js'
import { fundRelayWallets } from '../../support/ton/relayWallets.js'
import { startTonChain, type TonChain } from '../../support/ton/tonChain.js'
import { randomAddress, type TestWallet } from '../../support/ton/wallets.js'
import type { DemoWorld } from '../world.js'

const purse = 5_000_000n
const decimals = 6

/** TON's own virtual machine behind the API of toncenter, and a jetton; the customer owns no TON and has no wallet yet. */
export const openTonWorld = async (): Promise<DemoWorld> => {
  const chain = await startTonChain()
  chain.ledger.setDelays({ inclusionMs: 1_000, hopMs: 200 })
  const [relay] = await fundRelayWallets(chain)
  const createCustomer = () => chain.createPayer({ coins: purse, nanoTon: 0n, isDeployed: false })
  const customer = await createCustomer()
  const other = await createCustomer()
  const merchant = randomAddress()
  const asset = chain.token.master.toRawString()
  return {
    network: chain.network,
    introduction:
      'A TON network of one process runs, with a jetton; the customer owns no TON and has no wallet yet',
    details: { api: chain.url, jetton: asset },
    environment: {
      TON_MNEMONIC: facilitatorWords,
      TON_RPC_URL_testnet: chain.url,
      TON_TOKENS_testnet: asset,
      TON_POLL_INTERVAL_MS_testnet: '200',
      TON_RELAY_WALLETS: '1',
    },
    feesPaidBy: `the facilitator, ${relay?.toRawString()}`,
    symbol: 'USDT',
    customer: customer.address.toRawString(),
    merchant: merchant.toRawString(),
    balanceOf: (owner) => chain.token.balanceOf(Address.parse(owner)),
    client: createClient(chain, customer),
    server: createServer(asset),
    signPayment: () => sponsoredPayment({ chain, wallet: other, payTo: merchant, amount: 10_000n }),
    close: () => chain.stop(),
  }
}

/** Signs what somebody else relays, as the protocol's specification for TON says; it has no published package yet. */
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

/** Names a price in dollars in the jetton, and hands on where the facilitator wants the rest of its TON. */
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
