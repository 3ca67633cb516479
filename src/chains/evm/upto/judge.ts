import { decodeEventLog, encodeEventTopics, encodeFunctionData, type Hex, isAddressEqual, pad } from 'viem'
import { z } from 'zod'
import type { Settlement } from '../../../ports/settlementJournal.js'
import { addressField, isSameAddress, wholeNumberField } from '../abi/address.js'
import { addressWord, asHex, numberWord, readWord, wordOf } from '../abi/words.js'
import { uptoRouterAbi } from '../contracts/uptoRouterAbi.js'
import type { Rpc } from '../rpc/rpc.js'
import type { Log, Receipt } from '../rpc/wireShapes.js'
import { isTransfer } from '../tokens/erc20.js'
import { findExecutionByLog } from '../transactions/receipts/findLog.js'
import type {
  ContractCall,
  Execution,
  ExecutionQuery,
  FailureReasons,
  Judgement,
  SettlementJudge,
} from '../transactions/settlementCall.js'

/** What identifies the settlement of a permit. */
interface JudgedPermit {
  readonly router: Hex
  readonly asset: Hex
  readonly owner: Hex
  readonly spender: Hex
  readonly nonce: bigint
  readonly payTo: Hex
  readonly amount: bigint
}

const [settledTopic] = encodeEventTopics({ abi: uptoRouterAbi, eventName: 'Settled' })

const reasons: FailureReasons = {
  reverted: 'invalid_upto_evm_transaction_failed',
  void: 'permit_nonce_mismatch',
  unpaid: 'invalid_exact_evm_transfer_event_mismatch',
  expired: 'authorization_expired_unsettled',
}

/** Judges by the router's event, which names the permit's nonce, and by the token's Transfer. */
export const createJudge = (rpc: Rpc, permit: JudgedPermit): SettlementJudge => ({
  // The event is this payment's own, also in a transaction that carries others.
  judgeReceipt: (receipt) => judgeReceipt(receipt, permit),
  findExecution: ({ view = rpc, ...query }) => findExecution(view, permit, query),
  isOwnCall: (call) => isOwnCall(call, permit),
  // The router takes calls from each of our accounts.
  sender: null,
  reasons,
})

/** Compares words of the router's `settle`, whose one argument is a tuple behind its offset. */
const isOwnCall = ({ to, data }: ContractCall, permit: JudgedPermit): boolean =>
  isSameAddress(to, permit.router) &&
  wordOf(data, 1) === addressWord(permit.asset) &&
  wordOf(data, 2) === addressWord(permit.owner) &&
  wordOf(data, 3) === addressWord(permit.payTo) &&
  wordOf(data, 5) === numberWord(permit.amount) &&
  wordOf(data, 7) === numberWord(permit.nonce) &&
  // An owner may permit the router and the recipient's router with one nonce.
  wordOf(data, 9) === numberWord(isSameAddress(permit.spender, permit.router) ? 0n : 1n)

const judgeReceipt = (receipt: Receipt, permit: JudgedPermit): Judgement => {
  if (!receipt.status) return 'reverted'
  const settled = receipt.logs.map((log) => readSettled(log, permit)).filter((event) => event !== null)
  const isSettled = settled.some(
    ({ permitNonce, to, amount }) =>
      permitNonce === permit.nonce && isAddressEqual(to, permit.payTo) && amount === permit.amount,
  )
  if (!isSettled) return 'unpaid'
  if (permit.amount === 0n) return 'paid'
  const { asset, owner: from, payTo: to, amount: value } = permit
  return receipt.logs.some((log) => isTransfer(log, { asset, from, to, value })) ? 'paid' : 'unpaid'
}

/** A settlement of a permit of this owner for this spender; else null. */
const readSettled = (log: Log, { router, asset, owner, spender }: JudgedPermit) => {
  const [topic, token, payer] = log.topics
  const isOwners =
    isSameAddress(log.address, router) &&
    topic === settledTopic &&
    token?.toLowerCase() === pad(asset).toLowerCase() &&
    payer?.toLowerCase() === pad(owner).toLowerCase()
  if (!isOwners) return null
  const { args } = decodeEventLog({
    abi: uptoRouterAbi,
    eventName: 'Settled',
    topics: [settledTopic, ...log.topics.slice(1)],
    data: log.data,
  })
  return isAddressEqual(args.spender, spender) ? args : null
}

const findExecution = async (
  rpc: Rpc,
  permit: JudgedPermit,
  { at, since, policy }: Omit<ExecutionQuery, 'view'>,
): Promise<Execution> => {
  const { router, asset, owner, spender, nonce } = permit
  const data = encodeFunctionData({
    abi: uptoRouterAbi,
    functionName: 'nextNonce',
    args: [spender, asset, owner],
  })
  const answer = await rpc.call({ at, to: router, data })
  const next = answer.succeeds ? readWord(answer.value) : null
  if (next === null) return { state: 'unknown' }
  // The router still takes it, also after another account submitted the permit; after its deadline it never does.
  if (next <= nonce) return { state: 'unused' }

  const search = {
    address: router,
    topics: [settledTopic, pad(asset), pad(owner)],
    at,
    since,
    only: {
      key: `${spender} ${nonce}`,
      isWanted: async (each: Log) => (readSettled(each, permit)?.permitNonce ?? -1n) >= nonce,
    },
  }
  // If it is not paid, the router settled it on other terms, or a later permit, after which it takes no earlier one.
  const isPaid = (receipt: Receipt) => judgeReceipt(receipt, permit) === 'paid'
  return await findExecutionByLog(rpc, search, policy, isPaid)
}

/** In the journal's details; `method` tells the rows of this method from those of Permit2. */
const detailsShape = z.object({
  method: z.literal('permit'),
  router: addressField,
  spender: addressField,
  nonce: wholeNumberField,
})

export const describePermit = ({
  router,
  spender,
  nonce,
}: Pick<JudgedPermit, 'router' | 'spender' | 'nonce'>) => ({
  method: 'permit',
  router,
  spender,
  nonce: String(nonce),
})

/** Builds the judge from a journal row, after a crash. */
export const readJudge = (rpc: Rpc, settlement: Settlement): SettlementJudge => {
  const { router, spender, nonce } = detailsShape.parse(settlement.details)
  return createJudge(rpc, {
    router,
    spender,
    nonce,
    asset: asHex(settlement.asset),
    owner: asHex(settlement.payer),
    payTo: asHex(settlement.payTo),
    amount: settlement.amount,
  })
}
