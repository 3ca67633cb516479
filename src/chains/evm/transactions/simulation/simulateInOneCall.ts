import { multicallAddress } from '../../abi/contracts.js'
import { decodeAggregate, encodeAggregate, type InnerResult } from '../../abi/multicall.js'
import {
  decodeAuthorizationState,
  encodeBalanceCall,
  encodeStateCall,
} from '../../exact/authorizationState.js'
import { explainRevert, isNotYetValid, type RevertReason } from '../../exact/explainRevert.js'
import type { Prepared } from '../../exact/prepare.js'
import type { Rpc } from '../../rpc/rpc.js'
import { tryCall } from '../../rpc/tryCall.js'
import { highestGasPrice } from '../fees/fees.js'
import { findContradiction, type Sending } from './simulate.js'

/** What a shared simulation says of one transfer: the revertReason, null where it would succeed, or nothing. */
export type BatchedResult = RevertReason | null | 'unclear'

/** What came of a shared simulation. */
export interface BatchSimulation {
  /** One for each transfer; what is unclear must be asked by itself. */
  readonly verdicts: readonly BatchedResult[]
  /** Whether the call was too much for the node, or one of its transfers for the others. */
  readonly isOutOfGas: boolean
}

/**
 * The most transfers that one call may hold. The node works on them while the next are being read: larger batches
 * make both wait for each other, at 64 connections with 50 in a batch for a fifth of the time.
 */
export const maxBatchSize = 20
/*
 * A transfer by a key takes up to 103k gas, its two questions and their share of the call another 30k. Twenty of
 * them stay far below what one transaction may use (EIP-7825, 16.7M) and what nodes allow a call.
 */
const gasPerTransfer = 160_000n
const gasPerCall = 100_000n

/** Simulates transfers in one call, each behind the token's own word on its authorization and its payer. */
export const simulateInOneCall = async (
  rpc: Rpc,
  transfers: readonly Prepared[],
  { sender, fees }: Sending,
): Promise<BatchSimulation> => {
  const calls = transfers.flatMap(({ candidate, transfer }) => {
    const { from, nonce } = candidate.authorization
    const target = candidate.token.address
    return [
      { target, data: encodeStateCall(from, nonce) },
      { target, data: encodeBalanceCall(from) },
      { target: transfer.to, data: transfer.data },
    ]
  })
  const answer = await tryCall(rpc, {
    from: sender,
    to: multicallAddress,
    data: encodeAggregate(calls),
    gas: gasPerCall + gasPerTransfer * BigInt(transfers.length),
    gasPrice: highestGasPrice(fees),
  })
  const results = answer === null ? null : decodeAggregate(answer, calls.length)
  if (results === null) return { verdicts: transfers.map(() => 'unclear'), isOutOfGas: true }
  const verdicts = transfers.map((prepared, index) =>
    judge(prepared, results.slice(index * 3, index * 3 + 3)),
  )
  // Whoever runs out of gas ends without a word; one alone may have burnt its own.
  const silent = results.filter(({ succeeds, data }, index) => index % 3 === 2 && !succeeds && data === '0x')
  return { verdicts, isOutOfGas: silent.length > 1 }
}

/** Decides what the token's own facts decide. Any other failure may be the company's doing. */
const judge = ({ candidate, transfer }: Prepared, results: readonly InnerResult[]): BatchedResult => {
  const [state, balance, transferred] = results
  if (state === undefined || balance === undefined || transferred === undefined) return 'unclear'
  const { authorization } = candidate
  const facts = decodeAuthorizationState(
    state.succeeds ? state.data : null,
    balance.succeeds ? balance.data : null,
  )
  if (transferred.succeeds) return findContradiction(facts, authorization.value)
  const isPoor = facts.balance !== null && facts.balance < authorization.value
  if (transferred.data === '0x' || !(facts.isUsed === true || isPoor)) return 'unclear'
  const failure = { data: transferred.data, message: '' }
  return isNotYetValid(failure) ? 'unclear' : explainRevert(failure, facts, authorization, transfer)
}
