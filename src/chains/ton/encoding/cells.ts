import { Address, Cell, type Slice } from '@ton/core'

// x402's own limit for such a message; a payment is some 500 bytes, and a wallet's code a thousand more.
const mostBytes = 4_096
// Messages of the network may be 512 cells deep, and a relayed payment stands in a list of others.
const mostDepth = 24
// Cells may share children, so 24 levels of a few bytes can unfold to millions of cells, and the library's
// dictionary loaders visit each of them. A payment with the code of an undeployed wallet unfolds to fewer than 60.
const mostUnfolded = 256

/** Longer texts than this hold no payment. */
export const mostBase64Length = Math.ceil(mostBytes / 3) * 4

/** Reads the one root of a bag of cells from base64; null for whatever is none, or is larger than a payment is. */
export const readCell = (base64: string): Cell | null => {
  if (base64.length > mostBase64Length || !/^[A-Za-z0-9+/]+={0,2}$/.test(base64)) return null
  try {
    const cell = Cell.fromBase64(base64)
    return cell.depth() <= mostDepth && isOrdinary(cell) && countUnfolded(cell) <= mostUnfolded ? cell : null
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

/**
 * The number of cells that a walk without memory visits: a shared cell counts once for each path to it. Linear in the
 * distinct cells. A double, because 1,024 levels of four references stay below 4^1024.
 */
export const countUnfolded = (root: Cell): number => {
  const counts = new Map<Cell, number>()
  const waiting = [root]
  for (let cell = waiting.at(-1); cell !== undefined; cell = waiting.at(-1)) {
    const open = cell.refs.filter((child) => !counts.has(child))
    if (open.length > 0) {
      waiting.push(...open)
      continue
    }
    counts.set(
      cell,
      cell.refs.reduce((sum, child) => sum + (counts.get(child) ?? 0), 1),
    )
    waiting.pop()
  }
  return counts.get(root) ?? 1
}

/**
 * Whether the library's loaders may read a message: none to the outside, and none whose head holds a dictionary (extra
 * currencies, libraries of a state). Wallets write neither for a payment, and the loaders would unfold the dictionary
 * before anything can be refused. Throws where the head is malformed.
 * Layout: CommonMsgInfo, CommonMsgInfoRelaxed and StateInit of block.tlb.
 */
export const isLoadable = (message: Cell): boolean => {
  const slice = message.beginParse()
  const isExternal = slice.loadBit()
  if (isExternal) {
    const isToOutside = slice.loadBit()
    if (isToOutside) return false
    slice.loadMaybeExternalAddress()
    if (isAnycast(slice)) return false
    slice.loadAddress()
    slice.loadCoins()
  } else {
    slice.skip(3)
    if (isAnycast(slice)) return false
    slice.loadMaybeAddress()
    if (isAnycast(slice)) return false
    slice.loadAddress()
    slice.loadCoins()
    const hasExtraCurrencies = slice.loadBit()
    if (hasExtraCurrencies) return false
    slice.loadCoins()
    slice.loadCoins()
    slice.skip(64 + 32)
  }
  const hasInit = slice.loadBit()
  if (!hasInit) return true
  const init = slice.loadBit() ? slice.loadRef().beginParse() : slice
  if (init.loadBit()) init.skip(5)
  if (init.loadBit()) init.skip(2)
  init.loadMaybeRef()
  init.loadMaybeRef()
  const hasLibraries = init.loadBit()
  return !hasLibraries
}

/**
 * Whether the address that follows is an anycast address (addr_std or addr_var with anycast set). The library applies
 * the rewrite to the cell's own bits when it loads one, so that the bits no longer match the cell's hash. TON has no
 * use for them in payments.
 */
export const isAnycast = (slice: Slice): boolean =>
  slice.remainingBits >= 3 && (slice.preloadUint(3) & 0b101) === 0b101

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
