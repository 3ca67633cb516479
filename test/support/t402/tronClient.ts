import { TronWeb } from 'tronweb'
import { signWithTronweb } from '../tron/payment.js'
import type { T402Client, TronClientOptions } from './client.js'

/**
 * Sends what `ExactTronScheme` of @t402/tron sends, which npm does not serve: its `authorization` is written after
 * signing, with a block reference, an expiration and a clock of its own. A signer returns the transaction either as hex
 * or, like tronweb, as JSON.
 */
export const createT402TronClient = ({ chain, payer, signer }: TronClientOptions): T402Client => ({
  createPaymentPayload: async ({ asset, payTo, amount }) => {
    const tronWeb = new TronWeb({ fullHost: chain.url })
    const blockInfo = await tronWeb.trx.getCurrentRefBlockParams()
    const expiration = Date.now() + 90_000
    const { payload, signed } = await signWithTronweb({
      chain,
      payer,
      payTo,
      token: asset,
      amount: BigInt(amount),
    })
    return {
      signedTransaction: {
        hex: payload.signedTransaction,
        json: JSON.stringify(signed),
        object: signed,
      }[signer],
      authorization: {
        from: payer.address,
        to: payTo,
        contractAddress: asset,
        amount,
        expiration,
        refBlockBytes: blockInfo.ref_block_bytes,
        refBlockHash: blockInfo.ref_block_hash,
        timestamp: Date.now(),
      },
    }
  },
})
