import { type Hex, parseTransaction } from 'viem'
import { setNewest } from '../../../concurrency/boundedMap.js'
import { AppError } from '../../../errors.js'
import type { Recorder, Settlement, SignedTransaction } from '../../../ports/settlementJournal.js'
import { asHex, larger } from '../abi/words.js'
import type { Rpc } from '../rpc/rpc.js'
import { type BatchContract, listBatchedCalls } from './batching/batchContract.js'
import type { Submitted } from './batching/sendGroup.js'
import { owedUntil } from './resolve.js'
import type { SettlementCall, SettlementJudge } from './settlementCall.js'
import type { Submit } from './submit.js'

interface SendAgainDependencies {
  readonly rpc: Rpc
  readonly submit: Submit
  readonly batchContracts: readonly BatchContract[]
  /** The highest limit of any call: what the signers' balances are kept for. */
  readonly highestGasCap: bigint
}

// The estimate is of the state after the reorg. This covers another one for every form but the deployment of a wallet, for
// which a later round sends again.
const reorgGas = 150_000n

// Without an entry, what is sent next is simulated beside what is not mined yet, and may revert once more.
const maxNewest = 10_000

interface UnpaidSettlement {
  readonly settlement: Settlement
  readonly judge: SettlementJudge
  /** The newest transaction that cannot pay any more. */
  readonly broadcast: SignedTransaction
  /** Claims the row for this process; null if another one has it. */
  takeOver(): Promise<Recorder | null>
  readonly signal: AbortSignal
}

/**
 * Sends the call of a transaction that reverted or was displaced once more, in one of its own. Null if nothing was sent:
 * the call would revert now too, or another process has the row.
 */
type SendAgain = (unpaid: UnpaidSettlement) => Promise<Hex | null>

/** Sends those of one payer and asset one after the other. */
export const createSendAgain = ({
  rpc,
  submit,
  batchContracts,
  highestGasCap,
}: SendAgainDependencies): SendAgain => {
  const sendCall = async ({ settlement, judge, broadcast, takeOver, signal }: UnpaidSettlement) => {
    const found = findCall(broadcast, judge, batchContracts)
    if (found === null) return null
    const { gas, ...contractCall } = found
    const recorder = await takeOver()
    if (recorder === null) return null
    const call: SettlementCall = {
      ...contractCall,
      id: settlement.id,
      payer: asHex(settlement.payer),
      payTo: asHex(settlement.payTo),
      amount: settlement.amount,
      // A call of many parts, such as a claim of 100 vouchers, takes more than any that signers keep a balance for.
      gasCap: larger(highestGasCap, gas),
      reorgGas,
      deadline: BigInt(Math.floor(owedUntil(settlement).getTime() / 1_000)),
      batchedBy: null,
      // What is recorded does not say who signed.
      runsPayerCode: true,
      sender: judge.sender,
      reads: [],
      probe: null,
      explainRevert: () => ({ reason: judge.reasons.reverted }),
      findContradiction: () => null,
      isTooEarly: () => false,
      judge,
    }
    try {
      const submitted = await submit({
        call,
        recorder,
        caller: settlement.customer ?? settlement.caller,
        waitUntil: signal,
        isUnbatched: true,
        // Its success was answered: what others spent of the hourly budget must not delay it past its deadline.
        isPromised: true,
      })
      return 'reason' in submitted ? null : submitted
    } catch (error) {
      // There is no slot, budget or balance now: a later round tries again.
      if (error instanceof AppError) return null
      throw error
    }
  }

  /** The newest by payer and asset; null while it is being sent. */
  const newest = new Map<string, Pick<Submitted, 'sender' | 'nonce'> | null>()

  // Each simulation sees the whole balance: one after the other, so that none reverts because of another.
  return async (unpaid) => {
    const { payer, asset } = unpaid.settlement
    const key = `${payer} ${asset}`.toLowerCase()
    const before = newest.get(key)
    if (before === null) return null
    newest.set(key, null)
    let last = before
    try {
      if (before !== undefined && (await rpc.getTransactionCount(before.sender, 'latest')) <= before.nonce)
        return null
      last = undefined
      const sent = await sendCall(unpaid)
      if (sent === null) return null
      last = sent
      return sent.transaction
    } finally {
      if (last === undefined) newest.delete(key)
      else setNewest(newest, key, last, maxNewest)
    }
  }
}

interface FoundCall extends Pick<SettlementCall, 'to' | 'data' | 'builderCodes'> {
  /** The limit of its transaction; where that carried others, twice its share by calldata, which grows with the parts of a call. */
  readonly gas: bigint
}

/** Only the recorded bytes have the payer's signature. */
const findCall = (
  { bytes }: SignedTransaction,
  judge: SettlementJudge,
  contracts: readonly BatchContract[],
): FoundCall | null => {
  const batched = listBatchedCalls(bytes, contracts)
  const { to, data, gas = 0n } = parseTransaction(asHex(bytes))
  if (batched !== null) {
    const own = batched.find(({ made }) => judge.isOwnCall(made))
    if (own === undefined) return null
    const total = batched.reduce((sum, { made }) => sum + made.data.length, 0)
    return { ...own.alone, gas: (2n * gas * BigInt(own.made.data.length)) / BigInt(total) }
  }
  return to == null || data === undefined ? null : { to, data, gas, builderCodes: 'included' }
}
