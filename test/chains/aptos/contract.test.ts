import {
  describeSchemeContract,
  type SchemeBody,
  type SchemeHarness,
} from '../../contracts/schemeContract.js'
import { startAptosChain } from '../../support/aptos/aptosChain.js'
import {
  type AptosPaymentBody,
  addressOf,
  aptosPayment,
  call,
  createAptosAccount,
  transferCall,
  usdt,
} from '../../support/aptos/payment.js'
import { startRpcProxy } from '../../support/rpcProxy.js'
import { watchConnection } from '../../support/watchConnection.js'
import { openAptos, testnetEnvironment } from './openChain.js'

const shorten = (address: string) => address.replace(/^0x0+/, '0x')
const raise = (hex: string) => `0x${hex.slice(2).toUpperCase()}`

/** The same transfer: short and upper-case spellings, another key order. */
const respell = ({ paymentPayload, paymentRequirements }: AptosPaymentBody): SchemeBody => {
  const { accepted, payload, ...rest } = paymentPayload
  const spelled = { ...accepted, asset: shorten(usdt), payTo: raise(accepted.payTo) }
  const { txHash, from, to, amount } = payload
  return {
    paymentPayload: {
      ...rest,
      payload: { amount, to: raise(to), from: raise(from), txHash: raise(txHash) },
      accepted: spelled,
    },
    paymentRequirements: { ...paymentRequirements, ...spelled },
  }
}

const openHarness = async (): Promise<SchemeHarness> => {
  const chain = await startAptosChain()
  chain.createAsset(usdt)
  const proxy = await startRpcProxy(new URL(chain.url).origin)
  const { scheme, openRecorder, close } = await openAptos(testnetEnvironment(`${proxy.url}/v1`))
  return {
    scheme,
    otherNetwork: 'aptos:1',
    plan: async () => {
      const [payer, merchant] = [createAptosAccount(chain), createAptosAccount(chain)]
      const payTo = addressOf(merchant)
      chain.mint(usdt, addressOf(payer), 25_000n)
      const transaction = await call(chain, payer, transferCall(usdt, payTo, 10_000n))
      const { paymentPayload, ...rest } = aptosPayment({ transaction, from: addressOf(payer), payTo })
      const { metadataAddress: _, ...payload } = paymentPayload.payload
      const body = { paymentPayload: { ...paymentPayload, payload }, ...rest }
      return {
        body,
        respelled: respell({ ...body, paymentPayload }),
        countReceived: async () => chain.balanceOf(usdt, payTo),
      }
    },
    openRecorder,
    createUnsentTransaction: () => Promise.reject(new Error('Nothing is sent')),
    ...watchConnection(proxy, { method: '/v1/transactions' }),
    close: async () => {
      await close()
      await proxy.stop()
      await chain.stop()
    },
  }
}

describeSchemeContract('aptos exact-direct', openHarness, { isVerifyOnly: true })
