import { z } from 'zod'
import { fromHex, hashHex, recoverHexAddress, toHex, toHexAddress } from './keys.js'
import { contractNames, decodeMessage, encodeMessage, lookUpMessage } from './protobuf.js'

const bytes = z.custom<Uint8Array>((value) => value instanceof Uint8Array)

const transactionShape = z.object({
  raw_data: z.object({
    ref_block_bytes: bytes,
    ref_block_hash: bytes,
    expiration: z.number(),
    timestamp: z.number(),
    fee_limit: z.number(),
    data: bytes,
    contract: z.array(
      z.object({
        type: z.number(),
        Permission_id: z.number(),
        parameter: z.object({ type_url: z.string(), value: bytes }),
      }),
    ),
  }),
  signature: z.array(bytes),
})

/** Addresses and bytes in hex. */
type ContractFields = Readonly<Record<string, unknown>>

export interface DecodedTransaction {
  readonly hex: string
  readonly id: string
  readonly rawHex: string
  readonly size: number
  readonly signatures: readonly string[]
  readonly refBlockBytes: string
  readonly refBlockHash: string
  readonly expiration: number
  readonly timestamp: number
  readonly feeLimit: number
  readonly contractCount: number
  readonly type: string
  readonly permissionId: number
  readonly fields: ContractFields
}

const toFields = (decoded: Record<string, unknown>): ContractFields =>
  Object.fromEntries(
    Object.entries(decoded).map(([name, value]) => [
      name,
      value instanceof Uint8Array ? toHex(value) : value,
    ]),
  )

/** Throws for malformed bytes. */
export const decodeTransaction = (hex: string): DecodedTransaction => {
  const type = lookUpMessage('Transaction')
  const message = type.decode(fromHex(hex))
  const { raw_data: raw, signature } = transactionShape.parse(
    type.toObject(message, { longs: Number, defaults: true, arrays: true, objects: true }),
  )
  const rawHex = encodeMessage('Raw', { ...raw })
  const contract = raw.contract[0]
  const name = contract === undefined ? undefined : contractNames[contract.type]
  if (contract === undefined || name === undefined) throw new Error('not a contract of this chain')
  return {
    hex: hex.toLowerCase(),
    id: hashHex(rawHex),
    rawHex,
    size: hex.length / 2,
    signatures: signature.map(toHex),
    refBlockBytes: toHex(raw.ref_block_bytes),
    refBlockHash: toHex(raw.ref_block_hash),
    expiration: raw.expiration,
    timestamp: raw.timestamp,
    feeLimit: raw.fee_limit,
    contractCount: raw.contract.length,
    type: name,
    permissionId: contract.Permission_id,
    fields: toFields(decodeMessage(name, contract.parameter.value)),
  }
}

const jsonShape = z.object({
  raw_data: z.object({
    contract: z
      .array(
        z.object({
          type: z.string(),
          Permission_id: z.number().optional(),
          parameter: z.object({ type_url: z.string(), value: z.record(z.string(), z.unknown()) }),
        }),
      )
      .length(1),
    ref_block_bytes: z.string(),
    ref_block_hash: z.string(),
    expiration: z.number(),
    timestamp: z.number(),
    fee_limit: z.number().optional(),
  }),
  signature: z.array(z.string()).optional(),
})

const toWireValue = (name: string, value: unknown): unknown => {
  if (name === 'resource') return value === 'ENERGY' ? 1 : value
  if (typeof value !== 'string') return value
  return fromHex(name.endsWith('address') ? toHexAddress(value) : value)
}

/** Encodes a JSON transaction like a node: from `raw_data`, ignoring `raw_data_hex`. */
export const encodeJsonTransaction = (json: unknown): string => {
  const { raw_data: raw, signature = [] } = jsonShape.parse(json)
  const contract = raw.contract.map(({ type, parameter, Permission_id }) => {
    const number = Number(Object.entries(contractNames).find(([, name]) => name === type)?.[0])
    const fields = Object.fromEntries(
      Object.entries(parameter.value).map(([name, value]) => [name, toWireValue(name, value)]),
    )
    return {
      type: number,
      parameter: { type_url: parameter.type_url, value: fromHex(encodeMessage(type, fields)) },
      ...(Permission_id === undefined ? {} : { Permission_id }),
    }
  })
  return encodeMessage('Transaction', {
    raw_data: {
      contract,
      ref_block_bytes: fromHex(raw.ref_block_bytes),
      ref_block_hash: fromHex(raw.ref_block_hash),
      expiration: raw.expiration,
      timestamp: raw.timestamp,
      ...(raw.fee_limit === undefined ? {} : { fee_limit: raw.fee_limit }),
    },
    signature: signature.map(fromHex),
  })
}

export const toJsonTransaction = (transaction: DecodedTransaction) => ({
  signature: transaction.signatures,
  txID: transaction.id,
  raw_data: {
    contract: [
      {
        parameter: {
          value: Object.fromEntries(
            Object.entries(transaction.fields).filter(([, value]) => value !== 0 && value !== ''),
          ),
          type_url: `type.googleapis.com/protocol.${transaction.type}`,
        },
        type: transaction.type,
      },
    ],
    ref_block_bytes: transaction.refBlockBytes,
    ref_block_hash: transaction.refBlockHash,
    expiration: transaction.expiration,
    ...(transaction.feeLimit === 0 ? {} : { fee_limit: transaction.feeLimit }),
    timestamp: transaction.timestamp,
  },
  raw_data_hex: transaction.rawHex,
})

/** Null for an invalid signature. */
export const listSigners = ({ id, signatures }: DecodedTransaction): readonly (string | null)[] =>
  signatures.map((signature) => recoverHexAddress(id, signature))

export const readText = (fields: ContractFields, name: string): string => z.string().parse(fields[name])

export const readNumber = (fields: ContractFields, name: string): number =>
  z.number().parse(fields[name] ?? 0)
