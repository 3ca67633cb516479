import { Address, Cell, type Slice } from '@ton/core'

// x402's own limit for such a message; a payment is some 500 bytes, and a wallet's code a thousand more.
const mostBytes = 4_096
// Messages of the network may be 512 cells deep, and a relayed payment stands in a list of others.
const mostDepth = 24

/** Longer texts than this hold no payment. */
export const mostBase64Length = Math.ceil(mostBytes / 3) * 4

/** Reads the one root of a bag of cells from base64; null for whatever is none, or is larger than a payment is. */
export const readCell = (base64: string): Cell | null => {
  if (base64.length > mostBase64Length || !/^[A-Za-z0-9+/]+={0,2}$/.test(base64)) return null
  try {
    const cell = Cell.fromBase64(base64)
    return cell.depth() <= mostDepth && isOrdinary(cell) ? cell : null
  } catch {
    return null
  }
}

/** Parses with code that throws on what it does not know; null where it did. */
export const tryParse = <T>(parse: () => T): T | null => {
  try {
    return parse()
  } catch {
    return null
  }
}

/** Reads an address in any of its forms; null for whatever is none. */
export const readAddress = (text: string): Address | null => tryParse(() => Address.parse(text))

/** Whether nothing is left to read. */
export const isEmpty = (slice: Slice): boolean => slice.remainingBits === 0 && slice.remainingRefs === 0

/** Cells of other types stand for content that is elsewhere; a message that we judge is all here. */
const isOrdinary = (root: Cell): boolean => {
  const seen = new Set<Cell>()
  const waiting = [root]
  for (let cell = waiting.pop(); cell !== undefined; cell = waiting.pop()) {
    if (cell.isExotic) return false
    if (seen.has(cell)) continue
    seen.add(cell)
    waiting.push(...cell.refs)
  }
  return true
}
