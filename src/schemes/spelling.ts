import { foldAddress } from '../protocol/assetId.js'
import type { Network } from './network.js'

/** One spelling of an address or asset of the network, for comparisons. */
export const normalizeWith = (network: Pick<Network, 'normalizeAddress'>, text: string): string =>
  network.normalizeAddress(text) ?? foldAddress(text)

/** Whether two spellings are one address or asset of the network. */
export const isSameText = (
  network: Pick<Network, 'normalizeAddress'>,
  left: string,
  right: string,
): boolean => normalizeWith(network, left) === normalizeWith(network, right)
