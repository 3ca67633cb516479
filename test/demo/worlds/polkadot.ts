import type { SchemeNetworkClient } from '@x402/core/types'
import { type AssetHub, startAssetHub } from '../../support/polkadot/assetHub.js'
import { createKey, type PolkadotKey } from '../../support/polkadot/keys.js'
import { callsOf, polkadotPayment, submit } from '../../support/polkadot/payment.js'
import { usdt, westendNetwork } from '../../support/polkadot/westend.js'
import { pollUntil } from '../../support/pollUntil.js'
import type { DemoWorld } from '../world.js'
import { createDollarServer } from './dollarServer.js'

const initialBalance = 5_000_000n
const price = 10_000n
const fees = 10n ** 15n

/** Pays with the ordinary client library, and waits until the transfer is in a block. */
const pay = async (
  hub: AssetHub,
  { payer, payTo, amount }: { readonly payer: PolkadotKey; readonly payTo: string; readonly amount: bigint },
): Promise<string> => {
  const before = await hub.balanceOf(payTo)
  const hash = await submit(hub, payer, callsOf(hub).transfer(payTo, amount))
  await pollUntil(async () => (await hub.balanceOf(payTo)) > before, 'the block of the payment')
  return hash
}

const createClient = (hub: AssetHub, payer: PolkadotKey): SchemeNetworkClient => ({
  scheme: 'exact-direct',
  findDefaultAsset: (asset) => ({ asset, decimals: 6, symbol: 'USDT' }),
  createPaymentPayload: async (x402Version, { payTo, amount }) => {
    const extrinsicHash = await pay(hub, { payer, payTo, amount: BigInt(amount) })
    const place = await findPlace(hub, extrinsicHash)
    const payload = { extrinsicHash, ...place, from: payer.address, to: payTo, amount, assetId: usdt }
    return { x402Version, payload }
  },
})

const maxBlocks = 50

/** From the newest block backwards. */
const findPlace = async ({ api }: AssetHub, extrinsicHash: string) => {
  let hash = await api.rpc.chain.getBlockHash()
  for (let count = 0; count < maxBlocks; count++) {
    const { block } = await api.rpc.chain.getBlock(hash)
    const extrinsicIndex = block.extrinsics.findIndex((each) => each.hash.toHex() === extrinsicHash)
    if (extrinsicIndex !== -1) return { blockHash: hash.toHex(), extrinsicIndex }
    hash = block.header.parentHash
  }
  throw new Error('No recent block holds the extrinsic')
}

/** The runtime of Asset Hub, with the asset 1984. */
export const openPolkadotWorld = async (): Promise<DemoWorld> => {
  const hub = await startAssetHub({ blockTimeMs: 250 })
  const [customer, other, merchant] = [createKey(), createKey(), createKey()]
  for (const { address } of [customer, other]) {
    await hub.fund(address, { native: fees, tokens: { [usdt]: initialBalance } })
  }
  return {
    network: westendNetwork,
    introduction: 'The runtime of Asset Hub runs (Westend’s id), with the asset 1984 as USDT',
    details: { node: hub.url, usdt: `asset ${usdt}` },
    environment: {
      POLKADOT_RPC_URL_westend: hub.url,
      POLKADOT_TOKENS_westend: `${usdt}=USDT/6`,
      POLKADOT_POLL_INTERVAL_MS_westend: '200',
    },
    feesPaidBy: 'the customer, who sends the transfer',
    symbol: 'USDT',
    customer: customer.address,
    wallet: null,
    merchant: merchant.address,
    balanceOf: (owner) => hub.balanceOf(owner),
    fund: async (owner, amount) => {
      await hub.fund(owner, { tokens: { [usdt]: (await hub.balanceOf(owner)) + amount } })
    },
    client: createClient(hub, customer),
    server: createDollarServer({
      scheme: 'exact-direct',
      asset: `${westendNetwork}/asset:${usdt}`,
      extra: { assetSymbol: 'USDT', assetDecimals: 6, assetId: usdt, networkName: 'westend' },
    }),
    signPayment: async () => {
      if ((await hub.balanceOf(other.address)) < 2n * price) {
        await hub.fund(other.address, { tokens: { [usdt]: initialBalance } })
      }
      const payTo = merchant.address
      const extrinsicHash = await pay(hub, { payer: other, payTo, amount: price })
      const options = { extrinsicHash, from: other.address, payTo, amount: price, maxTimeoutSeconds: 600 }
      return { x402Version: 2, ...polkadotPayment({ hub, ...options }) }
    },
    close: () => hub.stop(),
  }
}
