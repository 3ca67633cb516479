import { createHash } from 'node:crypto'
import { base58 } from '@scure/base'
import { encodeTransaction } from 'near-api-js'
import {
  describeSchemeContract,
  type SchemeBody,
  type SchemeHarness,
} from '../../contracts/schemeContract.js'
import { send, transferCall } from '../../support/near/payment.js'
import { watchConnection } from '../../support/watchConnection.js'
import { amount, openScene, tokenId } from './scene.js'

/** The same payment: other key order, the amount as a number. */
const respell = ({ paymentPayload, paymentRequirements }: SchemeBody): SchemeBody => {
  const payload = Object.fromEntries(Object.entries(paymentPayload.payload).reverse())
  return {
    paymentPayload: { ...paymentPayload, payload: { ...payload, amount: Number(amount) } },
    paymentRequirements,
  }
}

const openHarness = async (): Promise<SchemeHarness> => {
  const scene = await openScene()
  return {
    scheme: scene.scheme,
    otherNetwork: 'near:mainnet',
    plan: async () => {
      const payTo = scene.addMerchant()
      const payer = scene.addPayer()
      const txHash = await send(payer, tokenId, [transferCall({ to: payTo, amount })])
      const body = scene.bodyOf(txHash, { payTo }, payer.id)
      return { body, respelled: respell(body), countReceived: async () => scene.token.balanceOf(payTo) }
    },
    openRecorder: scene.openRecorder,
    createUnsentTransaction: async () => {
      const { transaction } = await scene.payer.account.createSignedTransaction({
        receiverId: tokenId,
        actions: [transferCall({ to: scene.addMerchant(), amount })],
      })
      const bytes = encodeTransaction(transaction)
      const hash = createHash('sha256').update(bytes).digest()
      return { transaction: base58.encode(hash), bytes: Buffer.from(bytes).toString('hex') }
    },
    ...watchConnection(scene.proxy, { method: 'send_tx' }),
    close: scene.close,
  }
}

describeSchemeContract('exact-direct on NEAR', openHarness, { isVerifyOnly: true })
