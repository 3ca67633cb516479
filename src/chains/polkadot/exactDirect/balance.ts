import { blake2AsHex, xxhashAsHex } from '@polkadot/util-crypto'
import type { Ask } from '../../common/direct/node.js'
import type { AccountKey } from '../encoding/address.js'
import { getAssetBalance, getFinalizedBlock } from '../rpc/rpc.js'

/** In the finalized block. */
export const readBalance = async (
  ask: Ask,
  { asset, owner }: { readonly asset: string; readonly owner: AccountKey },
): Promise<bigint> => {
  const { hash } = await getFinalizedBlock(ask)
  return await getAssetBalance(ask, keyOf(asset, owner), hash)
}

/** Of the double map `assets.account`: both of its keys are hashed with Blake2_128Concat. */
const keyOf = (asset: string, owner: AccountKey): string => {
  const id = Buffer.alloc(4)
  id.writeUInt32LE(Number(asset))
  const account = Buffer.from(owner, 'hex')
  return `0x${[
    digits(xxhashAsHex('Assets', 128)),
    digits(xxhashAsHex('Account', 128)),
    digits(blake2AsHex(id, 128)),
    id.toString('hex'),
    digits(blake2AsHex(account, 128)),
    owner,
  ].join('')}`
}

const digits = (hex: string): string => hex.slice(2)
