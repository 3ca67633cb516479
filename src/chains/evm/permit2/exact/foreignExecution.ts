import { encodeEventTopics, type Hex, pad } from 'viem'
import { isSameAddress } from '../../abi/address.js'
import { addressWord, numberWord } from '../../abi/words.js'
import type { Receipt, Transaction } from '../../rpc/wireShapes.js'
import { isTransfer, tokenAbi } from '../../tokens/erc20.js'
import { proxyAbi } from '../contracts.js'
import { isDirectCall } from '../directCall.js'
import type { Permit } from '../payload.js'
import { exactProxyAbi, exactProxyAddress } from './contracts.js'
import { encodePermitWords } from './payload.js'

const [transferTopic] = encodeEventTopics({ abi: tokenAbi, eventName: 'Transfer' })
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
    return receipt.logs.some((log) => isTransfer(log, expect(permit))) ? 'paid' : 'unpaid'
  }
  if (!calldata.includes(words)) return countSettled(receipt, permit) > 0 ? 'unknown' : 'unpaid'
  return countSettled(receipt, permit) >= countPermits(calldata, permit) ? 'paid' : 'unknown'
}

const expect = ({ token, from, to, amount }: Omit<Permit, 'spender'>) => ({
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
      isTransfer(event, expect(permit)) &&
      !isAuthorized &&
      next !== undefined &&
      isSameAddress(next.address, exactProxyAddress)
    )
  }).length
}
