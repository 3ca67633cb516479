import { z } from 'zod'
import type { DirectTransfer, LookUp, LookUpQuery } from '../../schemes/exactDirect/directChain.js'
import type { Ask } from '../common/direct/node.js'
import { parseJson } from '../nodes/httpClient.js'
import { readAccountId } from './addresses.js'
import { type FinalTransaction, readBlock, readFinalBlock, readTransaction } from './rpc.js'

/**
 * Three requests. Only `FINAL` counts: all receipts, refunds included, are in final blocks. The time is that of the
 * transaction's own block; receipts follow it.
 */
export const lookUpTransaction = async ({ transaction, from }: LookUpQuery, ask: Ask): Promise<LookUp> => {
  const found = await readTransaction(ask, { transaction, sender: from })
  if (found === 'missing' || found === 'pending') return { state: found }
  const [block, final] = await Promise.all([readBlock(ask, found.blockHash), readFinalBlock(ask)])
  // Endpoints differ: this one has not seen the block as final.
  if (block.height > final.height) return { state: 'pending' }
  const transfers = listTransfers(found)
  if (transfers.length === 0 && hasFailed(found)) return { state: 'failed' }
  const isAuthorized = isAuthorizedBy(found, from)
  return {
    state: 'successful',
    includedAt: block.time,
    transfers: transfers.filter((transfer) => isAuthorized || transfer.from !== from),
  }
}

/** The transaction's own status says nothing about receipts that it did not wait for. */
const hasFailed = ({ isSuccessful, receipts }: FinalTransaction): boolean =>
  !isSuccessful || receipts.some((receipt) => !receipt.isSuccessful)

const eventPrefix = 'EVENT_JSON:'

// NEP-141 events in the form of NEP-297. Amounts are u128.
const transferEvent = z.object({
  standard: z.literal('nep141'),
  event: z.literal('ft_transfer'),
  data: z.array(
    z.object({
      old_owner_id: z.string(),
      new_owner_id: z.string(),
      amount: z.string().regex(/^[0-9]{1,39}$/),
      memo: z.string().nullish(),
    }),
  ),
})

/**
 * Transfers that receipts report, with the contract that executed the receipt as the asset. A failed receipt is left out:
 * its changes are reverted, but the logs of its earlier actions remain.
 */
export const listTransfers = ({ receipts }: FinalTransaction): readonly DirectTransfer[] =>
  receipts
    .filter(({ isSuccessful }) => isSuccessful)
    .flatMap(({ executor, logs }) => logs.flatMap((log) => readEvent(log, executor)))

/** Contracts print any text: what is no transfer event is left out. */
const readEvent = (log: string, asset: string): readonly DirectTransfer[] => {
  if (!log.startsWith(eventPrefix)) return []
  const event = transferEvent.safeParse(parseJson(log.slice(eventPrefix.length)))
  if (!event.success) return []
  return event.data.data.flatMap(({ old_owner_id, new_owner_id, amount, memo = null }) => {
    const from = readAccountId(old_owner_id)
    const to = readAccountId(new_owner_id)
    return from === null || to === null ? [] : [{ asset, from, to, amount: BigInt(amount), memo }]
  })
}

/**
 * Whether the account's key signed the transaction, or the delegate action in it that a relayer sent (NEP-366). A contract
 * that pays in a transaction of another account authorized nothing: any caller could claim the payment.
 */
export const isAuthorizedBy = (
  { signer, receiver, delegators }: FinalTransaction,
  account: string,
): boolean => signer === account || (receiver === account && delegators.includes(account))
