import type { Hex } from 'viem'
import { sleep } from '../../../../deadline.js'
import {
  type AuthorizationState,
  readAuthorizationState,
  simulateCredit,
} from '../../exact/authorizationState.js'
import { explainRevert, isNotYetValid, type RevertReason } from '../../exact/explainRevert.js'
import type { Prepared } from '../../exact/prepare.js'
import type { CallAnswer, CallRequest, Rpc } from '../../rpc/rpc.js'
import { type Fees, highestGasPrice } from '../fees/fees.js'

/** Who would send a transfer, and at which price: a wallet may be laxer towards a call that pays nothing. */
export interface Sending {
  readonly sender: Hex
  readonly fees: Fees
}

/** Asks the chain whether the very transfer that settle will send would succeed; null when it would. */
export const simulateTransfer = async (
  rpc: Rpc,
  { candidate, transfer }: Prepared,
  { sender, fees }: Sending,
): Promise<RevertReason | null> => {
  const { authorization, token } = candidate
  const { to, data, gasCap } = transfer
  const call = { from: sender, to, data, gas: gasCap, gasPrice: highestGasPrice(fees) }
  const [answer, facts, credit] = await Promise.all([
    retryUntilStarted((at) => rpc.call({ ...call, ...at })),
    readAuthorizationState(rpc, token.address, authorization),
    token.isListed || transfer.deploysWallet
      ? authorization.value
      : simulateCredit(rpc, token.address, authorization.to, call),
  ])
  if (!answer.succeeds) return explainRevert(answer, facts, authorization, transfer)
  const contradiction = findContradiction(facts, authorization.value)
  if (contradiction !== null) return contradiction
  if (credit !== null && credit !== authorization.value) {
    return { reason: 'invalid_exact_evm_transfer_event_mismatch' }
  }
  return null
}

/** Some tokens do not revert on a used authorization or a missing balance: their word alone is not enough. */
export const findContradiction = (
  { isUsed, balance }: AuthorizationState,
  value: bigint,
): RevertReason | null => {
  if (isUsed === null) return { reason: 'invalid_exact_evm_eip3009_not_supported' }
  if (isUsed) return { reason: 'invalid_exact_evm_nonce_already_used' }
  if (balance === null || balance < value) return { reason: 'insufficient_funds' }
  return null
}

/** How much gas to send a transfer with, never more than its cap; or why it would fail. */
export const estimateTransfer = async (
  rpc: Rpc,
  { candidate, transfer }: Prepared,
  { sender, fees }: Sending,
): Promise<{ readonly gas: bigint } | RevertReason> => {
  const { authorization, token } = candidate
  const { to, data, gasCap } = transfer
  const call = { from: sender, to, data, gasPrice: highestGasPrice(fees) }
  const estimate = await retryUntilStarted((at) => rpc.estimateGas({ ...call, ...at }))
  if (!estimate.succeeds) {
    const facts = await readAuthorizationState(rpc, token.address, authorization)
    return explainRevert(estimate, facts, authorization, transfer)
  }
  if (estimate.value > gasCap) return { reason: 'gas_limit_exceeded' }
  const roomy = (estimate.value * 12n) / 10n
  return { gas: roomy < gasCap ? roomy : gasCap }
}

// Long enough for the next block of a fast chain, short enough for a caller who waits.
const pausesMs = [0, 1_000, 1_500]

/**
 * By our clock the authorization has begun, but the token compares strictly with a block's time, and the newest
 * block may be older than that: then the next block is asked, and asked again when it must have come.
 */
const retryUntilStarted = async <T>(
  ask: (at: Pick<CallRequest, 'at'>) => Promise<CallAnswer<T>>,
): Promise<CallAnswer<T>> => {
  let answer = await ask({})
  for (const pauseMs of pausesMs) {
    if (answer.succeeds || !isNotYetValid(answer)) return answer
    if (pauseMs > 0) await sleep(pauseMs)
    answer = await ask({ at: 'pending' })
  }
  return answer
}
