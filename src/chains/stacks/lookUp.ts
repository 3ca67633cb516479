import type { DirectTransfer, LookUpQuery } from '../../schemes/exactDirect/directChain.js'
import type { ReadTransaction } from '../common/direct/crossCheck.js'
import type { Ask } from '../common/direct/node.js'
import { readPrincipal } from './addresses.js'
import {
  findTokenNames,
  findTransaction,
  getTip,
  listEvents,
  type MinedTransaction,
  type Tip,
  type TransactionEvent,
} from './rpc.js'
import type { StacksNetworkSettings } from './settings.js'

export const createLookUp =
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

interface Evidence {
  readonly sender: string
  readonly events: readonly TransactionEvent[]
  /** `<contract>::<token>` of the asset asked for; null if unknown. */
  readonly assetId: string | null
}

/**
 * What the transaction's sender paid. Transfers out of other principals, such as by contracts, are no payment of theirs;
 * they are listed only if they go back to the sender.
 */
const readTransfers = (
  { sender, events, assetId }: Evidence,
  { asset, from }: Pick<LookUpQuery, 'asset' | 'from'>,
  chainId: string,
): readonly DirectTransfer[] => {
  const memo = readMemo(events, asset)
  return events.flatMap((event): readonly DirectTransfer[] => {
    if (event.event_type !== 'fungible_token_asset' || event.asset.asset_event_type !== 'transfer') return []
    const payer = readPrincipal(event.asset.sender, chainId)
    const recipient = readPrincipal(event.asset.recipient, chainId)
    if (payer === null || recipient === null)
      throw new Error('The API returned a transfer without its parties')
    const isRefund = recipient === sender && payer !== from
    if (payer !== sender && !isRefund) return []
    // Another token of the same contract is another asset.
    const moved = event.asset.asset_id === assetId ? asset : event.asset.asset_id
    return [{ asset: moved, from: payer, to: recipient, amount: event.asset.amount, memo }]
  })
}

/**
 * SIP-010 contracts print the memo of a transfer. Only if the asset's contract moved tokens once and printed one buffer is
 * it certain which transfer the memo belongs to.
 */
const readMemo = (events: readonly TransactionEvent[], contract: string): string | null => {
  const moves = events.filter(
    (event) =>
      event.event_type === 'fungible_token_asset' && event.asset.asset_id.startsWith(`${contract}::`),
  )
  const prints = events.flatMap((event) =>
    event.event_type === 'smart_contract_log' &&
    event.contract_log.contract_id === contract &&
    event.contract_log.topic === 'print'
      ? [event.contract_log.value.hex]
      : [],
  )
  const [print] = prints
  return moves.length === 1 && prints.length === 1 && print !== undefined ? readBufferText(print) : null
}

/** The token of a contract that is its SIP-010 token; null if it cannot be determined. */
type FindTokenName = (ask: Ask, contract: string) => Promise<string | null>

/**
 * A contract can define several tokens, and mints and moves each as it likes: only one is what the asset stands for. The
 * operator names it, or it is the only one. Contracts cannot change, so what was read once is kept.
 */
export const createFindTokenName = (pinned: ReadonlyMap<string, string>): FindTokenName => {
  const known = new Map(pinned)
  return async (ask, contract) => {
    const name = known.get(contract)
    if (name !== undefined) return name
    const names = await findTokenNames(ask, contract)
    const [only] = names?.length === 1 ? names : []
    if (only === undefined) return null
    known.set(contract, only)
    return only
  }
}

// A buffer, possibly in `(some …)`: type, length in four bytes, content.
const bufferForm = /^0x(?:0a)?02([0-9a-f]{8})((?:[0-9a-f]{2})*)$/

/** Text of a serialized Clarity buffer; null if it is another value, or no UTF-8. Padding with zeros is no part of it. */
export const readBufferText = (serialized: string): string | null => {
  const [, length, content] = bufferForm.exec(serialized) ?? []
  if (length === undefined || content === undefined) return null
  const bytes = Buffer.from(content, 'hex')
  if (bytes.length !== Number.parseInt(length, 16)) return null
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes).replace(/\0+$/, '')
  } catch {
    return null
  }
}
