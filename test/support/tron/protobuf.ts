import protobuf from 'protobufjs'
import { z } from 'zod'
import { toHex } from './keys.js'

// The part of TRON's protocol that the test chain supports. The source under test uses tronweb instead: an
// error in one codec does not repeat in the other.
const definition = `
syntax = "proto3";
package protocol;
message Any { string type_url = 1; bytes value = 2; }
message Authority { bytes account = 1; bytes permission_name = 2; }
message Contract { int32 type = 1; Any parameter = 2; bytes provider = 3; bytes ContractName = 4; int32 Permission_id = 5; }
message Raw {
  bytes ref_block_bytes = 1; int64 ref_block_num = 3; bytes ref_block_hash = 4; int64 expiration = 8;
  repeated Authority auths = 9; bytes data = 10; repeated Contract contract = 11; bytes scripts = 12;
  int64 timestamp = 14; int64 fee_limit = 18;
}
message Transaction { Raw raw_data = 1; repeated bytes signature = 2; }
message TransferContract { bytes owner_address = 1; bytes to_address = 2; int64 amount = 3; }
message TriggerSmartContract {
  bytes owner_address = 1; bytes contract_address = 2; int64 call_value = 3; bytes data = 4;
  int64 call_token_value = 5; int64 token_id = 6;
}
message DelegateResourceContract {
  bytes owner_address = 1; int32 resource = 2; int64 balance = 3; bytes receiver_address = 4; bool lock = 5;
  int64 lock_period = 6;
}
message UnDelegateResourceContract { bytes owner_address = 1; int32 resource = 2; int64 balance = 3; bytes receiver_address = 4; }
message HeaderRaw {
  int64 timestamp = 1; bytes txTrieRoot = 2; bytes parentHash = 3; int64 number = 7; bytes witness_address = 9; int32 version = 10;
}
`

const { root } = protobuf.parse(definition, { keepCase: true })

export const lookUpMessage = (name: string): protobuf.Type => root.lookupType(`protocol.${name}`)

/** By type number. */
export const contractNames: Readonly<Record<number, string>> = {
  1: 'TransferContract',
  31: 'TriggerSmartContract',
  57: 'DelegateResourceContract',
  58: 'UnDelegateResourceContract',
}

/** Returns hex; field names as in the protocol. */
export const encodeMessage = (name: string, fields: Readonly<Record<string, unknown>>): string => {
  const type = lookUpMessage(name)
  return toHex(type.encode(type.create(fields)).finish())
}

/** Returns all fields, including defaults. */
export const decodeMessage = (name: string, bytes: Uint8Array): Record<string, unknown> => {
  const type = lookUpMessage(name)
  return z
    .record(z.string(), z.unknown())
    .parse(type.toObject(type.decode(bytes), { longs: Number, defaults: true, arrays: true }))
}
