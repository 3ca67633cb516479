import { type Address, beginCell, Cell, loadMessageRelaxed, loadTransaction, Slice } from '@ton/core'
import { describe, expect, it, vi } from 'vitest'
import { countUnfolded, readCell } from '../../../../src/chains/ton/encoding/cells.js'
import { decodePayment } from '../../../../src/chains/ton/exact/decode.js'
import { transactionShape } from '../../../../src/chains/ton/rpc/wireShapes.js'
import {
  readExternalMessage,
  readInternalMessage,
  readWalletRequest,
} from '../../../../src/chains/ton/wallets/walletMessage.js'
import { currencyForks, libraryForks, wideCurrencies } from '../../../support/ton/forks.js'
import { randomAddress } from '../../../support/ton/wallets.js'

/*
 * Cells can be shared: 162 bytes unfold to half a million dictionary entries, which the library visits
 * synchronously.
 */

const wallet = randomAddress()
const depths = [16, 19, 22, 24] as const

/** Cells that the library follows. */
const countVisited = (run: () => void): number => {
  const visiting = vi.spyOn(Slice.prototype, 'loadRef')
  run()
  const { length } = visiting.mock.calls
  visiting.mockRestore()
  return length
}

const toBase64 = (cell: Cell): string => cell.toBoc().toString('base64')

const internalHead = (currencies: Cell | null, source: Address | null = null) =>
  beginCell()
    .storeUint(0b0110, 4)
    .storeAddress(source)
    .storeAddress(wallet)
    .storeCoins(1n)
    .storeMaybeRef(currencies)
    .storeCoins(0n)
    .storeCoins(0n)
    .storeUint(0, 64 + 32)

const withCurrencies = (currencies: Cell) => internalHead(currencies).storeUint(0b00, 2).endCell()

/** `init` is a state init with the given code, data and libraries. */
const fromOutside = (init: { readonly code?: Cell; readonly data?: Cell; readonly libraries?: Cell }) =>
  beginCell()
    .storeUint(0b10, 2)
    .storeAddress(null)
    .storeAddress(wallet)
    .storeCoins(0n)
    .storeUint(0b1000, 4)
    .storeMaybeRef(init.code ?? null)
    .storeMaybeRef(init.data ?? null)
    .storeMaybeRef(init.libraries ?? null)
    .storeBit(0)
    .endCell()

/** A request for a v3 wallet whose only message has extra currencies. */
const requestWith = (currencies: Cell) =>
  beginCell().storeBuffer(Buffer.alloc(64)).storeUint(0, 104).storeRef(withCurrencies(currencies)).endCell()

const requestFromOutside = (body: Cell) =>
  beginCell()
    .storeUint(0b10, 2)
    .storeAddress(null)
    .storeAddress(wallet)
    .storeCoins(0n)
    .storeUint(0b01, 2)
    .storeRef(body)
    .endCell()

const places: readonly (readonly [string, (depth: number) => Cell])[] = [
  ['as extra currencies of the message', (depth) => withCurrencies(currencyForks(depth))],
  ['as libraries of the state', (depth) => fromOutside({ libraries: libraryForks(depth) })],
  ['as the code of the state', (depth) => fromOutside({ code: libraryForks(depth) })],
  ['as the data of the state', (depth) => fromOutside({ data: libraryForks(depth) })],
  [
    'as extra currencies of the signed message',
    (depth) => requestFromOutside(requestWith(currencyForks(depth))),
  ],
  ['as the body', (depth) => requestFromOutside(currencyForks(depth))],
]

describe('shared cells', () => {
  it('are visited by the library once per path', () => {
    // The premise of the limits: four more levels are sixteen times as many cells.
    const load = (depth: number) =>
      countVisited(() => loadMessageRelaxed(withCurrencies(currencyForks(depth)).beginParse()))
    expect(load(12)).toBeGreaterThan(15 * load(8))
  })

  for (const depth of depths) {
    it.each(places)(`are refused at depth ${depth} without being unfolded, %s`, (_, build) => {
      const boc = toBase64(build(depth))
      const decodings = [
        () => decodePayment({ settlementBoc: boc, asset: '' }),
        () =>
          decodePayment({
            signedBoc: boc,
            authorization: {
              from: '',
              to: '',
              jettonMaster: '',
              jettonAmount: '0',
            },
          }),
      ]
      for (const decode of decodings) {
        const visited = countVisited(() => expect(decode()).toEqual({ refusedAs: 'invalid_boc_format' }))
        expect(visited).toBeLessThan(1_000)
      }
    })
  }

  it.each([5, 7])('are refused without sharing too: a dictionary of 2^%i currencies', (depth) => {
    const cell = withCurrencies(wideCurrencies(depth))
    expect(loadMessageRelaxed(cell.beginParse()).info).toMatchObject({ type: 'internal' })
    expect(readInternalMessage(cell)).toBeNull()
    expect(readWalletRequest(requestWith(wideCurrencies(depth)))).toBeNull()
    const decode = () => decodePayment({ settlementBoc: toBase64(cell), asset: '' })
    const visited = countVisited(() => expect(decode()).toEqual({ refusedAs: 'invalid_boc_format' }))
    expect(visited).toBeLessThan(1_000)
  })

  it('are refused in a small dictionary too: wallets write no extra currencies or libraries', () => {
    expect(readInternalMessage(withCurrencies(currencyForks(1)))).toBeNull()
    expect(readExternalMessage(fromOutside({ libraries: libraryForks(1) }))).toBeNull()
    expect(readExternalMessage(fromOutside({ code: new Cell(), data: new Cell() }))).not.toBeNull()
    expect(readInternalMessage(internalHead(null).storeUint(0b00, 2).endCell())).not.toBeNull()
  })

  it('are counted once per path, but visited once each: a trillion paths', () => {
    let wide = new Cell()
    for (let depth = 0; depth < 20; depth++) wide = new Cell({ refs: [wide, wide, wide, wide] })
    expect(countUnfolded(wide)).toBe((4 ** 21 - 1) / 3)
    expect(readCell(toBase64(wide))).toBeNull()
  })

  it('are accepted up to 256', () => {
    expect(countUnfolded(currencyForks(7))).toBe(255)
    expect(readCell(toBase64(currencyForks(7)))).not.toBeNull()
    expect(readCell(toBase64(currencyForks(8)))).toBeNull()
  })
})

describe('a transaction of a node', () => {
  const id = { lt: '1', hash: '' }

  /** An ordinary transfer's transaction with its incoming and outgoing messages. */
  const transactionWith = (messages: Cell, currencies: Cell | null = null): Cell =>
    beginCell()
      .storeUint(0b0111, 4)
      .storeBuffer(Buffer.alloc(32, 1))
      .storeUint(7, 64)
      .storeBuffer(Buffer.alloc(32, 2))
      .storeUint(6, 64)
      .storeUint(1_700_000_000, 32)
      .storeUint(1, 15)
      .storeUint(0b1010, 4)
      .storeRef(messages)
      .storeCoins(0n)
      .storeMaybeRef(currencies)
      .storeRef(beginCell().storeUint(0x72, 8).storeBuffer(Buffer.alloc(64)).endCell())
      // A storage transaction is the shortest description: trans_storage$0001, no phase.
      .storeRef(beginCell().storeUint(0b0001, 4).storeCoins(0n).storeBit(0).storeBit(0).endCell())
      .endCell()

  const parse = (cell: Cell) => transactionShape.safeParse({ data: toBase64(cell), transaction_id: id })
  const inMessage = (message: Cell) => beginCell().storeBit(1).storeRef(message).storeBit(0).endCell()

  it('is read with its messages', () => {
    const plain = transactionWith(inMessage(internalHead(null, wallet).storeUint(0b00, 2).endCell()))
    expect(loadTransaction(plain.beginParse()).lt).toBe(7n)
    expect(parse(plain).data).toMatchObject({ lt: 7n, inMessage: { info: { type: 'internal' } } })
  })

  it.each(depths)('is read without its messages when they unfold to millions of cells: depth %i', (depth) => {
    for (const messages of [
      inMessage(withCurrencies(currencyForks(depth))),
      beginCell().storeBit(0).storeMaybeRef(libraryForks(depth)).endCell(),
    ]) {
      const cell = transactionWith(messages)
      const { data } = parse(cell)
      expect(data).toMatchObject({ lt: 7n, prevTransactionLt: 6n, now: 1_700_000_000 })
      expect(data?.inMessage).toBeUndefined()
      expect(data?.outMessages.size).toBe(0)
      expect(countVisited(() => parse(cell))).toBeLessThan(1_000)
    }
  })

  it.each(depths)('is null when the rest of it does: depth %i', (depth) => {
    const cell = transactionWith(inMessage(withCurrencies(currencyForks(1))), currencyForks(depth))
    expect(parse(cell).success).toBe(false)
    expect(countVisited(() => parse(cell))).toBeLessThan(1_000)
  })
})
