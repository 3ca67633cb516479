import type { ReadTransaction } from '../../common/direct/crossCheck.js'
import { findTransaction, getTip, listEvents } from '../rpc/rpc.js'
import type { MinedTransaction, Tip } from '../rpc/wireShapes.js'
import type { StacksNetworkSettings } from '../settings.js'
import type { FindTokenName } from './tokenNames.js'
import { readTransfers } from './transfers.js'

export const createReadTransaction =
  (
    { chainId, own }: Pick<StacksNetworkSettings, 'chainId' | 'own'>,
    findTokenName: FindTokenName,
  ): ReadTransaction =>
  async (query, ask) => {
    // Before the transaction: a block must not gain confirmations on a branch that it is not part of.
    const tip = await getTip(ask)
    const found = await findTransaction(ask, query.transaction)
    if (found.state !== 'mined') return { state: found.state }
    const { mined } = found
    if (!isFinal(mined, tip, own)) return { state: 'pending' }
    if (mined.tx_status !== 'success') return { state: 'failed' }
    const includedAt = new Date(mined.block_time * 1_000)
    const [events, token] = await Promise.all([
      listEvents(ask, query.transaction, mined),
      findTokenName(ask, query.asset),
    ])
    // More events than can be read: a later one could take the payment back.
    if (events === null) return { state: 'successful', includedAt, transfers: [] }
    const assetId = token === null ? null : `${query.asset}::${token}`
    const transfers = readTransfers({ sender: mined.sender_address, events, assetId }, query, chainId)
    return { state: 'successful', includedAt, transfers }
  }

/** What stands on an abandoned branch can be mined again. */
const isFinal = (
  { canonical, microblock_canonical, is_unanchored, block_height, burn_block_height }: MinedTransaction,
  tip: Tip,
  { CONFIRMATIONS, BURN_CONFIRMATIONS }: StacksNetworkSettings['own'],
): boolean =>
  canonical &&
  microblock_canonical &&
  !is_unanchored &&
  tip.height - block_height + 1 >= CONFIRMATIONS &&
  tip.burnHeight - burn_block_height >= BURN_CONFIRMATIONS
