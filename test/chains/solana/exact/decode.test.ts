import { base58 } from '@scure/base'
import { VersionedTransaction } from '@solana/web3.js'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { decodeBase58, encodeBase58, readAddress } from '../../../../src/chains/solana/encoding/base58.js'
import { decodeTransaction, encodeTransaction } from '../../../../src/chains/solana/exact/decode.js'
import type { SolanaPaymentBody } from '../../../support/solana/payment.js'
import { openScene, type SolanaScene, type SolanaService } from '../scene.js'

let scene: SolanaScene
let service: SolanaService

beforeAll(async () => {
  scene = await openScene()
  service = await scene.open()
})
afterAll(() => scene.close())

const textOf = ({ paymentPayload }: SolanaPaymentBody) => paymentPayload.payload.transaction
const withText = (body: SolanaPaymentBody, transaction: string) => ({
  ...body,
  paymentPayload: { ...body.paymentPayload, payload: { transaction } },
})

describe('base58', () => {
  it('equals the output of a reference implementation, and round-trips', () => {
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 1, maxLength: 64 }), (bytes) => {
        const text = encodeBase58(bytes)
        expect(text).toBe(base58.encode(bytes))
        expect(decodeBase58(text)).toEqual(Buffer.from(bytes))
      }),
    )
  })

  it('refuses invalid characters, and addresses of another length', () => {
    for (const text of ['', '0', 'O', 'I', 'l', ' 1', '1'.repeat(31), '1'.repeat(33), 'z'.repeat(91)]) {
      expect(readAddress(text)).toBeNull()
    }
    expect(readAddress('1'.repeat(32))).toBe('1'.repeat(32))
  })
})

describe('transaction decoding', () => {
  it('reads what the client library wrote, and encodes it again', () => {
    const text = textOf(scene.plan().body)
    const library = VersionedTransaction.deserialize(Buffer.from(text, 'base64'))
    const transaction = decodeTransaction(text)
    expect(transaction).toMatchObject({
      keys: library.message.staticAccountKeys.map((key) => key.toBase58()),
      requiredSignatures: 2,
      blockhash: library.message.recentBlockhash,
      usesLookupTables: false,
    })
    expect(encodeTransaction(transaction?.message ?? new Uint8Array(), library.signatures)).toBe(text)
  })

  it('returns null for arbitrary bytes, and never throws', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 1_400 }), (bytes) => {
        expect(decodeTransaction(Buffer.from(bytes).toString('base64'))).toBeNull()
      }),
    )
    fc.assert(
      fc.property(fc.string(), (text) => {
        expect(decodeTransaction(text)).toBeNull()
      }),
    )
  })

  it('accepts only canonical encodings', () => {
    const original = Buffer.from(textOf(scene.plan().body), 'base64')
    fc.assert(
      fc.property(mutation(original.length), ({ at, value }) => {
        const bytes = Buffer.from(original)
        bytes[at] = value
        const read = decodeTransaction(bytes.toString('base64'))
        if (read !== null)
          expect(encodeTransaction(read.message, read.signatures)).toBe(bytes.toString('base64'))
      }),
      { numRuns: 500 },
    )
  })

  it('leads to a refusal after any change of a signed byte or of the signature', async () => {
    const { body } = scene.plan()
    const original = Buffer.from(textOf(body), 'base64')
    expect(await service.verify(body)).toMatchObject({ isValid: true })
    await fc.assert(
      fc.asyncProperty(mutation(original.length), async ({ at, value }) => {
        // The bytes at our signature are replaced anyway.
        fc.pre(original[at] !== value && (at === 0 || at > 64))
        const bytes = Buffer.from(original)
        bytes[at] = value
        expect(await service.verify(withText(body, bytes.toString('base64')))).toMatchObject({
          isValid: false,
        })
      }),
      { numRuns: 400 },
    )
  })

  it('leads to a refusal when bytes are missing or appended', async () => {
    const { body } = scene.plan()
    const original = Buffer.from(textOf(body), 'base64')
    await fc.assert(
      fc.asyncProperty(
        fc.nat({ max: original.length - 1 }),
        fc.uint8Array({ minLength: 1, maxLength: 40 }),
        async (length, tail) => {
          for (const bytes of [original.subarray(0, length), Buffer.concat([original, tail])]) {
            expect(await service.verify(withText(body, bytes.toString('base64')))).toMatchObject({
              invalidReason: 'invalid_exact_svm_payload_transaction_could_not_be_decoded',
            })
          }
        },
      ),
      { numRuns: 60 },
    )
  })

  it('refuses a transaction with a duplicate account', () => {
    const { body, payer } = scene.plan()
    const original = Buffer.from(textOf(body), 'base64')
    const key = payer.publicKey.toBuffer()
    const at = original.indexOf(key)
    const doubled = Buffer.from(original)
    doubled.set(key, at + 32)
    expect(decodeTransaction(doubled.toString('base64'))).toBeNull()
  })
})

const mutation = (length: number) =>
  fc.record({ at: fc.nat({ max: length - 1 }), value: fc.integer({ min: 0, max: 255 }) })
