import type { DirectTransfer, LookUpQuery } from '../../../schemes/exactDirect/directChain.js'
import { readBufferText } from '../encoding/clarityBuffer.js'
import { readPrincipal } from '../encoding/principal.js'
import type { TransactionEvent } from '../rpc/wireShapes.js'

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
export const readTransfers = (
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
