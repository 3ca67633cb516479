import {
  describeSchemeContract,
  type SchemeBody,
  type SchemeHarness,
} from '../../contracts/schemeContract.js'
import { startRpcProxy } from '../../support/rpcProxy.js'
import {
  batchOf,
  createTezosAccount,
  pay,
  type TezosPaymentBody,
  tezosPayment,
  usdt,
} from '../../support/tezos/payment.js'
import { startTezosChain } from '../../support/tezos/tezosChain.js'
import { watchConnection } from '../../support/watchConnection.js'
import { octezAt, openTezos, tzktAt } from './openChain.js'

/** The same transfer: other spellings of the asset, the hash in another field, another key order. */
const respell = ({ paymentPayload, paymentRequirements }: TezosPaymentBody): SchemeBody => {
  const { accepted, payload, ...rest } = paymentPayload
  const { opHash, from, to, amount } = payload
  return {
    paymentPayload: {
      ...rest,
      payload: { amount, to, from, txHash: opHash },
      accepted: { ...accepted, asset: usdt },
    },
    paymentRequirements: { ...paymentRequirements, asset: `${usdt}:0` },
  }
}

const openHarness = async (source: 'octez' | 'tzkt'): Promise<SchemeHarness> => {
  const chain = await startTezosChain({ blockTimeMs: 20 })
  chain.createToken(usdt)
  const proxy = await startRpcProxy(source === 'octez' ? chain.url : chain.tzktUrl)
  const { scheme, openRecorder, close } = await openTezos(
    source === 'octez' ? octezAt(proxy.url) : tzktAt(proxy.url),
  )
  return {
    scheme,
    otherNetwork: 'tezos:NetXdQprcVkpaWU',
    plan: async () => {
      const [payer, merchant] = await Promise.all([createTezosAccount(chain), createTezosAccount(chain)])
      chain.mint(usdt, payer.address, 25_000n)
      const transfer = { to: merchant.address, amount: 10_000 }
      const transaction = await pay(chain, payer, [batchOf(payer.address, transfer)])
      const full = tezosPayment({ transaction, from: payer.address, payTo: merchant.address })
      const { contractAddress: _contract, tokenId: _token, ...payload } = full.paymentPayload.payload
      return {
        body: { ...full, paymentPayload: { ...full.paymentPayload, payload } },
        respelled: respell(full),
        countReceived: async () => chain.balanceOf(usdt, merchant.address),
      }
    },
    openRecorder,
    createUnsentTransaction: () => Promise.reject(new Error('Nothing is sent')),
    ...watchConnection(proxy, { method: '/injection/operation' }),
    close: async () => {
      await close()
      await proxy.stop()
      await chain.stop()
    },
  }
}

describeSchemeContract('tezos exact-direct from octez', () => openHarness('octez'), { isVerifyOnly: true })
describeSchemeContract('tezos exact-direct from TzKT', () => openHarness('tzkt'), { isVerifyOnly: true })
