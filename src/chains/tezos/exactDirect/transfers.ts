import type { DirectTransfer } from '../../../schemes/exactDirect/directChain.js'
import { readTezosAddress, toAsset } from '../encoding/identifiers.js'
import type { TransferCall } from '../rpc/source.js'

/**
 * Transfers of an applied operation. Only of the account that signed it: an operator may move the tokens of others, and
 * then neither of the two made the payment.
 */
export const listTransfers = (calls: readonly TransferCall[]): readonly DirectTransfer[] =>
  calls.flatMap(({ source, destination, entries }) => {
    const contract = readTezosAddress(destination)
    const payer = readTezosAddress(source)
    if (contract === null || payer === null) return []
    return entries.flatMap(({ from, to, tokenId, amount }) => {
      const recipient = readTezosAddress(to)
      if (from !== payer || recipient === null || amount === 0n) return []
      return [{ asset: toAsset(contract, tokenId), from: payer, to: recipient, amount, memo: null }]
    })
  })
