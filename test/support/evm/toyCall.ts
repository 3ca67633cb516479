import {
  type Address,
  decodeErrorResult,
  encodeAbiParameters,
  encodeEventTopics,
  encodeFunctionData,
  type Hex,
  hexToBigInt,
  keccak256,
  numberToHex,
  pad,
  parseAbi,
} from 'viem'
import type { CallFailure, Rpc } from '../../../src/chains/evm/rpc/rpc.js'
import type { Receipt } from '../../../src/chains/evm/rpc/wireShapes.js'
import { findExecutionByLog } from '../../../src/chains/evm/transactions/receipts/findLog.js'
import type {
  Judgement,
  RevertReason,
  SettlementCall,
  SettlementJudge,
} from '../../../src/chains/evm/transactions/settlementCall.js'
import type { Settlement, SettlementClaim } from '../../../src/ports/settlementJournal.js'
import { getArtifact } from '../contracts/artifacts.js'
import { randomAddress, randomHex, unixNow } from './authorization.js'
import type { LocalChain } from './localChain.js'

/*
 * The engine's view of a test scheme: `ToySettlements` has its own event, time rule and identity, unlike
 * EIP-3009, and a payment may be zero.
 */

/** Functions and events of `ToySettlements`. */
export const toyAbi = parseAbi([
  'function settle(bytes32 id, address payer, address payTo, uint256 value, uint256 firstSecond, uint256 lastSecond, address sender)',
  'function withdraw(bytes32 id)',
  'function credits(address owner) view returns (uint256)',
  'function isUsed(bytes32 id) view returns (bool)',
  'event Settled(bytes32 indexed id, address indexed payTo, uint256 value)',
  'event Withdrawn(bytes32 indexed id)',
])

/** Behavior for one id; ordered as in the contract. */
const toyBehaviours = ['pays', 'reverts', 'doesNothing', 'succeedsWhenUsed', 'burnsGas'] as const

// Reasons that no EVM scheme uses.
export const toyReasons = {
  reverted: 'transaction_failed',
  void: 'seqno_already_used',
  unpaid: 'transfer_event_mismatch',
  expired: 'settle_exact_svm_block_height_exceeded',
} as const

/** Block times in Unix seconds; the last one is inclusive. */
interface ToyTerms {
  readonly id: Hex
  readonly payer: Address
  readonly payTo: Address
  readonly value: bigint
  readonly firstSecond: bigint
  readonly lastSecond: bigint
  /** The only account that may send it. */
  readonly sender: Address | null
}

/** Differences from a batchable call. */
export interface ToyPlan extends ToyTerms {
  readonly call: Partial<Pick<SettlementCall, 'batchedBy' | 'gasCap' | 'parts' | 'probe' | 'runsPayerCode'>>
  /** As in `SettlementJudge`. */
  readonly isRepeatable?: boolean
}

/** Changes are written to storage: immediate, in any mining mode. */
export interface Toy {
  readonly address: Address
  /** By a new payer with sufficient credit. */
  plan(changes?: Partial<ToyPlan> & { readonly credit?: bigint }): Promise<ToyPlan>
  setCredit(owner: Address, value: bigint): Promise<void>
  creditOf(owner: Address): Promise<bigint>
  setBehaviour(id: Hex, behaviour: (typeof toyBehaviours)[number]): Promise<void>
  setGasToBurn(gas: bigint): Promise<void>
}

const [settledTopic] = encodeEventTopics({ abi: toyAbi, eventName: 'Settled' })
const [withdrawnTopic] = encodeEventTopics({ abi: toyAbi, eventName: 'Withdrawn' })
const anySender = pad('0x00', { size: 20 })

const mapSlot = (key: Hex, slot: bigint): Hex =>
  keccak256(encodeAbiParameters([{ type: 'bytes32' }, { type: 'uint256' }], [pad(key), slot]))

export const deployToy = async (chain: LocalChain): Promise<Toy> => {
  const address = await chain.deploy(getArtifact('ToySettlements'))
  const write = (slot: Hex, value: bigint) =>
    chain.control.setStorageAt(address, slot, numberToHex(value, { size: 32 }))
  const setCredit = (owner: Address, value: bigint) => write(mapSlot(owner, 0n), value)
  return {
    address,
    setCredit,
    plan: async ({ credit, ...changes } = {}) => {
      const now = BigInt(unixNow())
      const plan: ToyPlan = {
        id: randomHex(32),
        payer: randomAddress(),
        payTo: randomAddress(),
        value: 10_000n,
        firstSecond: now - 600n,
        lastSecond: now + 299n,
        sender: null,
        call: {},
        ...changes,
      }
      await setCredit(plan.payer, credit ?? plan.value)
      return plan
    },
    creditOf: (owner) =>
      chain.client.readContract({ address, abi: toyAbi, functionName: 'credits', args: [owner] }),
    setBehaviour: (id, behaviour) => write(mapSlot(id, 1n), BigInt(toyBehaviours.indexOf(behaviour))),
    setGasToBurn: (gas) => write(pad('0x03'), gas),
  }
}

/** Any account may send it unless the terms name a sender. */
export const encodeToySettle = (
  toy: Address,
  { id, payer, payTo, value, firstSecond, lastSecond, sender }: ToyTerms,
) => ({
  to: toy,
  data: encodeFunctionData({
    abi: toyAbi,
    functionName: 'settle',
    args: [id, payer, payTo, value, firstSecond, lastSecond, sender ?? anySender],
  }),
})

/** Uses an id without a payment. */
export const encodeToyWithdraw = (toy: Address, id: Hex) => ({
  to: toy,
  data: encodeFunctionData({ abi: toyAbi, functionName: 'withdraw', args: [id] }),
})

const standardErrors = parseAbi(['error Error(string message)'])

const readMessage = ({ data, message }: CallFailure): string => {
  try {
    return data === null ? message : decodeErrorResult({ abi: standardErrors, data }).args[0]
  } catch {
    return message
  }
}

/** Maps contract errors to reasons; `account_frozen`: the contract was configured to revert. */
const explainToyRevert = (failure: CallFailure): RevertReason => {
  const message = readMessage(failure)
  if (/toy: used/.test(message)) return { reason: toyReasons.void }
  if (/toy: no credit/.test(message)) return { reason: 'insufficient_balance' }
  if (/toy: reverts/.test(message)) return { reason: 'account_frozen' }
  if (/toy: too late/.test(message)) return { reason: 'authorization_expired' }
  if (/toy: wrong sender/.test(message)) return { reason: 'account_permission_mismatch' }
  return { reason: 'transaction_verification_failed', message }
}

/** The engine's view of a payment. */
export const createToyCall = (rpc: Rpc, toy: Address, plan: ToyPlan): SettlementCall => {
  const { id, payer, payTo, value, lastSecond, sender } = plan
  const isUsed = (data: Hex | null | undefined) => data != null && hexToBigInt(data) !== 0n
  return {
    ...encodeToySettle(toy, plan),
    id: `toy/${id}`,
    payer,
    payTo,
    amount: value,
    gasCap: 1_000_000n,
    reorgGas: 40_000n,
    // The contract compares with <=: the deadline is the first second that it rejects.
    deadline: lastSecond + 1n,
    batchedBy: sender === null ? 'any' : null,
    runsPayerCode: false,
    sender,
    reads: [
      { to: toy, data: encodeFunctionData({ abi: toyAbi, functionName: 'isUsed', args: [id] }) },
      { to: toy, data: encodeFunctionData({ abi: toyAbi, functionName: 'credits', args: [payer] }) },
    ],
    probe: null,
    explainRevert: explainToyRevert,
    findContradiction: ([used, credit]) => {
      if (isUsed(used)) return { reason: toyReasons.void }
      return credit != null && hexToBigInt(credit) < value ? { reason: 'insufficient_balance' } : null
    },
    isTooEarly: (failure) => /toy: too early/.test(readMessage(failure)),
    judge: { ...createToyJudge(rpc, toy, plan), isRepeatable: plan.isRepeatable === true },
    ...plan.call,
  }
}

/** By the event with the payment's id, from any sender. */
const createToyJudge = (
  rpc: Rpc,
  toy: Address,
  { id, payTo, value }: Pick<ToyTerms, 'id' | 'payTo' | 'value'>,
): SettlementJudge => {
  const judgeReceipt = ({ status, logs }: Receipt): Judgement => {
    if (!status) return 'reverted'
    const isPaid = logs.some(
      ({ address, topics, data }) =>
        address.toLowerCase() === toy.toLowerCase() &&
        topics[0] === settledTopic &&
        topics[1] === id &&
        topics[2] === pad(payTo).toLowerCase() &&
        hexToBigInt(data) === value,
    )
    return isPaid ? 'paid' : 'unpaid'
  }
  return {
    judgeReceipt,
    findExecution: async ({ at, since, policy, view = rpc }) => {
      const data = encodeFunctionData({ abi: toyAbi, functionName: 'isUsed', args: [id] })
      const answer = await view.call({ at, to: toy, data })
      if (!answer.succeeds) return { state: 'unknown' }
      if (hexToBigInt(answer.value) === 0n) return { state: 'unused' }
      const search = { address: toy, topics: [[settledTopic, withdrawnTopic], id], at, since }
      return await findExecutionByLog(view, search, policy, (receipt) => judgeReceipt(receipt) === 'paid')
    },
    isOwnCall: ({ to, data }) => to.toLowerCase() === toy.toLowerCase() && data.includes(id.slice(2)),
    sender: null,
    reasons: toyReasons,
  }
}

/** From a journal row. */
export const readToyJudge = (
  rpc: Rpc,
  { authorizationId, asset, payTo, amount }: Settlement,
): SettlementJudge =>
  createToyJudge(rpc, `0x${asset.slice(2)}`, {
    id: `0x${authorizationId.slice('toy/0x'.length)}`,
    payTo: `0x${payTo.slice(2)}`,
    value: amount,
  })

export const toyClaim = (network: string, toy: Address, plan: ToyPlan): SettlementClaim => ({
  authorizationId: `toy/${plan.id}`,
  scheme: 'toy',
  network,
  asset: toy,
  payer: plan.payer,
  payTo: plan.payTo,
  amount: plan.value,
  authorizedAmount: plan.value,
  details: {},
  expiresAt: new Date(Number(plan.lastSecond + 1n) * 1_000),
  resource: null,
  caller: 'anonymous',
  fingerprint: 'f',
})
