import { z } from 'zod'

export const hashShape = z.string().regex(/^0x[0-9a-f]{64}$/)

const hex = z.string().regex(/^0x(?:[0-9a-f]{2})*$/)

/** Up to 2^32, the block number of the runtime. */
const blockNumber = z
  .string()
  .regex(/^0x[0-9a-f]{1,8}$/)
  .transform(Number)

const header = z.object({ number: blockNumber, parentHash: hashShape })

export const headerShape = header.nullable()

export const blockShape = z
  .object({ block: z.object({ header, extrinsics: z.array(hex) }) })
  .transform(({ block }) => ({ ...block.header, extrinsics: block.extrinsics }))
  .nullable()

export interface Header {
  readonly number: number
  readonly parentHash: string
}

export interface Block extends Header {
  readonly extrinsics: readonly string[]
}

export const hashesShape = z.array(hashShape.nullable())

export const runtimeVersionShape = z.object({
  specName: z.string().max(100),
  specVersion: z.int().min(0).max(0xffff_ffff),
  transactionVersion: z.int().min(0).max(0xffff_ffff),
})

export type RuntimeVersion = z.infer<typeof runtimeVersionShape>

export const bytesShape = hex

export const storageShape = hex.nullable()

/** A u64 of milliseconds, little-endian. */
export const timestampShape = z
  .string()
  .regex(/^0x[0-9a-f]{16}$/)
  .transform((text) => Number(Buffer.from(text.slice(2), 'hex').readBigUInt64LE()))
  .pipe(z.int().min(0).max(8_640_000_000_000_000))
  .transform((milliseconds) => new Date(milliseconds))

const readU128 = (hexDigits: string): bigint =>
  BigInt(`0x${Buffer.from(hexDigits, 'hex').reverse().toString('hex')}`)

// `AssetAccount` begins with its balance, a u128; status and reason follow.
const accountForm = /^0x([0-9a-f]{32})(?:[0-9a-f]{2}){2,200}$/

export const assetBalanceShape = z
  .string()
  .regex(accountForm)
  .nullable()
  .transform((account) => (account === null ? 0n : readU128(account.slice(2, 34))))
