import { type Hex, parseTransaction } from 'viem'
import type { Recorder, Settlement, SignedTransaction } from '../../../ports/settlementJournal.js'
import { asHex } from '../abi/words.js'
import { type BatchContract, listBatchedCalls } from './batching/batchContract.js'
import type { SettlementCall, SettlementJudge } from './settlementCall.js'
import type { Submit } from './submit.js'

export interface SendAgainDependencies {
  readonly submit: Submit
  readonly batchContracts: readonly BatchContract[]
  /** The highest limit of any call: what the signers' balances are kept for. */
  readonly highestGasCap: bigint
}

export interface UnpaidSettlement {
  readonly settlement: Settlement
  readonly judge: SettlementJudge
  /** Its newest transaction, which cannot pay any more. */
  readonly broadcast: SignedTransaction
  /** Claims the row for this process; null if another one has it. */
  takeOver(): Promise<Recorder | null>
  readonly signal: AbortSignal
}

/**
 * Sends the call of a transaction that reverted or was displaced once more, in one of its own. Null if nothing was sent:
 * the call would revert now too, or another process has the row.
 */
export type SendAgain = (unpaid: UnpaidSettlement) => Promise<Hex | null>

/** With the highest gas limit: what made the call revert may have been the limit of an estimate before a reorg. */
export const createSendAgain =
  ({ submit, batchContracts, highestGasCap }: SendAgainDependencies): SendAgain =>
  async ({ settlement, judge, broadcast, takeOver, signal }) => {
    const contractCall = findCall(broadcast, judge, batchContracts)
    const { expiresAt } = settlement
    if (contractCall === null || expiresAt === null) return null
    const recorder = await takeOver()
    if (recorder === null) return null
    const call: SettlementCall = {
      ...contractCall,
      id: settlement.id,
      payer: asHex(settlement.payer),
      payTo: asHex(settlement.payTo),
      amount: settlement.amount,
      gasCap: highestGasCap,
      reorgGas: highestGasCap,
      deadline: BigInt(Math.floor(expiresAt.getTime() / 1_000)),
      batchedBy: null,
      sender: judge.sender,
      reads: [],
      probe: null,
      explainRevert: () => ({ reason: judge.reasons.reverted }),
      findContradiction: () => null,
      isTooEarly: () => false,
      judge,
    }
    const submitted = await submit({ call, recorder, caller: null, waitUntil: signal, isUnbatched: true })
    return 'reason' in submitted ? null : submitted.transaction
  }

/** From the recorded bytes, because nothing else has the payer's signature. */
const findCall = (
  { bytes }: SignedTransaction,
  judge: SettlementJudge,
  contracts: readonly BatchContract[],
): Pick<SettlementCall, 'to' | 'data' | 'builderCodes'> | null => {
  const batched = listBatchedCalls(bytes, contracts)
  if (batched !== null) return batched.find(({ made }) => judge.isOwnCall(made))?.alone ?? null
  const { to, data } = parseTransaction(asHex(bytes))
  return to == null || data === undefined ? null : { to, data, builderCodes: 'included' }
}
