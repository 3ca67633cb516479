import type { Hex } from 'viem'
import { multicallAddress } from '../abi/contracts.js'
import { decodeAggregate, encodeAggregate } from '../abi/multicall.js'
import { readWord } from '../abi/words.js'
import type { ContractCall } from '../transactions/settlementCall.js'
import { encodeBalanceCall } from './readBalance.js'

/**
 * Transfers between two reads of the recipient's balance, for tokens that are not listed: detects transfer
 * fees and transfers without effect.
 */
export const planCreditProbe = (asset: Hex, payTo: Hex, { to, data }: ContractCall): ContractCall => {
  const balance = { target: asset, data: encodeBalanceCall(payTo) }
  return { to: multicallAddress, data: encodeAggregate([balance, { target: to, data }, balance]) }
}

/** By how much the recipient's balance grew in a probe, or null when that is unknown. */
export const decodeCredit = (answer: Hex): bigint | null => {
  const results = decodeAggregate(answer, 3)
  if (results === null || results.some(({ succeeds }) => !succeeds)) return null
  const [before, , after] = results.map(({ data }) => readWord(data))
  return before == null || after == null ? null : after - before
}
