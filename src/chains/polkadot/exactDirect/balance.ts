import { blake2AsHex, xxhashAsHex } from '@polkadot/util-crypto'
import type { Ask } from '../../common/direct/node.js'
import type { AccountKey } from '../encoding/address.js'
import { getAssetBalance, getFinalizedBlock, hasStorage } from '../rpc/rpc.js'

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
