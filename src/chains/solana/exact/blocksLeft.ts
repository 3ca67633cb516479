import { decodeBase58 } from '../encoding/base58.js'
import type { Account } from '../rpc/wireShapes.js'

const lifetimeBlocks = 150
const headerLength = 8
// A blockhash and what a signature cost at that time.
const entryLength = 40

/**
 * For how many blocks more a blockhash can be used, from the sysvar that lists the newest ones first; null where the
 * node does not tell: then only the simulation says whether it can be used at all.
 */
export const countBlocksLeft = (sysvar: Account | null | undefined, blockhash: string): number | null => {
  const wanted = decodeBase58(blockhash)
  if (sysvar == null || wanted === null || sysvar.data.length < headerLength + entryLength) return null
  const { data } = sysvar
  for (let age = 0; headerLength + (age + 1) * entryLength <= data.length; age += 1) {
    const start = headerLength + age * entryLength
    if (data.subarray(start, start + wanted.length).equals(wanted)) return lifetimeBlocks - age
  }
  return 0
}
