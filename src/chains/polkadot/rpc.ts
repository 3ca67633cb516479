import { blake2AsHex, xxhashAsHex } from '@polkadot/util-crypto'
import { z } from 'zod'
import type { Ask } from '../common/direct/node.js'
import type { Endpoint } from '../nodes/endpoint.js'
import type { Proof } from '../nodes/endpointHealth.js'
import type { AccountKey } from './addresses.js'

// Storage keys: twox128 of the pallet's and of the item's name.
const eventsKey = '0x26aa394eea5630e07c48ae0c9558cef780d41e5e16056765bc8461851072c9d7'
const timestampKey = '0xf0c365c3cf59d671eb72da0e7a4113c49f1f0515f462cdcf84e0f1d6045dfcbb'

const referenceLength = 32

/** Reference of the network whose first block has this hash. */
export const toReference = (genesisHash: string): string => genesisHash.slice(2, 2 + referenceLength)

export interface BlockReference {
  readonly number: number
  readonly hash: string
}

/** The head is the finalized one: a node without finality proves no payment. */
export const proveChain = async ({ request }: Endpoint): Promise<Proof> => {
  const [genesis, head] = await Promise.all([
    request('chain_getBlockHash', [0], hashShape),
    getFinalizedBlock(request),
  ])
  const time = await getBlockTime(request, head.hash)
  return {
    chain: toReference(genesis),
    head: { number: BigInt(head.number), timestamp: time.getTime() / 1_000 },
  }
}

export const getFinalizedBlock = async (ask: Ask): Promise<BlockReference> => {
  const hash = await ask('chain_getFinalizedHead', [], hashShape)
  const header = await ask('chain_getHeader', [hash], headerShape)
  if (header === null) throw new Error('The node does not know its finalized block')
  return { hash, number: header.number }
}

/** The best block need not be final. */
export const getBestNumber = async (ask: Ask): Promise<number> => {
  const header = await ask('chain_getHeader', [], headerShape)
  if (header === null) throw new Error('The node returned no best block')
  return header.number
}

export const findHeader = (ask: Ask, hash: string): Promise<Header | null> =>
  ask('chain_getHeader', [hash], headerShape)

/** Reads the best chain in one request: one node's view. Null above its best block. */
export const listBlockHashes = async (
  ask: Ask,
  numbers: readonly number[],
): Promise<readonly (string | null)[]> => {
  const hashes = await ask('chain_getBlockHash', [numbers], hashesShape)
  if (hashes.length !== numbers.length) throw new Error('The node returned other block hashes than asked for')
  return hashes
}

export const getBlock = async (ask: Ask, hash: string): Promise<Block> => {
  const block = await ask('chain_getBlock', [hash], blockShape)
  if (block === null) throw new Error('The node does not know a block of its chain')
  return block
}

export const getRuntimeVersion = (ask: Ask, hash: string): Promise<RuntimeVersion> =>
  ask('state_getRuntimeVersion', [hash], runtimeVersionShape)

export const getMetadata = (ask: Ask, hash: string): Promise<string> =>
  ask('state_getMetadata', [hash], bytesShape)

/** Encoded `system.events` of a block. Throws where the node has pruned the block's state. */
export const getEvents = async (ask: Ask, hash: string): Promise<string> => {
  const events = await ask('state_getStorage', [eventsKey, hash], storageShape)
  if (events === null) throw new Error('The node returned no events of a block')
  return events
}

export const getBlockTime = (ask: Ask, hash: string): Promise<Date> =>
  ask('state_getStorage', [timestampKey, hash], timestampShape)

/** The balance at a storage key of `assets.account`, in a block; 0 without an entry. */
const getAssetBalance = (ask: Ask, key: string, hash: string): Promise<bigint> =>
  ask('state_getStorage', [key, hash], assetBalanceShape)

/** Whether a storage key has an entry, in a block. */
const hasStorage = async (ask: Ask, key: string, hash: string): Promise<boolean> =>
  (await ask('state_getStorage', [key, hash], storageShape)) !== null

/** In the finalized block. */
export const readBalance = async (
  ask: Ask,
  { asset, owner }: { readonly asset: string; readonly owner: AccountKey },
): Promise<bigint> => {
  const { hash } = await getFinalizedBlock(ask)
  return await getAssetBalance(ask, keyOf(asset, owner), hash)
}

export const hasAsset = async (ask: Ask, asset: string): Promise<boolean> => {
  const { hash } = await getFinalizedBlock(ask)
  return await hasStorage(ask, assetKeyOf('Asset', asset), hash)
}

/** The key is one of the double map `assets.account`, whose keys are both hashed with Blake2_128Concat. */
const keyOf = (asset: string, owner: AccountKey): string => {
  const account = Buffer.from(owner, 'hex')
  return `${assetKeyOf('Account', asset)}${digits(blake2AsHex(account, 128))}${owner}`
}

/** Keys of an asset's entries in a map of the pallet `assets` begin with it. */
const assetKeyOf = (item: 'Account' | 'Asset', asset: string): string => {
  const id = Buffer.alloc(4)
  id.writeUInt32LE(Number(asset))
  return `0x${[
    digits(xxhashAsHex('Assets', 128)),
    digits(xxhashAsHex(item, 128)),
    digits(blake2AsHex(id, 128)),
    id.toString('hex'),
  ].join('')}`
}

const digits = (hex: string): string => hex.slice(2)

const hashShape = z.string().regex(/^0x[0-9a-f]{64}$/)

const hex = z.string().regex(/^0x(?:[0-9a-f]{2})*$/)

/** Up to 2^32, the block number of the runtime. */
const blockNumber = z
  .string()
  .regex(/^0x[0-9a-f]{1,8}$/)
  .transform(Number)

const header = z.object({ number: blockNumber, parentHash: hashShape })

const headerShape = header.nullable()

const blockShape = z
  .object({ block: z.object({ header, extrinsics: z.array(hex) }) })
  .transform(({ block }) => ({ ...block.header, extrinsics: block.extrinsics }))
  .nullable()

interface Header {
  readonly number: number
  readonly parentHash: string
}

interface Block extends Header {
  readonly extrinsics: readonly string[]
}

const hashesShape = z.array(hashShape.nullable())

const runtimeVersionShape = z.object({
  specName: z.string().max(100),
  specVersion: z.int().min(0).max(0xffff_ffff),
  transactionVersion: z.int().min(0).max(0xffff_ffff),
})

export type RuntimeVersion = z.infer<typeof runtimeVersionShape>

const bytesShape = hex

const storageShape = hex.nullable()

/** A u64 of milliseconds, little-endian. */
const timestampShape = z
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
