import { z } from 'zod'
// Defines the messages below as it is loaded; tronweb has them nowhere but in a global.
import 'tronweb'

/** TRON's message around every transaction, as tronweb decodes it. */
interface TransactionMessage {
  getRawData(): RawMessage | undefined
  getSignatureList_asU8(): readonly Uint8Array[]
  getRetList(): readonly unknown[]
  serializeBinary(): Uint8Array
}

/** What the payer signs; `int64` fields as numbers. */
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

/** Decodes a transaction; throws for bytes that are none. */
export const decodeTransactionMessage = (bytes: Uint8Array): TransactionMessage =>
  Transaction.deserializeBinary(bytes)

/** Decodes the call of a contract; throws for bytes that are none. */
export const decodeTriggerMessage = (bytes: Uint8Array): TriggerMessage =>
  TriggerSmartContract.deserializeBinary(bytes)
