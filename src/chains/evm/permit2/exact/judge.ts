import { encodeEventTopics, type Hex, pad } from 'viem'
import type { Settlement } from '../../../../ports/settlementJournal.js'
import { isSameAddress } from '../../abi/address.js'
import { addressWord, asHex, numberWord } from '../../abi/words.js'
import { judgeExecuted } from '../../contracts/routerCalls.js'
import type { Rpc } from '../../rpc/rpc.js'
import type { Receipt, Transaction } from '../../rpc/wireShapes.js'
import { isTransfer, tokenAbi, transferTopic } from '../../tokens/erc20.js'
import type { FailureReasons, SettlementJudge } from '../../transactions/settlementCall.js'
import { createPermitJudge, isDirectCall, permitDetails } from '../judge.js'
import { type Permit, proxyAbi } from '../payload.js'
import { encodePermitWords, exactProxyAbi, exactProxyAddress } from './payload.js'

interface JudgedPermit {
  /** The payment's identity. */
  readonly id: string
  readonly permit: Omit<Permit, 'spender'>
  readonly router: Hex | null
}

const reasons: FailureReasons = {
  reverted: 'invalid_exact_evm_transaction_failed',
  void: 'permit2_invalid_nonce',
  unpaid: 'invalid_exact_evm_transfer_event_mismatch',
  expired: 'authorization_expired_unsettled',
}

/** Judges a payment by Permit2 from the token's Transfer, the nonce bitmap and the calldata that carried the permit. */
export const createJudge = (rpc: Rpc, { id, permit, router }: JudgedPermit): SettlementJudge => {
  const { token: asset, from, to, amount: value, nonce } = permit
  const transfer = { asset, from, to, value }
  return createPermitJudge(rpc, {
    id,
    nonce,
    transfer,
    words: encodePermitWords(permit),
    router,
    reasons,
    judgeTransaction: (receipt, transaction) =>
      router !== null && transaction.to !== null && isSameAddress(transaction.to, router)
        ? (judgeExecuted(receipt, { router, id, transfer }) ?? 'unpaid')
        : judgeForeignExecution(receipt, transaction, permit),
  })
}

/** Builds the judge from a journal row, after a crash. */
export const readJudge = (rpc: Rpc, settlement: Settlement): SettlementJudge => {
  const { nonce, deadline, validAfter, router } = permitDetails.parse(settlement.details)
  const permit = {
    nonce,
    deadline,
    validAfter,
    token: asHex(settlement.asset),
    from: asHex(settlement.payer),
    to: asHex(settlement.payTo),
    amount: settlement.amount,
  }
  return createJudge(rpc, { id: settlement.authorizationId, permit, router })
}

const [usedTopic] = encodeEventTopics({ abi: tokenAbi, eventName: 'AuthorizationUsed' })
const [settledTopic] = encodeEventTopics({ abi: proxyAbi, eventName: 'Settled' })
const [settledWithPermitTopic] = encodeEventTopics({ abi: proxyAbi, eventName: 'SettledWithPermit' })

/**
 * Whether a transaction of another account executed the permit.
 *
 * A direct call of the proxy that succeeded did, for the proxy reverts otherwise. Inside a call of another contract
 * the proxy may have failed, and no event names the nonce; then the transaction must have as many settled transfers of
 * these terms as it carries permits with them, so that it never proves more payments than it made. Fewer prove nothing.
 * A contract may also hold a permit that no calldata contains.
 */
export const judgeForeignExecution = (
  receipt: Receipt,
  { to, input }: Pick<Transaction, 'to' | 'input'>,
  permit: Omit<Permit, 'spender'>,
): 'paid' | 'unpaid' | 'unknown' => {
  if (!receipt.status) return 'unpaid'
  const calldata = input.toLowerCase()
  const words = encodePermitWords(permit)
  if (to !== null && isSameAddress(to, exactProxyAddress) && isDirectCall(exactProxyAbi, calldata, words)) {
    return receipt.logs.some((log) => isTransfer(log, expectedTransfer(permit))) ? 'paid' : 'unpaid'
  }
  if (!calldata.includes(words)) return countSettled(receipt, permit) > 0 ? 'unknown' : 'unpaid'
  return countSettled(receipt, permit) >= countPermits(calldata, permit) ? 'paid' : 'unknown'
}

const expectedTransfer = ({ token, from, to, amount }: Omit<Permit, 'spender'>) => ({
  asset: token,
  from,
  to,
  value: amount,
})

/** Permits of equal token, amount, payer and recipient in calldata: they differ by their nonce. */
const countPermits = (calldata: string, { token, amount, from, to }: Omit<Permit, 'spender'>): number => {
  const terms = addressWord(token) + numberWord(amount)
  const parties = addressWord(from) + addressWord(to)
  const nonces = new Set<string>()
  for (let at = calldata.indexOf(terms); at >= 0; at = calldata.indexOf(terms, at + 1)) {
    const nonce = at + terms.length
    if (calldata.startsWith(parties, nonce + 2 * 64)) nonces.add(calldata.slice(nonce, nonce + 64))
  }
  return nonces.size
}

/**
 * Transfers of these terms that the proxy made: its own event follows, and no transfer of any token is between, or the proxy
 * may have made that one. A transfer right after AuthorizationUsed belongs to an EIP-3009 payment.
 */
const countSettled = ({ logs }: Receipt, permit: Omit<Permit, 'spender'>): number => {
  const isKnown = (topic: Hex | undefined, known: readonly (Hex | undefined)[]) => known.includes(topic)
  const events = logs.filter(
    ({ address, topics: [topic] }) =>
      topic === transferTopic ||
      (isSameAddress(address, permit.token) && topic === usedTopic) ||
      (isSameAddress(address, exactProxyAddress) && isKnown(topic, [settledTopic, settledWithPermitTopic])),
  )
  return events.filter((event, index) => {
    const before = events.slice(0, index).findLast(({ address }) => isSameAddress(address, permit.token))
    const isAuthorized =
      before?.topics[0] === usedTopic && before.topics[1]?.toLowerCase() === pad(permit.from).toLowerCase()
    const next = events[index + 1]
    return (
      isTransfer(event, expectedTransfer(permit)) &&
      !isAuthorized &&
      next !== undefined &&
      isSameAddress(next.address, exactProxyAddress)
    )
  }).length
}
