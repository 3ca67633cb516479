import { MsgMultiSend, MsgSend } from 'cosmjs-types/cosmos/bank/v1beta1/tx'
import { TxBody, TxRaw } from 'cosmjs-types/cosmos/tx/v1beta1/tx'
import type { DirectTransfer } from '../../../schemes/exactDirect/directChain.js'
import { readAddress } from '../encoding/address.js'
import { readDenom } from '../encoding/denom.js'
import type { FoundTransaction } from '../rpc/wireShapes.js'
import { countCredits } from './credits.js'

type Transfer = Omit<DirectTransfer, 'memo'>

interface Coin {
  readonly denom: string
  readonly amount: string
}

// Reading is synchronous; further transfers of a transaction are not looked at.
const maxTransfers = 500

/**
 * Transfers by the transaction's own messages, which their senders must sign, as far as the chain's events confirm them.
 * Messages inside others (authz, governance) are not signed by the account that they debit.
 */
export const listTransfers = (
  { bytes, events }: Pick<FoundTransaction, 'bytes' | 'events'>,
  prefix: string,
): readonly DirectTransfer[] => {
  const { messages, memo } = TxBody.decode(TxRaw.decode(bytes).bodyBytes)
  const credits = countCredits(events)
  const confirmed: DirectTransfer[] = []
  for (const [index, { typeUrl, value }] of messages.slice(0, maxTransfers).entries()) {
    if (confirmed.length >= maxTransfers) break
    const transfers = readMessage(typeUrl, value, prefix)
    const sent = sumByRecipient(transfers)
    for (const transfer of transfers) {
      const { to, asset } = transfer
      const isConfirmed = credits(index, to, asset) >= (sent.get(`${to},${asset}`) ?? 0n)
      if (isConfirmed) confirmed.push({ ...transfer, memo: memo === '' ? null : memo })
    }
  }
  return confirmed
}

const readMessage = (typeUrl: string, value: Uint8Array, prefix: string): readonly Transfer[] => {
  switch (typeUrl) {
    case '/cosmos.bank.v1beta1.MsgSend': {
      const { fromAddress, toAddress, amount } = MsgSend.decode(value)
      return toTransfers(fromAddress, toAddress, amount, prefix)
    }
    case '/cosmos.bank.v1beta1.MsgMultiSend': {
      const { inputs, outputs } = MsgMultiSend.decode(value)
      const [input, ...others] = inputs
      // With several inputs, no output is of one sender.
      if (input === undefined || others.length > 0) return []
      return outputs
        .slice(0, maxTransfers)
        .flatMap(({ address, coins }) => toTransfers(input.address, address, coins, prefix))
    }
    default:
      return []
  }
}

const toTransfers = (
  sender: string,
  recipient: string,
  coins: readonly Coin[],
  prefix: string,
): readonly Transfer[] => {
  const from = readAddress(sender, prefix)
  const to = readAddress(recipient, prefix)
  if (from === null || to === null) return []
  return coins.flatMap(({ denom, amount }) => {
    const asset = readDenom(denom)
    return asset === null || !/^[0-9]{1,78}$/.test(amount)
      ? []
      : [{ asset, from, to, amount: BigInt(amount) }]
  })
}

const sumByRecipient = (transfers: readonly Transfer[]): ReadonlyMap<string, bigint> => {
  const sums = new Map<string, bigint>()
  for (const { to, asset, amount } of transfers) {
    const key = `${to},${asset}`
    sums.set(key, (sums.get(key) ?? 0n) + amount)
  }
  return sums
}
