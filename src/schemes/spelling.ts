import { foldAddress } from '../protocol/foldAddress.js'
import type { Scheme } from './scheme.js'

/** One spelling of an address or asset of the scheme's network, for comparisons. */
export const normalizeWith = (scheme: Pick<Scheme, 'normalizeAddress'>, text: string): string =>
  scheme.normalizeAddress?.(text) ?? foldAddress(text)

/** Whether two spellings are one address or asset of the scheme's network. */
export const isSameText = (scheme: Scheme, left: string, right: string): boolean =>
  normalizeWith(scheme, left) === normalizeWith(scheme, right)
