import { MsgMultiSend, MsgSend } from 'cosmjs-types/cosmos/bank/v1beta1/tx'
import { TxBody, TxRaw } from 'cosmjs-types/cosmos/tx/v1beta1/tx'
import { AppError } from '../../errors.js'
import type { DirectTransfer, LookUp, LookUpQuery } from '../../schemes/exactDirect/directChain.js'
import type { Ask } from '../common/direct/node.js'
import { readAddress, readDenom } from './addresses.js'
import {
  type ChainEvent,
  type FoundTransaction,
  findTransaction,
  readAccountNumber,
  readHeader,
} from './rpc.js'
import { findTransactionSigner } from './transactionSigner.js'

/**
 * Three requests. The bytes must have the hash, be in the tree of which the block's header names the root, and be signed by
 * the account that pays. A block is final as soon as there is one. Failed transactions are in blocks too, with a code.
 */
export const createLookUp =
  (network: { readonly chainId: string; readonly prefix: string }) =>
  async ({ transaction, from }: LookUpQuery, ask: Ask): Promise<LookUp> => {
    const { chainId, prefix } = network
    const found = await findTransaction(ask, transaction)
    if (found === null) return { state: 'missing' }
    const { height, dataHash, code } = found
    const header = await readHeader(ask, { chainId, height, dataHash })
    if (code !== 0) return { state: 'failed' }
    const transfers = listTransfers(found, prefix)
    const isPaidBy = (transfer: { readonly from: string }) => transfer.from === from
    const evidence = { state: 'successful', includedAt: header.time } as const
    if (!transfers.some(isPaidBy)) return { ...evidence, transfers }
    const signer = findTransactionSigner(found.bytes, from, network)
    const signature = signer === null ? 'unsupported' : signer.check(await readAccountNumber(ask, from))
    if (signature === 'unsupported') {
      return { ...evidence, transfers: transfers.filter((each) => !isPaidBy(each)) }
    }
    // No block of the chain holds a transaction with a wrong signature.
    if (signature === 'forged') {
      throw new AppError(
        'SERVICE_UNAVAILABLE',
        `A node of cosmos:${chainId} returned a transaction that its sender did not sign`,
        { operationalCode: 'SVC-2004', retryAfterSeconds: 10 },
      )
    }
    return { ...evidence, transfers }
  }

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

/** What an account received from one message, in smallest units. */
type Credits = (messageIndex: number, account: string, asset: string) => bigint

// Amounts as the bank module writes them: `1000000uusdc`, several separated by commas.
const coinForm = /^([0-9]{1,78})([a-zA-Z][a-zA-Z0-9/:._-]{2,127})$/

/** By the `transfer` events of messages. The event of the fee has no `msg_index`. */
const countCredits = (events: readonly ChainEvent[]): Credits => {
  const received = new Map<string, bigint>()
  for (const event of events) {
    const messageIndex = readAttribute(event, 'msg_index')
    const recipient = readAttribute(event, 'recipient')
    if (event.type !== 'transfer' || messageIndex === null || recipient === null) continue
    for (const coin of (readAttribute(event, 'amount') ?? '').split(',')) {
      const [, amount, denom] = coinForm.exec(coin) ?? []
      if (amount === undefined || denom === undefined) continue
      const key = [messageIndex, recipient, denom].join()
      received.set(key, (received.get(key) ?? 0n) + BigInt(amount))
    }
  }
  return (messageIndex, account, asset) => received.get([messageIndex, account, asset].join()) ?? 0n
}

/** Null if it is missing or given twice. */
const readAttribute = ({ attributes }: ChainEvent, key: string): string | null => {
  const [first, ...others] = attributes.filter((attribute) => attribute.key === key)
  return first === undefined || others.length > 0 ? null : (first.value ?? null)
}
