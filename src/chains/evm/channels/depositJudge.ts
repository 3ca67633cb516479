import { type Hex, pad } from 'viem'
import { z } from 'zod'
import type { Settlement } from '../../../ports/settlementJournal.js'
import { hashField, isSameAddress, wholeNumberField } from '../abi/address.js'
import { asHex, numberWord, readWord } from '../abi/words.js'
import { encodeBitmapCall, hasNonce } from '../permit2/call.js'
import { findUse } from '../permit2/findUse.js'
import { permit2Address } from '../permit2/payload.js'
import { type Rpc, tryCall } from '../rpc/rpc.js'
import type { Log, Receipt } from '../rpc/wireShapes.js'
import { cancelledTopic, encodeStateCall, usedTopic } from '../tokens/authorizations.js'
import { findExecutionByLog } from '../transactions/receipts/findLog.js'
import type {
  Execution,
  ExecutionQuery,
  FailureReasons,
  Judgement,
  SettlementJudge,
} from '../transactions/settlementCall.js'
import { settlementAddress, topics } from './contract.js'

/** A deposit, as the journal's row describes it. The nonce binds the channel, so that its use proves which one. */
export interface JudgedDeposit {
  readonly id: string
  readonly payer: Hex
  readonly token: Hex
  readonly channelId: Hex
  readonly amount: bigint
  /** What marks the payer's authorization as used. */
  readonly use:
    | { readonly method: 'eip3009'; readonly nonce: Hex }
    | { readonly method: 'permit2'; readonly nonce: bigint; readonly deadline: bigint }
}

const reasons: FailureReasons = {
  reverted: 'invalid_batch_settlement_evm_deposit_transaction_failed',
  void: 'invalid_batch_settlement_evm_deposit_already_used',
  unpaid: 'invalid_batch_settlement_evm_deposit_transaction_failed',
  expired: 'authorization_expired_unsettled',
}

export const createDepositJudge = (rpc: Rpc, deposit: JudgedDeposit): SettlementJudge => ({
  judgeReceipt: (receipt) => judgeReceipt(receipt, deposit),
  findExecution: ({ view = rpc, ...query }) => findExecution(view, deposit, query),
  isOwnCall: ({ to }) => isSameAddress(to, settlementAddress),
  sender: null,
  reasons,
})

/** Status 1 proves nothing; the event of the settlement proves channel and amount. */
const judgeReceipt = ({ status, logs }: Receipt, deposit: JudgedDeposit): Judgement => {
  if (!status) return 'reverted'
  return logs.some((log) => isDeposited(log, deposit)) ? 'paid' : 'unpaid'
}

const isDeposited = ({ address, topics: [event, id], data }: Log, { channelId, amount }: JudgedDeposit) =>
  isSameAddress(address, settlementAddress) &&
  event?.toLowerCase() === topics.deposited &&
  id?.toLowerCase() === channelId &&
  readWord(data) === amount

type Query = Omit<ExecutionQuery, 'view'>

/** Any account may submit the deposit: its transaction uses the nonce and has the event. */
const findExecution = async (view: Rpc, deposit: JudgedDeposit, query: Query): Promise<Execution> => {
  const { payer, token, use, amount } = deposit
  const { at, since, policy } = query
  const isPaid = (receipt: Receipt) => judgeReceipt(receipt, deposit) === 'paid'
  if (use.method === 'eip3009') {
    // One transaction can cancel this authorization, and deposit the same amount by another.
    const isUsed = ({ logs }: Receipt) =>
      logs.some(({ address, topics: [event, , nonce] }) => {
        const isOwn = isSameAddress(address, token) && nonce?.toLowerCase() === use.nonce
        return isOwn && event?.toLowerCase() === usedTopic
      })
    const used = readWord(await tryCall(view, { at, to: token, data: encodeStateCall(payer, use.nonce) }))
    if (used === null) return { state: 'unknown' }
    if (used === 0n) return { state: 'unused' }
    const search = { address: token, topics: [[usedTopic, cancelledTopic], pad(payer), use.nonce], at, since }
    return await findExecutionByLog(view, search, policy, (receipt) => isPaid(receipt) && isUsed(receipt))
  }
  const { nonce, deadline } = use
  const data = encodeBitmapCall({ from: payer, nonce })
  const bitmap = readWord(await tryCall(view, { at, to: permit2Address, data }))
  if (bitmap === null) return { state: 'unknown' }
  if (!hasNonce(bitmap, nonce)) return { state: 'unused' }
  const execution = {
    id: deposit.id,
    nonce,
    transfer: { asset: token, from: payer, to: settlementAddress, value: amount },
    // The data for the collector begins with them.
    words: numberWord(nonce) + numberWord(deadline),
    router: null,
    reasons,
    judgeTransaction: (receipt: Receipt) => (isPaid(receipt) ? ('paid' as const) : ('unpaid' as const)),
  }
  return await findUse(view, execution, query)
}

const detailsShape = z.object({
  type: z.literal('deposit'),
  channelId: hashField,
  amount: wholeNumberField,
  use: z.discriminatedUnion('method', [
    z.object({ method: z.literal('eip3009'), nonce: hashField }),
    z.object({ method: z.literal('permit2'), nonce: wholeNumberField, deadline: wholeNumberField }),
  ]),
})

/** What the journal's row stores beside its columns. */
export const describeDeposit = ({ channelId, amount, use }: JudgedDeposit) => ({
  type: 'deposit',
  channelId,
  amount: `${amount}`,
  use:
    use.method === 'eip3009'
      ? { method: use.method, nonce: use.nonce }
      : { method: use.method, nonce: `${use.nonce}`, deadline: `${use.deadline}` },
})

/** Builds the judge from a journal row, after a crash. */
export const readDepositJudge = (
  rpc: Rpc,
  { authorizationId, payer, asset, details }: Settlement,
): SettlementJudge =>
  createDepositJudge(rpc, {
    id: authorizationId,
    payer: asHex(payer),
    token: asHex(asset),
    ...detailsShape.parse(details),
  })
