import type { LookUp, LookUpQuery } from '../../../schemes/exactDirect/directChain.js'
import { type Ask, askOrNull } from '../../common/direct/node.js'
import type { RpcError } from '../../nodes/endpoint.js'
import { transactionShapeOf } from '../rpc/wireShapes.js'
import { listTransfers } from './transfers.js'

/** One request. A committed transaction is final: Aptos has no reorgs. */
export const lookUpAptos = async (
  { transaction, asset, from, to }: LookUpQuery,
  ask: Ask,
): Promise<LookUp> => {
  const found = await findTransaction(transaction, ask)
  if (found === null) return { state: 'missing' }
  switch (found.state) {
    case 'pending':
      return { state: 'pending' }
    case 'system':
      return { state: 'failed' }
    case 'executed':
      return found.success
        ? {
            state: 'successful',
            includedAt: found.includedAt,
            transfers: listTransfers(found, { asset, accounts: [from, to] }),
          }
        : { state: 'failed' }
  }
}

const findTransaction = (transaction: string, ask: Ask) =>
  askOrNull(ask, {
    method: `/transactions/by_hash/${transaction}`,
    params: null,
    schema: transactionShapeOf(transaction),
    isVerdict: isUnknownTransaction,
  })

const notFound = 404

/** Not any 404: that of a gateway or of a wrong path says nothing about the transaction. */
const isUnknownTransaction = ({ code, message }: RpcError): boolean =>
  code === notFound && message.includes('transaction_not_found')
