import { type Builder, beginCell, Cell } from '@ton/core'

/**
 * A dictionary whose forks share their children: `depth` + 1 cells that unfold to 2^depth leaves, all of them valid
 * entries. The leaf's label fills the rest of the key with zeros (block.tlb, HmLabel).
 */
const forks = (depth: number, keyBits: number, storeValue: (leaf: Builder) => Builder): Cell => {
  const restBits = keyBits - depth
  let cell = storeValue(
    beginCell()
      .storeUint(0b110, 3)
      .storeUint(restBits, Math.ceil(Math.log2(restBits + 1))),
  ).endCell()
  for (let level = 0; level < depth; level++) {
    cell = beginCell().storeUint(0b00, 2).storeRef(cell).storeRef(cell).endCell()
  }
  return cell
}

/** Extra currencies: amounts by a number of 32 bits. */
export const currencyForks = (depth: number): Cell => forks(depth, 32, (leaf) => leaf.storeUint(0, 5))

/** Libraries of a state: a flag and code by a hash. */
export const libraryForks = (depth: number): Cell =>
  forks(depth, 256, (leaf) => leaf.storeBit(1).storeRef(new Cell()))

/** A dictionary of extra currencies without shared cells: 2^depth entries, each of another amount. */
export const wideCurrencies = (depth: number): Cell => {
  const grow = (level: number, amount: number): Cell =>
    level === depth
      ? beginCell()
          .storeUint(0b110, 3)
          .storeUint(32 - depth, 5)
          .storeUint(2, 5)
          .storeUint(amount, 16)
          .endCell()
      : beginCell()
          .storeUint(0b00, 2)
          .storeRef(grow(level + 1, amount * 2))
          .storeRef(grow(level + 1, amount * 2 + 1))
          .endCell()
  return grow(0, 0)
}
