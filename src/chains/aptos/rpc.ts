import { z } from 'zod'
import { Secret } from '../../platform/secret.js'
import { type Ask, askOrNull } from '../common/direct/node.js'
import { type Endpoint, expecting, type RpcError } from '../nodes/endpoint.js'
import type { Proof } from '../nodes/endpointHealth.js'
import { createPathEndpoint } from '../nodes/pathEndpoint.js'
import { type AptosAddress, readAptosAddress } from './addresses.js'

interface EndpointOptions {
  readonly timeoutMs: number
  readonly apiKey: Secret | null
}

/** A full node's REST API; the URL may end in /v1 or in the path before it. */
export const createEndpoint = (url: Secret, { timeoutMs, apiKey }: EndpointOptions): Endpoint =>
  createPathEndpoint(
    withVersion(url),
    timeoutMs,
    apiKey === null ? {} : { authorization: new Secret(`Bearer ${apiKey.reveal()}`) },
  )

const withVersion = (url: Secret): Secret => {
  const parsed = new URL(url.reveal())
  const path = parsed.pathname.replace(/\/$/, '')
  parsed.pathname = path.endsWith('/v1') ? path : `${path}/v1`
  return new Secret(parsed.href)
}

export const proveChain = async (endpoint: Endpoint): Promise<Proof> => {
  const ledger = await endpoint.request('', null, ledgerShape)
  return {
    chain: String(ledger.chain_id),
    head: { number: ledger.block_height, timestamp: ledger.ledger_timestamp.getTime() / 1_000 },
  }
}

const notFound = 404

/** Not any 404: that of a gateway or of a wrong path says nothing about the transaction. */
const isUnknownTransaction = ({ code, message }: RpcError): boolean =>
  code === notFound && message.includes('transaction_not_found')

/** Null: the node knows no transaction with this hash. */
export const findTransaction = (ask: Ask, transaction: string) =>
  askOrNull(ask, {
    method: `/transactions/by_hash/${transaction}`,
    params: null,
    schema: transactionShapeOf(transaction),
    isVerdict: isUnknownTransaction,
  })

const isUnknownAccount = ({ code, message }: RpcError): boolean =>
  code === notFound && message.includes('account_not_found')

/** Accounts can rotate their key: the chain decides, not the address. */
export const readAuthenticationKey = async (ask: Ask, account: AptosAddress): Promise<string> => {
  const found = await askOrNull(ask, {
    method: `/accounts/${account}`,
    params: null,
    schema: accountShape,
    isVerdict: isUnknownAccount,
  })
  // AIP-115: until it rotates its key, an account needs no resource, and its address is its key's hash.
  return found?.authentication_key ?? account
}

/** Also an unknown path has status 404. */
const isMissingAccount = ({ code, message }: RpcError): boolean =>
  code === notFound && /"(?:account|resource)_not_found"/.test(message)

/** Reads the account's primary store, with what a paired coin holds; 0 without either. */
export const readTokenBalance = async (
  ask: Ask,
  { asset, owner }: { readonly asset: AptosAddress; readonly owner: AptosAddress },
): Promise<bigint> =>
  (await askOrNull(ask, {
    method: `/accounts/${owner}/balance/${asset}`,
    params: null,
    schema: balanceShape,
    isVerdict: isMissingAccount,
  })) ?? 0n

/** Whether the address is the metadata object of a fungible asset. */
export const hasFungibleAsset = async (ask: Ask, asset: AptosAddress): Promise<boolean> => {
  const metadata = await askOrNull(ask, {
    method: `/accounts/${asset}/resource/${metadataType}`,
    params: null,
    schema: metadataShape,
    isVerdict: isMissingAccount,
  })
  return metadata !== null
}

/** In octas per unit of gas. */
export const readGasPrice = (ask: Ask): Promise<bigint> => ask('/estimate_gas_price', null, gasPriceShape)

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

const ledgerShape = z.object({
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
  expecting(
    transactionShape,
    (transaction) => (transaction.hash === asked ? transaction : undefined),
    'of another transaction',
  )

const accountShape = z.object({ authentication_key: hash })

/** A number, not a text: above 2^53 the parser has rounded it. */
export const balanceShape = z
  .number()
  .min(0)
  .max(2 ** 64)
  .refine((amount) => Number.isInteger(amount), 'is no whole number')
  .transform(BigInt)

const metadataType = '0x1::fungible_asset::Metadata'

const metadataShape = z.object({ type: z.literal(metadataType) })

/** In octas per unit of gas. */
export const gasPriceShape = z
  .object({ gas_estimate: z.int().nonnegative() })
  .transform(({ gas_estimate }) => BigInt(gas_estimate))
