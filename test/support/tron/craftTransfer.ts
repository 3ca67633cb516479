import { secp256k1 } from '@noble/curves/secp256k1'
import { createTronKey, fromHex, hashHex, toHex } from './keys.js'
import { encodeMessage } from './protobuf.js'

/** Overrides of a valid transfer; field names as in the protocol. */
interface CraftedFields {
  readonly raw?: Readonly<Record<string, unknown>>
  readonly contract?: Readonly<Record<string, unknown>>
  readonly trigger?: Readonly<Record<string, unknown>>
  /** Call data in hex. */
  readonly data?: string
  readonly typeUrl?: string
  readonly contractCount?: number
  readonly signatureCount?: number
}

const payer = createTronKey('22'.repeat(32))
const payee = createTronKey('33'.repeat(32))
const token = createTronKey('44'.repeat(32))

/** transfer(payee, 10,000) */
export const goodCall = `a9059cbb${payee.hexAddress.slice(2).padStart(64, '0')}${10_000n.toString(16).padStart(64, '0')}`

export const parties = { payer, payee, token }

/** A signed transfer of 10,000 units, encoded without tronweb so that any field can be invalid. */
export const craftTransfer = (fields: CraftedFields = {}): string => {
  const trigger = encodeMessage('TriggerSmartContract', {
    owner_address: fromHex(payer.hexAddress),
    contract_address: fromHex(token.hexAddress),
    data: fromHex(fields.data ?? goodCall),
    ...fields.trigger,
  })
  const contract = {
    type: 31,
    parameter: {
      type_url: fields.typeUrl ?? 'type.googleapis.com/protocol.TriggerSmartContract',
      value: fromHex(trigger),
    },
    ...fields.contract,
  }
  const raw = {
    ref_block_bytes: fromHex('0003'),
    ref_block_hash: fromHex('00'.repeat(8)),
    expiration: Date.now() + 60_000,
    timestamp: Date.now(),
    fee_limit: 100_000_000,
    contract: Array.from({ length: fields.contractCount ?? 1 }, () => contract),
    ...fields.raw,
  }
  const signature = secp256k1.sign(hashHex(encodeMessage('Raw', raw)), payer.privateKey)
  const bytes = fromHex(`${signature.toCompactHex()}${toHex(Uint8Array.of(27 + signature.recovery))}`)
  return encodeMessage('Transaction', {
    raw_data: raw,
    signature: Array.from({ length: fields.signatureCount ?? 1 }, () => bytes),
  })
}
