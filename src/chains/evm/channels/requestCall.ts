import type { SettlementCall } from '../transactions/settlementCall.js'
import { settlementAddress } from './contract.js'
import { createRequestJudge, type JudgedRequest } from './judge.js'
import type { ChannelDependencies } from './prepared.js'

/** Unix seconds that no block time reaches: vouchers do not expire, and neither do requests about them. */
const neverExpires = 2n ** 48n - 1n

type OwnFields = Pick<
  SettlementCall,
  'data' | 'id' | 'payer' | 'payTo' | 'amount' | 'gasCap' | 'reorgGas' | 'runsPayerCode' | 'explainRevert'
> &
  Partial<Pick<SettlementCall, 'batchedBy' | 'parts'>>

/** A claim, a sweep or a refund. Its rules have read what decides, so that its simulation reads nothing more. */
export const createRequestCall = (
  { rpc, network, channelLedger }: Pick<ChannelDependencies, 'rpc' | 'network' | 'channelLedger'>,
  judged: JudgedRequest,
  own: OwnFields,
): SettlementCall => ({
  to: settlementAddress,
  batchedBy: null,
  ...own,
  deadline: neverExpires,
  sender: null,
  reads: [],
  probe: null,
  findContradiction: () => null,
  isTooEarly: () => false,
  judge: createRequestJudge({ rpc, network, channelLedger }, judged),
})
