import { type Accounts, energyLeft, energyOf, freeBandwidth, openAccount, prices } from './accounts.js'
import type { TronBlock } from './block.js'
import { toHex } from './keys.js'
import type { CallResult, Machine } from './machine.js'
import { type DecodedTransaction, readNumber, readText } from './transaction.js'

export interface Executed {
  readonly transaction: DecodedTransaction
  readonly block: TronBlock
  readonly contractRet: string
  /** Response of `gettransactioninfobyid`. */
  readonly info: Readonly<Record<string, unknown>>
}

interface Costs {
  readonly receipt: Record<string, unknown>
  fee: number
}

/** From the daily free bandwidth, else from the balance. */
const payBandwidth = (accounts: Accounts, { fields, size }: DecodedTransaction, costs: Costs): void => {
  const owner = openAccount(accounts, readText(fields, 'owner_address'))
  if (owner.bandwidthUsed + size <= freeBandwidth) {
    owner.bandwidthUsed += size
    costs.receipt.net_usage = size
    return
  }
  const fee = size * prices.bandwidth
  owner.balance -= fee
  costs.fee += fee
  costs.receipt.net_fee = fee
}

const moveCoins = (accounts: Accounts, { fields }: DecodedTransaction): void => {
  const amount = readNumber(fields, 'amount')
  openAccount(accounts, readText(fields, 'owner_address')).balance -= amount
  openAccount(accounts, readText(fields, 'to_address')).balance += amount
}

const delegateEnergy = (accounts: Accounts, { fields }: DecodedTransaction): void => {
  const amount = readNumber(fields, 'balance')
  const owner = openAccount(accounts, readText(fields, 'owner_address'))
  const receiver = openAccount(accounts, readText(fields, 'receiver_address'))
  owner.staked -= amount
  receiver.delegatedFrom.set(owner.address, (receiver.delegatedFrom.get(owner.address) ?? 0) + amount)
}

/** Energy that the receiver has used returns as used. */
const undelegateEnergy = (accounts: Accounts, { fields }: DecodedTransaction): void => {
  const amount = readNumber(fields, 'balance')
  const owner = openAccount(accounts, readText(fields, 'owner_address'))
  const receiver = openAccount(accounts, readText(fields, 'receiver_address'))
  const left = (receiver.delegatedFrom.get(owner.address) ?? 0) - amount
  if (left > 0) receiver.delegatedFrom.set(owner.address, left)
  else receiver.delegatedFrom.delete(owner.address)
  owner.staked += amount
  const used = Math.min(receiver.energyUsed, energyOf(amount))
  receiver.energyUsed -= used
  owner.energyUsed += used
}

const callContract = async (
  { accounts, machine, block }: ExecutionParts,
  { fields, feeLimit }: DecodedTransaction,
  costs: Costs,
): Promise<CallResult> => {
  const owner = openAccount(accounts, readText(fields, 'owner_address'))
  const free = energyLeft(owner)
  // `fee_limit` applies to all energy used, including staked energy.
  const available = free + Math.floor(Math.max(0, owner.balance) / prices.energy)
  const energyLimit = Math.min(available, Math.floor(feeLimit / prices.energy))
  const result = await machine.call(
    {
      from: owner.address,
      to: readText(fields, 'contract_address'),
      data: readText(fields, 'data'),
      energyLimit,
      time: block.timestamp,
    },
    true,
  )
  const used = Math.min(result.energyUsed, free)
  owner.energyUsed += used
  const fee = (result.energyUsed - used) * prices.energy
  owner.balance -= fee
  costs.fee += fee
  if (used > 0) costs.receipt.energy_usage = used
  if (fee > 0) costs.receipt.energy_fee = fee
  costs.receipt.energy_usage_total = result.energyUsed
  costs.receipt.result = result.outcome
  return result
}

interface ExecutionParts {
  readonly accounts: Accounts
  readonly machine: Machine
  readonly block: TronBlock
}

/** A failed transaction is included and charged, too. */
export const executeTransaction = async (
  transaction: DecodedTransaction,
  parts: ExecutionParts,
): Promise<Executed> => {
  const { accounts, block } = parts
  const costs: Costs = { receipt: {}, fee: 0 }
  payBandwidth(accounts, transaction, costs)
  let result: CallResult | null = null
  if (transaction.type === 'TransferContract') moveCoins(accounts, transaction)
  if (transaction.type === 'DelegateResourceContract') delegateEnergy(accounts, transaction)
  if (transaction.type === 'UnDelegateResourceContract') undelegateEnergy(accounts, transaction)
  if (transaction.type === 'TriggerSmartContract') result = await callContract(parts, transaction, costs)
  const isFailed = result !== null && result.outcome !== 'SUCCESS'
  return {
    transaction,
    block,
    contractRet: result?.outcome ?? 'SUCCESS',
    info: {
      id: transaction.id,
      ...(costs.fee === 0 ? {} : { fee: costs.fee }),
      blockNumber: block.number,
      blockTimeStamp: block.timestamp,
      contractResult: [result?.returned ?? ''],
      ...(result === null ? {} : { contract_address: readText(transaction.fields, 'contract_address') }),
      receipt: costs.receipt,
      ...(result === null || isFailed || result.logs.length === 0 ? {} : { log: result.logs }),
      ...(isFailed
        ? { result: 'FAILED', resMessage: toHex(Buffer.from(`${result?.outcome} executed`)) }
        : {}),
    },
  }
}
