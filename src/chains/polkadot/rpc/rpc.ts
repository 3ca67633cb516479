import type { Logger } from '../../../ports/logger.js'
import { type Ask, createDirectNode, type DirectNode } from '../../common/direct/node.js'
import type { Endpoint } from '../../nodes/endpoint.js'
import type { Proof } from '../../nodes/endpointHealth.js'
import { createJsonRpcEndpoint } from '../../nodes/jsonRpcEndpoint.js'
import type { PolkadotNetworkSettings } from '../settings.js'
import {
  assetBalanceShape,
  type Block,
  blockShape,
  bytesShape,
  type Header,
  hashesShape,
  hashShape,
  headerShape,
  type RuntimeVersion,
  runtimeVersionShape,
  storageShape,
  timestampShape,
} from './wireShapes.js'

// Storage keys: twox128 of the pallet's and of the item's name.
const eventsKey = '0x26aa394eea5630e07c48ae0c9558cef780d41e5e16056765bc8461851072c9d7'
const timestampKey = '0xf0c365c3cf59d671eb72da0e7a4113c49f1f0515f462cdcf84e0f1d6045dfcbb'

const referenceLength = 32

/** Reference of the network whose first block has this hash. */
export const toReference = (genesisHash: string): string => genesisHash.slice(2, 2 + referenceLength)

// Finality can lag for minutes without a fault of the node.
const maxHeadAgeSeconds = 300

export interface BlockReference {
  readonly number: number
  readonly hash: string
}

export const createNode = (
  { network, chainId, rpcUrls }: PolkadotNetworkSettings,
  { timeoutMs, logger }: { readonly timeoutMs: number; readonly logger: Logger },
): DirectNode =>
  createDirectNode(
    rpcUrls.map((url) => createJsonRpcEndpoint(url, timeoutMs)),
    { network, chain: chainId, prove, maxHeadAgeSeconds, logger },
  )

/** The head is the finalized one: a node without finality proves no payment. */
const prove = async ({ request }: Endpoint): Promise<Proof> => {
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
export const getAssetBalance = (ask: Ask, key: string, hash: string): Promise<bigint> =>
  ask('state_getStorage', [key, hash], assetBalanceShape)

/** Whether a storage key has an entry, in a block. */
export const hasStorage = async (ask: Ask, key: string, hash: string): Promise<boolean> =>
  (await ask('state_getStorage', [key, hash], storageShape)) !== null
