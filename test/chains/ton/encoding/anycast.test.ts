import { beginCell, type Cell } from '@ton/core'
import { describe, expect, it } from 'vitest'
import { readJettonTransfer } from '../../../../src/chains/ton/tokens/jettons.js'
import { readExternalMessage, readInternalMessage } from '../../../../src/chains/ton/wallets/walletMessage.js'
import { randomAddress } from '../../../support/ton/wallets.js'

/*
 * The library applies the rewrite of an anycast address to the bits of the cell, while the cell's hash stays
 * the same: what is signed and sent would differ from what was checked.
 */

/** addr_std with anycast: depth 5, prefix 31, then workchain and hash. */
const anycast = () =>
  beginCell().storeUint(0b101, 3).storeUint(5, 5).storeUint(31, 5).storeInt(0, 8).storeUint(0, 256).endCell()
const plain = () => beginCell().storeAddress(randomAddress()).endCell()
const none = () => beginCell().storeUint(0, 2).endCell()

const internalMessage = (source: Cell, destination: Cell) =>
  beginCell()
    .storeUint(0b0110, 4)
    .storeSlice(source.beginParse())
    .storeSlice(destination.beginParse())
    .storeCoins(1n)
    .storeUint(0, 1 + 4 + 4 + 64 + 32 + 2)
    .endCell()

const externalMessage = (destination: Cell) =>
  beginCell()
    .storeUint(0b1000, 4)
    .storeSlice(destination.beginParse())
    .storeCoins(0n)
    .storeUint(0, 2)
    .endCell()

const transfer = (destination: Cell, response: Cell) =>
  beginCell()
    .storeUint(0x0f8a7ea5, 32)
    .storeUint(7, 64)
    .storeCoins(1n)
    .storeSlice(destination.beginParse())
    .storeSlice(response.beginParse())
    .storeBit(0)
    .storeCoins(0n)
    .storeBit(0)
    .endCell()

const messages: readonly (readonly [string, () => Cell, (cell: Cell) => unknown])[] = [
  ['source of a message', () => internalMessage(anycast(), plain()), readInternalMessage],
  ['destination of a message', () => internalMessage(none(), anycast()), readInternalMessage],
  ['destination of an external message', () => externalMessage(anycast()), readExternalMessage],
  ['recipient of a jetton transfer', () => transfer(anycast(), none()), readJettonTransfer],
  ['response destination of a jetton transfer', () => transfer(plain(), anycast()), readJettonTransfer],
]

describe('an anycast address', () => {
  it.each(messages)('is refused as the %s, and the cell keeps its bits', (_, build, read) => {
    const cell = build()
    const bits = cell.bits.toString()
    expect(read(cell)).toBeNull()
    expect(cell.bits.toString()).toBe(bits)
  })

  it('is the only difference: the same cells with plain addresses are read', () => {
    expect(readInternalMessage(internalMessage(none(), plain()))).not.toBeNull()
    expect(readExternalMessage(externalMessage(plain()))).not.toBeNull()
    expect(readJettonTransfer(transfer(plain(), none()))).not.toBeNull()
  })
})
