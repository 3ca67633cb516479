import type { SchemeNetworkClient } from '@x402/core/types'
import { pollUntil } from '../../support/pollUntil.js'
import { createStacksKey, type StacksKey } from '../../support/stacks/keys.js'
import { stacksPayment, stacksTestnet, transfer } from '../../support/stacks/payment.js'
import { deployToken, mint, type StacksChain, startStacksChain } from '../../support/stacks/stacksChain.js'
import type { DemoWorld } from '../world.js'
import { createDollarServer } from './dollarServer.js'

const initialBalance = 5_000_000n
const price = 10_000n
const confirmations = 2

interface Payment {
  readonly payer: StacksKey
  readonly token: string
  readonly to: string
  readonly amount: bigint
}

/** Pays with the ordinary client library, and waits for confirmations. */
const pay = async (chain: StacksChain, { payer, ...options }: Payment): Promise<string> => {
  const transaction = await transfer(chain, payer, options)
  await pollUntil(() => {
    const mined = chain.ledger.findMined(transaction)
    return mined !== null && chain.ledger.height() - mined.height + 1 >= confirmations
  }, 'the confirmations of the payment')
  return transaction
}

const createClient = (chain: StacksChain, token: string, payer: StacksKey): SchemeNetworkClient => ({
  scheme: 'exact-direct',
  findDefaultAsset: (asset) => ({ asset, decimals: 6, symbol: 'USD' }),
  createPaymentPayload: async (x402Version, { payTo, amount }) => {
    const txId = await pay(chain, { payer, token, to: payTo, amount: BigInt(amount) })
    return {
      x402Version,
      payload: { txId, from: payer.address, to: payTo, amount, contractAddress: token },
    }
  },
})

/** A local Stacks testnet with the Clarity virtual machine, and a SIP-010 token. */
export const openStacksWorld = async (): Promise<DemoWorld> => {
  const chain = await startStacksChain({ blockTimeMs: 200 })
  const token = await deployToken(chain)
  const [customer, other] = [chain.createFundedKey(), chain.createFundedKey()]
  const merchant = createStacksKey()
  for (const { address } of [customer, other]) await mint(chain, token, address, initialBalance)
  return {
    network: stacksTestnet,
    introduction: 'A local Stacks testnet runs, with a SIP-010 token',
    details: { api: chain.url, token },
    environment: {
      STACKS_RPC_URL_testnet: chain.url,
      STACKS_TOKENS_testnet: `${token}=USD/6`,
      STACKS_SIGNER_testnet: createStacksKey().address,
      STACKS_CONFIRMATIONS_testnet: String(confirmations),
      STACKS_POLL_INTERVAL_MS_testnet: '200',
    },
    feesPaidBy: 'the customer, who sends the transfer',
    symbol: 'USD',
    customer: customer.address,
    wallet: null,
    merchant: merchant.address,
    balanceOf: (owner) => chain.balanceOf(token, owner),
    fund: (owner, amount) => mint(chain, token, owner, amount),
    client: createClient(chain, token, customer),
    server: createDollarServer({
      scheme: 'exact-direct',
      asset: `${stacksTestnet}/sip010:${token}`,
      extra: { assetSymbol: 'USD', assetDecimals: 6, contractAddress: token, networkName: 'testnet' },
    }),
    signPayment: async () => {
      if ((await chain.balanceOf(token, other.address)) < price) {
        await mint(chain, token, other.address, initialBalance)
      }
      const [from, payTo] = [other.address, merchant.address]
      const transaction = await pay(chain, { payer: other, token, to: payTo, amount: price })
      const options = { transaction, from, payTo, token, amount: price, maxTimeoutSeconds: 600 }
      return { x402Version: 2, ...stacksPayment(options) }
    },
    close: () => chain.stop(),
  }
}
