import { z } from 'zod'
// Loading tronweb defines its protobuf classes, which it exposes only as a global.
import 'tronweb'

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
export const decodeTransactionMessage = (bytes: Uint8Array): TransactionMessage =>
  Transaction.deserializeBinary(bytes)

/** Throws for malformed bytes. */
export const decodeTriggerMessage = (bytes: Uint8Array): TriggerMessage =>
  TriggerSmartContract.deserializeBinary(bytes)
