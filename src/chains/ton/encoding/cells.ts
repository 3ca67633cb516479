import { Address, Cell, type Slice } from '@ton/core'

// x402's limit for such a message; a payment has about 500 bytes, a wallet's code 1,000 more.
const maxBytes = 4_096
// Messages on chain may be 512 cells deep, and a relayed payment is nested in a list.
const maxDepth = 24
// Cells may share children, so 24 levels of a few bytes can unfold to millions of cells, and the library's
// dictionary loaders visit each of them. A payment with the code of an undeployed wallet unfolds to fewer
// than 60.
const maxUnfolded = 256

// Longer base64 cannot be a payment.
export const maxBase64Length = Math.ceil(maxBytes / 3) * 4

/** Reads a bag of cells with one root from base64; null if invalid or too large. */
export const readCell = (base64: string): Cell | null => {
  if (base64.length > maxBase64Length || !/^[A-Za-z0-9+/]+={0,2}$/.test(base64)) return null
  try {
    const cell = Cell.fromBase64(base64)
    return cell.depth() <= maxDepth && isOrdinary(cell) && countUnfolded(cell) <= maxUnfolded ? cell : null
  } catch {
    return null
  }
}

/** Null if the parser throws. */
export const tryParse = <T>(parse: () => T): T | null => {
  try {
    return parse()
  } catch {
    return null
  }
}

// Raw, or friendly in either alphabet of base64. The library also reads what only begins with a raw address.
const addressForm = /^-?[0-9]{1,3}:[0-9a-fA-F]{64}$|^[A-Za-z0-9_+/-]{48}$/

/** Any address form; null if invalid. */
export const readAddress = (text: string): Address | null =>
  addressForm.test(text) ? tryParse(() => Address.parse(text)) : null

export const isEmpty = (slice: Slice): boolean => slice.remainingBits === 0 && slice.remainingRefs === 0

/**
 * Number of cells visited by a traversal without memoization: a shared cell counts once per path. Linear in
 * the distinct cells. A double, because 1,024 levels of four references stay below 4^1024.
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
 * Whether the library may load a message: not an external-out message, and no dictionary in its head (extra
 * currencies, libraries of a state), which the library would unfold before any check. Wallets do not use
 * them for payments. Throws for a malformed head. Layout: CommonMsgInfo, CommonMsgInfoRelaxed and StateInit
 * of block.tlb.
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
 * Whether the next address is anycast (addr_std or addr_var). The library rewrites the cell's own bits when
 * it loads one, so that they no longer match the cell's hash. Payments do not use anycast.
 */
export const isAnycast = (slice: Slice): boolean =>
  slice.remainingBits >= 3 && (slice.preloadUint(3) & 0b101) === 0b101

/** Exotic cells refer to content stored elsewhere; a payment's message must be complete. */
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
