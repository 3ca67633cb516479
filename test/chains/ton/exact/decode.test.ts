import { beginCell, Cell } from '@ton/core'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { isValidEd25519Signature } from '../../../../src/chains/common/ed25519.js'
import { readCell } from '../../../../src/chains/ton/encoding/cells.js'
import { decodePayment } from '../../../../src/chains/ton/exact/decode.js'
import { clientPaidPayment, sponsoredPayment } from '../../../support/ton/payment.js'
import { startTonChain, type TonChain } from '../../../support/ton/tonChain.js'
import { randomAddress, type TestWallet } from '../../../support/ton/wallets.js'

let chain: TonChain
let wallet: TestWallet
let boc: Buffer

beforeAll(async () => {
  chain = await startTonChain()
  wallet = await chain.createPayer()
  const body = await sponsoredPayment({ chain, wallet, payTo: randomAddress() })
  boc = Buffer.from(String(body.paymentPayload.payload.settlementBoc), 'base64')
})
afterAll(() => chain.stop())

const decode = (bytes: Uint8Array) =>
  decodePayment({ settlementBoc: Buffer.from(bytes).toString('base64'), asset: '' })

const describeBytes = (bytes: Uint8Array): string => {
  const decoding = decode(bytes)
  if ('refusedAs' in decoding) return decoding.refusedAs
  const { request } = decoding.decoded
  return isValidEd25519Signature({
    publicKey: wallet.keys.publicKey,
    message: request.signedHash,
    signature: request.signature,
  })
    ? 'signed'
    : 'unsigned'
}

describe('payment decoding', () => {
  it('never throws for arbitrary bytes', () => {
    fc.assert(fc.property(fc.uint8Array({ maxLength: 300 }), (bytes) => 'refusedAs' in decode(bytes)))
  })

  it('never throws for arbitrary bytes after the magic number of a bag of cells', () => {
    const head = Buffer.from('b5ee9c72', 'hex')
    fc.assert(
      fc.property(
        fc.uint8Array({ maxLength: 200 }),
        (rest) => 'refusedAs' in decode(Buffer.concat([head, rest])),
      ),
    )
  })

  it('finds the original signature valid only for the original signed hash, whatever byte is changed', () => {
    expect(describeBytes(boc)).toBe('signed')
    const original = decode(boc)
    fc.assert(
      fc.property(fc.nat(boc.length - 1), fc.integer({ min: 1, max: 255 }), (at, change) => {
        const mutated = Buffer.from(boc)
        mutated.writeUInt8(mutated.readUInt8(at) ^ change, at)
        if (describeBytes(mutated) !== 'signed') return
        // Unsigned parts may differ, such as the message's destination; the signed hash may not.
        expect(signedHashOf(mutated)).toEqual('decoded' in original && original.decoded.request.signedHash)
      }),
      { numRuns: 500 },
    )
  })

  it('gives the same result for another serialization of the same cells', () => {
    const [cell] = Cell.fromBoc(boc)
    const respelled = cell?.toBoc({ idx: true, crc32: false }) ?? Buffer.alloc(0)
    expect(respelled.equals(boc)).toBe(false)
    expect(signedHashOf(respelled)).toEqual(signedHashOf(boc))
  })

  it.each(['v3r1', 'v3r2', 'v4r2', 'v5r1'] as const)(
    'finds the signed hash in the message of a %s wallet',
    async (kind) => {
      const payer = await chain.createPayer({ kind })
      const payTo = randomAddress()
      const body = await clientPaidPayment({ chain, wallet: payer, payTo, queryId: 7n })
      const { signedBoc } = body.paymentPayload.payload
      const decoding = decode(Buffer.from(String(signedBoc), 'base64'))
      // Not valid in the other form.
      expect(decoding).toEqual({ refusedAs: 'invalid_boc_format' })
      const authorization = {
        from: '',
        to: '',
        jettonMaster: '',
        jettonAmount: '0',
      }
      const decoded = decodePayment({ signedBoc: String(signedBoc), authorization })
      if ('refusedAs' in decoded) throw new Error(decoded.refusedAs)
      const { request, transfer, message } = decoded.decoded
      expect(message.wallet.equals(payer.address)).toBe(true)
      expect(transfer.destination.equals(payTo)).toBe(true)
      expect({ amount: transfer.amount, queryId: transfer.queryId }).toEqual({
        amount: 1_000_000n,
        queryId: 7n,
      })
      expect(
        isValidEd25519Signature({
          publicKey: payer.keys.publicKey,
          message: request.signedHash,
          signature: request.signature,
        }),
      ).toBe(true)
    },
  )

  it('refuses exotic cells, and cells deeper than a payment', () => {
    // Library reference cell: type and hash.
    const bits = beginCell().storeUint(2, 8).storeBuffer(Buffer.alloc(32, 7)).endCell().bits
    const library = new Cell({ exotic: true, bits })
    expect(readCell(new Cell({ refs: [library] }).toBoc().toString('base64'))).toBeNull()
    let deep = new Cell()
    for (let depth = 0; depth < 30; depth++) deep = new Cell({ refs: [deep] })
    expect(readCell(deep.toBoc().toString('base64'))).toBeNull()
    expect(readCell(new Cell().toBoc().toString('base64'))).not.toBeNull()
  })
})

const signedHashOf = (bytes: Uint8Array) => {
  const decoding = decode(bytes)
  return 'decoded' in decoding && decoding.decoded.request.signedHash
}
