import { AppError } from '../../../errors.js'
import type { LookUp, LookUpQuery } from '../../../schemes/exactDirect/directChain.js'
import type { Ask } from '../../common/direct/node.js'
import { findTransaction, readAccountNumber, readHeader } from '../rpc/rpc.js'
import { findTransactionSigner } from './transactionSigner.js'
import { listTransfers } from './transfers.js'

/**
 * Three requests. The bytes must have the hash, be in the tree of which the block's header names the root, and be signed by
 * the account that pays. A block is final as soon as there is one. Failed transactions are in blocks too, with a code.
 */
export const createReadTransaction =
  (network: { readonly chainId: string; readonly prefix: string }) =>
  async ({ transaction, from }: LookUpQuery, ask: Ask): Promise<LookUp> => {
    const { chainId, prefix } = network
    const found = await findTransaction(ask, transaction)
    if (found === null) return { state: 'missing' }
    const { height, dataHash, code } = found
    const header = await readHeader(ask, { chainId, height, dataHash })
    if (code !== 0) return { state: 'failed' }
    const transfers = listTransfers(found, prefix)
    const isPaidBy = (transfer: { readonly from: string }) => transfer.from === from
    const evidence = { state: 'successful', includedAt: header.time } as const
    if (!transfers.some(isPaidBy)) return { ...evidence, transfers }
    const signer = findTransactionSigner(found.bytes, from, network)
    const signature = signer === null ? 'unsupported' : signer.check(await readAccountNumber(ask, from))
    if (signature === 'unsupported') {
      return { ...evidence, transfers: transfers.filter((each) => !isPaidBy(each)) }
    }
    // No block of the chain holds a transaction with a wrong signature.
    if (signature === 'forged') {
      throw new AppError(
        'SERVICE_UNAVAILABLE',
        `A node of cosmos:${chainId} returned a transaction that its sender did not sign`,
        { operationalCode: 'SVC-2004', retryAfterSeconds: 10 },
      )
    }
    return { ...evidence, transfers }
  }
