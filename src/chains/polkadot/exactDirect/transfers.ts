import type { DirectTransfer, LookUpQuery } from '../../../schemes/exactDirect/directChain.js'
import type { AccountKey } from '../encoding/address.js'
import type { ExtrinsicEvents } from './decoder.js'
import type { OrderedTransfer } from './signedExtrinsic.js'

/** Between the chain's keys and the network's addresses. */
export interface ReadAddress {
  format(key: AccountKey): string
}

interface Evidence extends Pick<ExtrinsicEvents, 'transfers'> {
  readonly signer: AccountKey | null
  readonly memo: string | null
}

/**
 * What the signer paid. Transfers out of other accounts, such as by a proxy, are no payment of either: the signer's funds
 * did not move, and the owner signed nothing. They are listed only if they go back to the signer.
 */
export const readTransfers = (
  { signer, transfers, memo }: Evidence,
  query: Pick<LookUpQuery, 'from'>,
  { format }: ReadAddress,
): readonly DirectTransfer[] =>
  transfers.flatMap(({ asset, from, to, amount }) => {
    const transfer = { asset, from: format(from), to: format(to), amount, memo }
    const isRefund = to === signer && transfer.from !== query.from
    return from === signer || isRefund ? [transfer] : []
  })

/** Whether the calls that the payer signed order at least what the events report; less happens if a batch is interrupted. */
export const areOrdered = (
  transfers: readonly DirectTransfer[],
  orders: readonly OrderedTransfer[],
  { query, format }: ReadAddress & { readonly query: Pick<LookUpQuery, 'asset' | 'from' | 'to'> },
): boolean => {
  const reported = transfers.filter(
    ({ asset, from, to }) => asset === query.asset && from === query.from && to === query.to,
  )
  const ordered = orders.filter(({ asset, to }) => asset === query.asset && format(to) === query.to)
  return sum(reported) <= sum(ordered)
}

const sum = (moved: readonly { readonly amount: bigint }[]): bigint =>
  moved.reduce((total, { amount }) => total + amount, 0n)
