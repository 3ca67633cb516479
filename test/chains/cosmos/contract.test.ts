import {
  describeSchemeContract,
  type SchemeBody,
  type SchemeHarness,
} from '../../contracts/schemeContract.js'
import { send, sendMessage, sign } from '../../support/cosmos/payment.js'
import { hashOf } from '../../support/cosmos/transaction.js'
import { watchConnection } from '../../support/watchConnection.js'
import { amount, openScene } from './scene.js'

/** The same payment: other key order, the hash in lower case with 0x, the amount as a number. */
const respell = ({ paymentPayload, paymentRequirements }: SchemeBody, txHash: string): SchemeBody => {
  const payload = Object.fromEntries(Object.entries(paymentPayload.payload).reverse())
  return {
    paymentPayload: {
      ...paymentPayload,
      payload: { ...payload, txHash: `0x${txHash.toLowerCase()}`, amount: Number(amount) },
    },
    paymentRequirements,
  }
}

const openHarness = async (): Promise<SchemeHarness> => {
  const scene = await openScene()
  return {
    scheme: scene.scheme,
    otherNetwork: 'cosmos:noble-1',
    plan: async () => {
      const payTo = await scene.addMerchant()
      const payer = await scene.addPayer()
      const txHash = await send(payer, [sendMessage({ from: payer.address, to: payTo, amount })])
      const body = scene.bodyOf(txHash, { payTo }, payer.address)
      const countReceived = async () => scene.chain.ledger.bank.balanceOf(payTo, 'uusdc')
      return { body, respelled: respell(body, txHash), countReceived }
    },
    openRecorder: scene.openRecorder,
    createUnsentTransaction: async () => {
      const bytes = await sign(scene.payer, [
        sendMessage({ from: scene.payer.address, to: await scene.addMerchant(), amount }),
      ])
      return { transaction: hashOf(bytes), bytes: Buffer.from(bytes).toString('hex') }
    },
    ...watchConnection(scene.proxy, { method: 'broadcast_tx_sync', prefix: 'broadcast_tx' }),
    close: scene.close,
  }
}

describeSchemeContract('exact-direct on a Cosmos chain', openHarness, { isVerifyOnly: true })
