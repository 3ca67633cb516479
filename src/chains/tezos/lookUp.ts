import type { DirectTransfer, LookUp, LookUpQuery } from '../../schemes/exactDirect/directChain.js'
import type { Ask } from '../common/direct/node.js'
import { readTezosAddress, toAsset } from './addresses.js'
import { foundShape, type TransferCall } from './source.js'

/** By the one rule for both kinds of sources. */
export const lookUpTransaction = async (
  { transaction, notBefore }: LookUpQuery,
  ask: Ask,
): Promise<LookUp> => {
  const found = await ask('operation', { hash: transaction, notBefore }, foundShape)
  if (found.state !== 'final') return { state: found.state }
  if (!found.isApplied) return { state: 'failed' }
  return { state: 'successful', includedAt: found.includedAt, transfers: listTransfers(found.calls) }
}

/**
 * Transfers of an applied operation. Only of the account that signed it: an operator may move the tokens of others, and
 * then neither of the two made the payment.
 */
const listTransfers = (calls: readonly TransferCall[]): readonly DirectTransfer[] =>
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
