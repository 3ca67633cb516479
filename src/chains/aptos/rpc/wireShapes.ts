import { z } from 'zod'
import { readAptosAddress } from '../encoding/address.js'

/** Numbers of 64 bits are strings. */
const u64 = z
  .string()
  .regex(/^\d{1,20}$/)
  .transform(BigInt)

/** Nodes write addresses with and without leading zeros. */
const address = z.string().transform((text, context) => {
  const read = readAptosAddress(text)
  if (read !== null) return read
  context.addIssue({ code: 'custom', message: 'is no address' })
  return z.NEVER
})

const hash = z.string().regex(/^0x[0-9a-f]{64}$/)

const microsecondsPerMillisecond = 1_000n

const time = u64.transform((microseconds) => new Date(Number(microseconds / microsecondsPerMillisecond)))

export const ledgerShape = z.object({
  chain_id: z.int().nonnegative(),
  block_height: u64,
  ledger_timestamp: time,
})

const depositType = '0x1::fungible_asset::Deposit'
const withdrawType = '0x1::fungible_asset::Withdraw'

const movementShape = z.object({ store: address, amount: u64 })

/** Exactly these types: any module can define an event of the same name. */
const eventShape = z.union([
  z
    .object({ type: z.literal(depositType), data: movementShape })
    .transform(({ data }) => ({ kind: 'deposit' as const, ...data })),
  z
    .object({ type: z.literal(withdrawType), data: movementShape })
    .transform(({ data }) => ({ kind: 'withdraw' as const, ...data })),
  z
    .object({ type: z.string().refine((type) => type !== depositType && type !== withdrawType) })
    .transform(() => null),
])

/** A debit or credit of one fungible store. */
export interface Movement {
  readonly kind: 'deposit' | 'withdraw'
  readonly store: string
  readonly amount: bigint
}

const changeShape = z.union([
  z
    .object({
      address,
      data: z.object({ type: z.literal('0x1::object::ObjectCore'), data: z.object({ owner: address }) }),
    })
    .transform(({ address: store, data }) => ({
      kind: 'store' as const,
      store,
      owner: data.data.owner,
      metadata: null,
    })),
  z
    .object({
      address,
      data: z.object({
        type: z.literal('0x1::fungible_asset::FungibleStore'),
        data: z.object({ metadata: z.object({ inner: address }) }),
      }),
    })
    .transform(({ address: store, data }) => ({
      kind: 'store' as const,
      store,
      owner: null,
      metadata: data.data.metadata.inner,
    })),
  z
    .object({
      address,
      data: z.object({
        type: z.enum(['0x1::fungible_asset::Supply', '0x1::fungible_asset::ConcurrentSupply']),
      }),
    })
    .transform(({ address: asset }) => ({ kind: 'supply' as const, asset })),
  z.unknown().transform(() => null),
])

/** What a written resource reveals about a store. */
export interface StoreChange {
  readonly store: string
  readonly owner: string | null
  readonly metadata: string | null
}

const isPresent = <T>(value: T | null): value is T => value !== null

const transactionShape = z.union([
  z
    .object({
      type: z.literal('user_transaction'),
      hash,
      success: z.boolean(),
      sender: address,
      timestamp: time,
      events: z.array(eventShape),
      changes: z.array(changeShape),
    })
    .transform(({ type, events, changes, timestamp, ...rest }) => ({
      ...rest,
      state: 'executed' as const,
      includedAt: timestamp,
      movements: events.filter(isPresent),
      changes: changes.filter((change) => change?.kind === 'store'),
      changedSupplies: changes.flatMap((change) => (change?.kind === 'supply' ? [change.asset] : [])),
    })),
  z
    .object({ type: z.literal('pending_transaction'), hash })
    .transform((transaction) => ({ hash: transaction.hash, state: 'pending' as const })),
  // It is one of the system, such as a block's metadata, and moves no account's funds.
  z
    .object({ type: z.string().regex(/^(?!user_transaction$)[a-z_]+_transaction$/), hash })
    .transform((transaction) => ({ hash: transaction.hash, state: 'system' as const })),
])

/** The answer for another hash is invalid. */
export const transactionShapeOf = (asked: string) =>
  transactionShape.refine((transaction) => transaction.hash === asked, 'of another transaction')

export const accountShape = z.object({ authentication_key: hash })

/** A number, not a text: above 2^53 the parser has rounded it. */
export const balanceShape = z
  .number()
  .min(0)
  .max(2 ** 64)
  .refine((amount) => Number.isInteger(amount), 'is no whole number')
  .transform(BigInt)

export const metadataType = '0x1::fungible_asset::Metadata'

export const metadataShape = z.object({ type: z.literal(metadataType) })

/** In octas per unit of gas. */
export const gasPriceShape = z
  .object({ gas_estimate: z.int().nonnegative() })
  .transform(({ gas_estimate }) => BigInt(gas_estimate))
