// Loading tronweb defines its protobuf classes, which it exposes only as a global.
import 'tronweb'
import { createHash } from 'node:crypto'
import { z } from 'zod'
import type { Reason } from '../../../protocol/reasons.js'
import type { TronAddress } from '../encoding/address.js'

/** A decoded TRC-20 transfer; times in milliseconds, everything else in lower-case hex. */
export interface SignedTransfer {
  /** Transaction id: SHA-256 of raw_data, independent of the signature. */
  readonly transaction: string
  readonly bytes: string
  readonly owner: TronAddress
  readonly contract: TronAddress
  readonly to: TronAddress
  readonly value: bigint
  readonly data: string
  readonly expiration: number
  readonly timestamp: number
  /** In sun. */
  readonly feeLimit: bigint
  readonly refBlockBytes: string
  readonly refBlockHash: string
  /** 65 bytes: r, s, v. */
  readonly signature: string
}

type TransferReading =
  | { readonly transfer: SignedTransfer }
  | { readonly reason: Reason; readonly problem: string }

// A transfer has about 330 bytes.
const minBytes = 200
const maxBytes = 1_000

const triggerSmartContract = 31
const triggerUrl = 'type.googleapis.com/protocol.TriggerSmartContract'

// transfer(address,uint256), with a zero-padded address.
const transferForm = /^a9059cbb0{24}(?<to>[0-9a-f]{40})(?<value>[0-9a-f]{64})$/

/** Decodes an untrusted signed transaction in hex. Never throws. */
export const decodeTransfer = (hex: string): TransferReading => {
  const bytes = hex.replace(/^0x/, '').toLowerCase()
  if (!/^(?:[0-9a-f]{2})*$/.test(bytes)) return { reason: 'invalid_hex_encoding', problem: 'is not hex' }
  if (bytes.length < minBytes * 2) return { reason: 'transaction_too_short', problem: 'is too short' }
  if (bytes.length > maxBytes * 2) return malformed('is too long')
  try {
    return readTransaction(bytes)
  } catch {
    return malformed('is not a transaction')
  }
}

const malformed = (problem: string): TransferReading => ({
  reason: 'transaction_verification_failed',
  problem,
})

const readTransaction = (bytes: string): TransferReading => {
  const message = decodeTransactionMessage(Buffer.from(bytes, 'hex'))
  // Unknown, repeated or reordered fields are lost in re-encoding: a node could read them differently.
  if (toHex(message.serializeBinary()) !== bytes) return malformed('is not in canonical encoding')
  const raw = message.getRawData()
  if (raw === undefined) return malformed('has no raw_data')
  if (message.getRetList().length > 0) return malformed('carries a result')
  const [signature, ...moreSignatures] = message.getSignatureList_asU8()
  if (signature === undefined || moreSignatures.length > 0)
    return malformed('must have exactly one signature')
  const [contract, ...moreContracts] = raw.getContractList()
  if (contract === undefined || moreContracts.length > 0) return malformed('must have exactly one contract')
  if (contract.getType() !== triggerSmartContract) return malformed('must be a TriggerSmartContract')
  if (contract.getPermissionId() !== 0) return malformed('must be signed by the owner permission')
  const parameter = contract.getParameter()
  if (parameter === undefined || parameter.getTypeUrl() !== triggerUrl) {
    return malformed('names a type other than that of its contract')
  }
  const unused = [
    contract.getProvider_asU8(),
    contract.getContractname_asU8(),
    raw.getScripts_asU8(),
    raw.getAuthsList(),
    // A memo costs the payer an additional 1 TRX.
    raw.getData_asU8(),
  ]
  if (unused.some(({ length }) => length > 0) || raw.getRefBlockNum() !== 0) {
    return malformed('has fields that a transfer does not need')
  }
  const numbers = [raw.getExpiration(), raw.getTimestamp(), raw.getFeeLimit()]
  if (!numbers.every((number) => Number.isSafeInteger(number) && number >= 0)) {
    return malformed('has numbers out of range')
  }

  const trigger = decodeTriggerMessage(parameter.getValue_asU8())
  if (toHex(trigger.serializeBinary()) !== toHex(parameter.getValue_asU8())) {
    return malformed('is not in canonical encoding')
  }
  if (trigger.getCallValue() !== 0 || trigger.getCallTokenValue() !== 0 || trigger.getTokenId() !== 0) {
    return malformed('must carry no value but the transfer')
  }
  const owner = readAddressBytes(trigger.getOwnerAddress_asU8())
  const token = readAddressBytes(trigger.getContractAddress_asU8())
  if (owner === null || token === null) return malformed('has an address of the wrong form')
  const data = toHex(trigger.getData_asU8())
  const call = transferForm.exec(data)?.groups
  if (call?.to === undefined) return malformed('must call transfer(address,uint256) and nothing else')
  return {
    transfer: {
      transaction: createHash('sha256').update(raw.serializeBinary()).digest('hex'),
      bytes,
      owner,
      contract: token,
      to: `41${call.to}`,
      value: BigInt(`0x${call.value}`),
      data,
      expiration: raw.getExpiration(),
      timestamp: raw.getTimestamp(),
      feeLimit: BigInt(raw.getFeeLimit()),
      refBlockBytes: toHex(raw.getRefBlockBytes_asU8()),
      refBlockHash: toHex(raw.getRefBlockHash_asU8()),
      signature: toHex(signature),
    },
  }
}

const toHex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex')

const readAddressBytes = (bytes: Uint8Array): TronAddress | null => {
  const hex = toHex(bytes)
  return /^41[0-9a-f]{40}$/.test(hex) ? `41${hex.slice(2)}` : null
}

interface TransactionMessage {
  getRawData(): RawMessage | undefined
  getSignatureList_asU8(): readonly Uint8Array[]
  getRetList(): readonly unknown[]
  serializeBinary(): Uint8Array
}

/** `int64` fields are numbers. */
interface RawMessage {
  getContractList(): readonly ContractMessage[]
  getRefBlockBytes_asU8(): Uint8Array
  getRefBlockNum(): number
  getRefBlockHash_asU8(): Uint8Array
  getExpiration(): number
  getTimestamp(): number
  getFeeLimit(): number
  getAuthsList(): readonly unknown[]
  getData_asU8(): Uint8Array
  getScripts_asU8(): Uint8Array
  serializeBinary(): Uint8Array
}

interface ContractMessage {
  getType(): number
  getParameter(): { getTypeUrl(): string; getValue_asU8(): Uint8Array } | undefined
  getProvider_asU8(): Uint8Array
  getContractname_asU8(): Uint8Array
  getPermissionId(): number
}

interface TriggerMessage {
  getOwnerAddress_asU8(): Uint8Array
  getContractAddress_asU8(): Uint8Array
  getCallValue(): number
  getData_asU8(): Uint8Array
  getCallTokenValue(): number
  getTokenId(): number
  serializeBinary(): Uint8Array
}

interface MessageType<Message> {
  deserializeBinary(bytes: Uint8Array): Message
}

const messageType = <Message>() =>
  z.custom<MessageType<Message>>(
    (value) => typeof value === 'function' && 'deserializeBinary' in value,
    'not a message of tronweb',
  )

const { Transaction, TriggerSmartContract } = z
  .object({
    Transaction: messageType<TransactionMessage>(),
    TriggerSmartContract: messageType<TriggerMessage>(),
  })
  .parse(Reflect.get(globalThis, 'TronWebProto'))

/** Throws for malformed bytes. */
const decodeTransactionMessage = (bytes: Uint8Array): TransactionMessage =>
  Transaction.deserializeBinary(bytes)

/** Throws for malformed bytes. */
const decodeTriggerMessage = (bytes: Uint8Array): TriggerMessage =>
  TriggerSmartContract.deserializeBinary(bytes)
