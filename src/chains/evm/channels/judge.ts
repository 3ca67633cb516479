import { decodeFunctionData, type Hex, pad } from 'viem'
import { z } from 'zod'
import type { ChannelLedger } from '../../../ports/channelLedger.js'
import type { Settlement } from '../../../ports/settlementJournal.js'
import { repeatableOutcome, sharedOutcome } from '../../../schemes/sharedOutcome.js'
import { addressField, hashField, isSameAddress, wholeNumberField } from '../abi/address.js'
import { readWord } from '../abi/words.js'
import { type Rpc, tryCall } from '../rpc/rpc.js'
import type { Log, Receipt } from '../rpc/wireShapes.js'
import { findChange, searchLogs } from '../transactions/receipts/findLog.js'
import { findReceipt } from '../transactions/receipts/findReceipt.js'
import type {
  Execution,
  ExecutionQuery,
  FailureReasons,
  Judgement,
  SettlementJudge,
} from '../transactions/settlementCall.js'
import { hashChannel, settlementAbi, settlementAddress, topics } from './contract.js'
import type { ChannelDependencies } from './prepared.js'
import {
  decodeReceiver,
  decodeState,
  decodeTotals,
  planReceiverRead,
  planStateRead,
  planTotalsRead,
} from './states.js'

/* What proves a claim, a sweep or a refund: events of the settlement, else the state that only they reach. */

/** One request of the receiver, as the journal's row describes it. */
export type JudgedRequest =
  | {
      readonly type: 'claim'
      /** The highest total of each channel that the claim raises. */
      readonly rows: readonly { readonly channelId: Hex; readonly total: bigint }[]
    }
  | {
      readonly type: 'settle'
      readonly receiver: Hex
      readonly token: Hex
      /** The total that had been paid out before: every sweep raises it, and exactly one raises it from here. */
      readonly settledBefore: bigint
    }
  | {
      readonly type: 'refund'
      readonly channelId: Hex
      readonly nonce: bigint
      /** What every calldata contains that makes it: config, amount and nonce. */
      readonly words: string
    }

type Judged<Type extends JudgedRequest['type']> = Extract<JudgedRequest, { readonly type: Type }>

const reasons: Readonly<Record<JudgedRequest['type'], FailureReasons>> = {
  claim: reasonsOf('invalid_batch_settlement_evm_claim_transaction_failed'),
  settle: reasonsOf('invalid_batch_settlement_evm_settle_transaction_failed'),
  refund: reasonsOf('invalid_batch_settlement_evm_refund_transaction_failed'),
}

function reasonsOf(reason: FailureReasons['reverted']): FailureReasons {
  return { reverted: reason, void: reason, unpaid: reason, expired: reason }
}

interface JudgeDependencies {
  readonly rpc: Rpc
  readonly network: Pick<ChannelDependencies['network'], 'network' | 'chainId'>
  readonly channelLedger: Pick<ChannelLedger, 'hasSweep'> | null
}

export const createRequestJudge = (
  { rpc, network, channelLedger }: JudgeDependencies,
  request: JudgedRequest,
): SettlementJudge => ({
  judgeReceipt: (receipt) => judgeReceipt(receipt, request),
  findExecution: ({ view = rpc, ...query }) =>
    request.type === 'settle'
      ? findSweep(view, request, {
          ...query,
          isCounted: async (settledBefore) =>
            (await channelLedger?.hasSweep(nameSweeps(network.network, request), settledBefore)) ?? true,
        })
      : findExecution(view, request, query),
  isOwnCall: ({ to, data }) =>
    isSameAddress(to, settlementAddress) &&
    (request.type !== 'claim' || isClaimOf(data, request, network.chainId)),
  sender: null,
  // A second sweep would pay what was claimed since, for which no row stands.
  ...(request.type === 'settle' ? { isRepeatable: true } : {}),
  reasons: reasons[request.type],
})

/** The ids of the sweeps of a receiver begin with it, and end with the total from which they pay. */
const nameSweeps = (network: string, { receiver, token }: Judged<'settle'>): string =>
  `${network}/${settlementAddress}/settle/${receiver}/${token}/`.toLowerCase()

/** Only one sweep can pay from one total. */
export const formatSweepId = (network: string, request: Judged<'settle'>): string =>
  `${nameSweeps(network, request)}${request.settledBefore}`

/** Claims share transactions. */
const isClaimOf = (data: Hex, { rows }: Judged<'claim'>, chainId: number): boolean => {
  const { functionName, args } = decodeFunctionData({ abi: settlementAbi, data })
  if (functionName !== 'claimWithSignature') return false
  const claimed = new Set(
    args[0].map(({ voucher, totalClaimed }) => `${hashChannel(chainId, voucher.channel)} ${totalClaimed}`),
  )
  return rows.every(({ channelId, total }) => claimed.has(`${channelId.toLowerCase()} ${total}`))
}

const isEvent = (log: Log, event: Hex, id: string): boolean =>
  isSameAddress(log.address, settlementAddress) &&
  log.topics[0]?.toLowerCase() === event &&
  log.topics[1]?.toLowerCase() === id.toLowerCase()

const judgeReceipt = ({ status, logs }: Receipt, request: JudgedRequest): Judgement => {
  if (!status) return 'reverted'
  switch (request.type) {
    case 'claim': {
      // A row that another transaction reached first is skipped without an event: then the state decides.
      const isRaised = ({ channelId, total }: { readonly channelId: Hex; readonly total: bigint }) =>
        logs.some((log) => isEvent(log, topics.claimed, channelId) && readRaised(log) >= total)
      return request.rows.every(isRaised) ? 'paid' : 'unpaid'
    }
    case 'settle':
      // The event does not state the total: after a reorg this transaction can have paid what another sweep was made for.
      return 'unpaid'
    case 'refund':
      return logs.some((log) => isEvent(log, topics.refunded, request.channelId)) ? 'paid' : 'unpaid'
  }
}

/** The channel's total after a claim: the second word of the event. The first one is what the claim added. */
const readRaised = ({ data }: Log): bigint => readWord(`0x${data.slice(66)}`) ?? 0n

type Query = Omit<ExecutionQuery, 'view'>

const findExecution = async (
  view: Rpc,
  request: Judged<'claim' | 'refund'>,
  query: Query,
): Promise<Execution> =>
  request.type === 'claim' ? await findClaim(view, request, query) : await findRefund(view, request, query)

/** What an event shows counts unless the state of its block, where a node still has it, contradicts. */
const mayShow = async (
  view: Rpc,
  { transactionHash }: Log,
  isDone: (block: bigint) => Promise<boolean | null>,
): Promise<boolean> => {
  const mined = transactionHash == null ? null : await view.getReceipt(transactionHash)
  return mined !== null && (await isDone(mined.blockNumber)) !== false
}

/** Totals never fall: the transaction after which every channel has reached its row proves it, of any sender. */
const findClaim = async (view: Rpc, { rows }: Judged<'claim'>, query: Query): Promise<Execution> => {
  const { at, since, policy } = query
  const ids = rows.map(({ channelId }) => channelId)
  const isReached = async (block: bigint): Promise<boolean | null> => {
    const totals = decodeTotals(await tryCall(view, { at: block, ...planTotalsRead(ids) }), rows.length)
    return totals?.every(({ totalClaimed }, index) => totalClaimed >= (rows[index]?.total ?? 0n)) ?? null
  }
  const isDone = await isReached(at)
  if (isDone === null) return { state: 'unknown' }
  if (!isDone) return { state: 'unused' }
  /** Says whether it raised a row from below its total, which one event of each row does. */
  const isRaised = (log: Log): boolean =>
    rows.some(({ channelId, total }) => {
      const raised = isEvent(log, topics.claimed, channelId) ? readRaised(log) : 0n
      return raised >= total && raised - (readWord(log.data) ?? 0n) < total
    })
  const { log } = await findChange(view, {
    address: settlementAddress,
    topics: [topics.claimed, ids],
    at,
    since,
    key: rows.map(({ total }) => total).join(),
    value: 0n,
    stepBack: async (each, value) =>
      isRaised(each) && (await mayShow(view, each, isReached)) ? null : value,
  })
  const hash = log?.transactionHash
  const receipt = hash == null ? null : await findReceipt(view, hash, policy)
  return receipt?.status === true ? { state: 'paid', receipt } : { state: 'unknown' }
}

interface SweepQuery extends Query {
  /** Says whether another row counts what was paid: one that began from such a total and has not failed. */
  isCounted(settledBefore: { readonly from: bigint; readonly below: bigint }): Promise<boolean>
}

/**
 * Any account may sweep: the first that raised the total above what it was has paid what was asked for. Its amount counts for one
 * row: after a reorg it can have paid what several were made for. That is the one from the lowest total that has not failed.
 */
const findSweep = async (view: Rpc, request: Judged<'settle'>, query: SweepQuery): Promise<Execution> => {
  const { receiver, token, settledBefore } = request
  const { at, since, policy, isCounted } = query
  const readSettled = async (block: bigint): Promise<bigint | null> => {
    const answer = await tryCall(view, { at: block, ...planReceiverRead(receiver, token) })
    return decodeReceiver(answer)?.totalSettled ?? null
  }
  const settled = await readSettled(at)
  if (settled === null) return { state: 'unknown' }
  if (settled <= settledBefore) return { state: 'unused' }
  const isAbove = async (block: bigint): Promise<boolean | null> => {
    const total = await readSettled(block)
    return total === null ? null : total > settledBefore
  }
  let settledAmount = 0n
  const { log } = await findChange(view, {
    address: settlementAddress,
    topics: [topics.settled, pad(receiver), pad(token)],
    at,
    since,
    key: `${settledBefore}`,
    value: settled,
    stepBack: async (each, after) => {
      const amount = readWord(each.data) ?? 0n
      const before = after - amount
      const isRaised = before <= settledBefore && settledBefore < after
      if (!isRaised || !(await mayShow(view, each, isAbove))) return before
      const isOfAnother = before < settledBefore && (await isCounted({ from: before, below: settledBefore }))
      settledAmount = isOfAnother ? 0n : amount
      return null
    },
  })
  const hash = log?.transactionHash
  const receipt = hash == null ? null : await findReceipt(view, hash, policy)
  return receipt?.status === true ? { state: 'paid', receipt, settledAmount } : { state: 'unknown' }
}

/** The channel's nonce never falls: once it is above the refund's, that refund was made, or never will be. */
const findRefund = async (view: Rpc, request: Judged<'refund'>, query: Query): Promise<Execution> => {
  const { channelId, nonce, words } = request
  const { at, since, policy } = query
  const readNonce = async (block: bigint): Promise<bigint | null> =>
    decodeState(await tryCall(view, { at: block, ...planStateRead(channelId) }))?.refundNonce ?? null
  const next = await readNonce(at)
  if (next === null) return { state: 'unknown' }
  if (next <= nonce) return { state: 'unused' }
  const isWanted = async ({ transactionHash }: Log): Promise<boolean> => {
    const transaction = transactionHash == null ? null : await view.getTransaction(transactionHash)
    return transaction?.input.toLowerCase().includes(words) === true
  }
  const search = { address: settlementAddress, topics: [topics.refunded, channelId], at, since }
  const found = await searchLogs(view, { ...search, only: { key: words, isWanted } })
  if (found.log?.transactionHash != null) {
    const receipt = await findReceipt(view, found.log.transactionHash, policy)
    return receipt?.status === true ? { state: 'paid', receipt } : { state: 'unknown' }
  }
  const deepest = at - BigInt(policy.confirmations - 1)
  const before = !found.isComplete || deepest < 0n ? null : await readNonce(deepest)
  return before !== null && before > nonce ? { state: 'void' } : { state: 'unknown' }
}

const detailsShape = z.discriminatedUnion('type', [
  z.object({
    type: z.literal('claim'),
    rows: z.array(z.object({ channelId: hashField, total: wholeNumberField })),
  }),
  z.object({
    type: z.literal('settle'),
    receiver: addressField,
    token: addressField,
    settledBefore: wholeNumberField,
  }),
  z.object({ type: z.literal('refund'), channelId: hashField, nonce: wholeNumberField, words: z.string() }),
])

/** What the journal's row stores beside its columns. */
export const describeRequest = (request: JudgedRequest) => ({
  ...describe(request),
  ...(request.type === 'settle' ? repeatableOutcome : sharedOutcome),
})

const describe = (request: JudgedRequest) => {
  switch (request.type) {
    case 'claim':
      return {
        type: request.type,
        rows: request.rows.map(({ channelId, total }) => ({ channelId, total: `${total}` })),
      }
    case 'settle':
      return { ...request, settledBefore: `${request.settledBefore}` }
    case 'refund':
      return { ...request, nonce: `${request.nonce}` }
  }
}

/** Builds the judge from a journal row, after a crash. */
export const createReadRequestJudge =
  ({ network, channelLedger }: Omit<JudgeDependencies, 'rpc'>) =>
  (rpc: Rpc, { details }: Pick<Settlement, 'details'>): SettlementJudge =>
    createRequestJudge({ rpc, network, channelLedger }, detailsShape.parse(details))
