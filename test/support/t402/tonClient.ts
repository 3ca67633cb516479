import { Address, beginCell, external, internal, storeMessage } from '@ton/core'
import { jettonTransfer } from '../ton/payment.js'
import type { T402Client, TonClientOptions } from './client.js'

const tonAmount = 100_000_000n

/**
 * Sends what `ExactTonScheme` of @t402/ton sends, which npm does not serve: its `authorization` is written from the
 * client's clock and an earlier seqno query, while the wallet signs with its own `valid_until`.
 */
export const createT402TonClient = ({ chain, wallet, signer, validUntil }: TonClientOptions): T402Client => ({
  createPaymentPayload: async ({ asset, payTo, amount, maxTimeoutSeconds }) => {
    const seqno = await chain.readSeqno(wallet)
    const clientValidUntil = chain.ledger.now() + maxTimeoutSeconds
    const queryId = BigInt(Math.floor(Math.random() * 2 ** 48))
    const destination = Address.parse(payTo)
    const body = jettonTransfer({
      chain,
      wallet,
      payTo: destination,
      amount: BigInt(amount),
      queryId,
      responseDestination: wallet.address,
      forwardNanoTon: 1n,
    })
    const signed = wallet.sign({
      seqno,
      validUntil: validUntil ?? clientValidUntil + 1,
      messages: [
        internal({ to: chain.token.walletOf(wallet.address), value: tonAmount, bounce: true, body }),
      ],
      mode: 1,
    })
    const message = beginCell()
      .store(storeMessage(external({ to: wallet.address, body: signed })))
      .endCell()
    return {
      signedBoc: { external: message, body: signed }[signer].toBoc().toString('base64'),
      authorization: {
        from: wallet.address.toString({ bounceable: true }),
        to: payTo,
        jettonMaster: asset,
        jettonAmount: amount,
        tonAmount: tonAmount.toString(),
        validUntil: clientValidUntil,
        seqno,
        queryId: queryId.toString(),
      },
    }
  },
})
