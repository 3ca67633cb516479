import protobuf from 'protobufjs'

// The part of the Cosmos SDK's messages that the test chain supports. The source under test uses cosmjs-types instead: an
// error in one codec does not repeat in the other.
const definition = `
syntax = "proto3";
package c;
message Any { string type_url = 1; bytes value = 2; }
message Coin { string denom = 1; string amount = 2; }
message TxRaw { bytes body_bytes = 1; bytes auth_info_bytes = 2; repeated bytes signatures = 3; }
message TxBody { repeated Any messages = 1; string memo = 2; uint64 timeout_height = 3; }
message PubKey { bytes key = 1; }
message Single { int32 mode = 1; }
message CompactBitArray { uint32 extra_bits_stored = 1; bytes elems = 2; }
message Multi { CompactBitArray bitarray = 1; repeated ModeInfo mode_infos = 2; }
message ModeInfo { Single single = 1; Multi multi = 2; }
message LegacyAminoPubKey { uint32 threshold = 1; repeated Any public_keys = 2; }
message MultiSignature { repeated bytes signatures = 1; }
message SignerInfo { Any public_key = 1; ModeInfo mode_info = 2; uint64 sequence = 3; }
message Fee { repeated Coin amount = 1; uint64 gas_limit = 2; string payer = 3; string granter = 4; }
message AuthInfo { repeated SignerInfo signer_infos = 1; Fee fee = 2; }
message SignDoc { bytes body_bytes = 1; bytes auth_info_bytes = 2; string chain_id = 3; uint64 account_number = 4; }
message MsgSend { string from_address = 1; string to_address = 2; repeated Coin amount = 3; }
message Share { string address = 1; repeated Coin coins = 2; }
message MsgMultiSend { repeated Share inputs = 1; repeated Share outputs = 2; }
message MsgExec { string grantee = 1; repeated Any msgs = 2; }
message BaseAccount { string address = 1; Any pub_key = 2; uint64 account_number = 3; uint64 sequence = 4; }
message QueryAccountRequest { string address = 1; }
message QueryAccountResponse { Any account = 1; }
message QueryAccountInfoResponse { BaseAccount info = 1; }
message ConfigResponse { string minimum_gas_price = 1; }
message QueryBalanceRequest { string address = 1; string denom = 2; }
message QueryBalanceResponse { Coin balance = 1; }
message QuerySupplyOfRequest { string denom = 1; }
message QuerySupplyOfResponse { Coin amount = 1; }
message GasInfo { uint64 gas_wanted = 1; uint64 gas_used = 2; }
message SimulateResponse { GasInfo gas_info = 1; }
message TxMsgData { repeated Any msg_responses = 2; }
`

const { root } = protobuf.parse(definition, { keepCase: true })

export const encode = (name: string, fields: Readonly<Record<string, unknown>>): Uint8Array => {
  const type = root.lookupType(`c.${name}`)
  return type.encode(type.create(fields)).finish()
}

/** All fields, including defaults; 64-bit integers as text. */
export const decode = (name: string, bytes: Uint8Array): unknown => {
  const type = root.lookupType(`c.${name}`)
  return type.toObject(type.decode(bytes), { longs: String, defaults: true, arrays: true })
}
