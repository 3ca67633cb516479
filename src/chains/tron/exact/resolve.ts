import type { Settlement } from '../../../ports/settlementJournal.js'
import type { Outcome } from '../../../schemes/scheme.js'
import type { TronRpc } from '../rpc/rpc.js'
import { hasExpired } from '../transactions/expiry.js'
import { decodeTransfer } from './decode.js'
import { judgeBy, toOutcome } from './outcome.js'

/** What became of a recorded settlement; sends its bytes again while they can still be taken in. */
export const resolveSettlement = async (
  node: TronRpc,
  settlement: Settlement,
  crossCheckAmount: bigint,
): Promise<Outcome> => {
  const newest = settlement.broadcasts.at(-1)
  if (newest === undefined) throw new Error('Nothing was recorded for this settlement')
  const reading = decodeTransfer(newest.bytes)
  if ('reason' in reading) throw new Error('What was recorded is no transfer')
  const { transfer } = reading
  const { transaction, expiration, bytes } = transfer

  const receipt = await node.findReceipt(transaction)
  if (receipt !== null) return await toOutcome(node, receipt, judgeBy(transfer, crossCheckAmount))
  if (await hasExpired(node.listWitnesses(), transaction, expiration)) {
    return { state: 'failed', reason: 'authorization_expired_unsettled', transaction }
  }
  await node.send(bytes)
  return { state: 'pending', transaction }
}
