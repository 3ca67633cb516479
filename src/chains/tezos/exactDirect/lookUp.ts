import type { LookUp, LookUpQuery } from '../../../schemes/exactDirect/directChain.js'
import type { Ask } from '../../common/direct/node.js'
import { foundShape } from '../rpc/source.js'
import { listTransfers } from './transfers.js'

/** By the one rule for both kinds of sources. */
export const lookUpTezos = async ({ transaction, notBefore }: LookUpQuery, ask: Ask): Promise<LookUp> => {
  const found = await ask('operation', { hash: transaction, notBefore }, foundShape)
  if (found.state !== 'final') return { state: found.state }
  if (!found.isApplied) return { state: 'failed' }
  return { state: 'successful', includedAt: found.includedAt, transfers: listTransfers(found.calls) }
}
