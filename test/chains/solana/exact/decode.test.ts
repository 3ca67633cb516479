import { base58 } from '@scure/base'
import { getAssociatedTokenAddressSync } from '@solana/spl-token'
import { Keypair, Message, MessageV0, PublicKey, VersionedTransaction } from '@solana/web3.js'
import fc from 'fast-check'
import { beforeAll, describe, expect, it } from 'vitest'
import { decodeBase58, encodeBase58 } from '../../../../src/chains/common/base58.js'
import { readAddress } from '../../../../src/chains/solana/encoding/keys.js'
import { createAssociatedAccounts } from '../../../../src/chains/solana/encoding/tokenAccounts.js'
import {
  decodeTransaction,
  encodeTransaction,
  type Transaction,
} from '../../../../src/chains/solana/exact/decode.js'
import { decodeByLibrary } from '../../../support/solana/decodeByLibrary.js'
import type { SolanaPaymentBody } from '../../../support/solana/payment.js'
import { token2022Program, tokenProgram } from '../../../support/solana/programs.js'
import { useScene } from '../../../support/useScene.js'
import { openScene, type SolanaService } from '../scene.js'

const scene = useScene(openScene, { isResetAfterEach: false })
let service: SolanaService

beforeAll(async () => {
  service = await scene.open()
})

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

  it('agrees with the client library on every change of a transaction', () => {
    const originals = [
      scene.plan(),
      scene.plan({ isLegacy: true }),
      scene.plan({ memo: 'm'.repeat(200) }),
    ].map(({ body }) => Buffer.from(textOf(body), 'base64'))
    const change = fc.record({
      original: fc.constantFrom(...originals),
      at: fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
      removed: fc.nat({ max: 3 }),
      inserted: fc.uint8Array({ maxLength: 3 }),
    })
    let accepted = 0
    fc.assert(
      fc.property(change, ({ original, at, removed, inserted }) => {
        const bytes = [...original].toSpliced(Math.floor(at * original.length), removed, ...inserted)
        const text = Buffer.from(bytes).toString('base64')
        const read = decodeTransaction(text)
        if (read !== null) accepted += 1
        expect(plain(read)).toEqual(plain(decodeByLibrary(text)))
      }),
      { numRuns: 3_000 },
    )
    expect(accepted).toBeGreaterThan(100)
  })

  it('agrees with the client library on messages of any shape', () => {
    const key = fc.uint8Array({ minLength: 32, maxLength: 32 }).map((bytes) => new PublicKey(bytes))
    const indexes = fc.array(fc.integer({ min: 0, max: 255 }), { maxLength: 140 })
    const shape = fc.record({
      isLegacy: fc.boolean(),
      header: fc.record({
        numRequiredSignatures: fc.integer({ min: 1, max: 3 }),
        numReadonlySignedAccounts: fc.integer({ min: 0, max: 3 }),
        numReadonlyUnsignedAccounts: fc.integer({ min: 0, max: 4 }),
      }),
      keys: fc.array(key, { minLength: 1, maxLength: 8 }),
      blockhash: key,
      instructions: fc.array(
        fc.record({
          programIdIndex: fc.integer({ min: 0, max: 8 }),
          accountKeyIndexes: fc.oneof(fc.array(fc.integer({ min: 0, max: 7 }), { maxLength: 8 }), indexes),
          data: fc.uint8Array({ maxLength: 300 }),
        }),
        { maxLength: 4 },
      ),
      lookups: fc.array(fc.record({ accountKey: key, writableIndexes: indexes, readonlyIndexes: indexes }), {
        maxLength: 2,
      }),
    })
    let accepted = 0
    fc.assert(
      fc.property(shape, ({ isLegacy, header, keys, blockhash, instructions, lookups }) => {
        const message = isLegacy
          ? new Message({
              header,
              accountKeys: keys,
              recentBlockhash: blockhash.toBase58(),
              instructions: instructions.map(({ programIdIndex, accountKeyIndexes, data }) => ({
                programIdIndex,
                accounts: accountKeyIndexes,
                data: base58.encode(data),
              })),
            })
          : new MessageV0({
              header,
              staticAccountKeys: keys,
              recentBlockhash: blockhash.toBase58(),
              compiledInstructions: instructions,
              addressTableLookups: lookups,
            })
        const text = serialize(message)
        fc.pre(text !== null)
        const read = decodeTransaction(text ?? '')
        if (read !== null) accepted += 1
        expect(plain(read)).toEqual(plain(decodeByLibrary(text ?? '')))
      }),
      { numRuns: 1_000 },
    )
    expect(accepted).toBeGreaterThan(20)
  })

  it.each([
    ['with a byte too many', Buffer.from([0x82, 0x00])],
    ['with two bytes too many', Buffer.from([0x82, 0x80, 0x00])],
  ])('refuses a length %s', (_, length) => {
    const bytes = Buffer.from(textOf(scene.plan().body), 'base64')
    expect(bytes[0]).toBe(2)
    const longer = Buffer.concat([length, bytes.subarray(1)])
    expect(decodeTransaction(longer.toString('base64'))).toBeNull()
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

describe('associated token accounts', () => {
  it('are those of the token library', () => {
    const find = createAssociatedAccounts()
    for (const program of [tokenProgram, token2022Program]) {
      for (let run = 0; run < 100; run += 1) {
        const [owner, mint] = [Keypair.generate().publicKey, Keypair.generate().publicKey]
        const expected = getAssociatedTokenAddressSync(mint, owner, true, new PublicKey(program))
        const tokens = { owner: owner.toBase58(), mint: mint.toBase58(), program }
        expect(find(tokens)).toBe(expected.toBase58())
      }
    }
  })
})

/** Bytes as hex, so that `Buffer` and `Uint8Array` compare equal. */
const plain = (transaction: Transaction | null) =>
  transaction === null
    ? null
    : {
        ...transaction,
        message: toHex(transaction.message),
        signatures: transaction.signatures.map(toHex),
        instructions: transaction.instructions.map(({ data, ...rest }) => ({ ...rest, data: toHex(data) })),
      }

const toHex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex')

/** Null if it does not fit into a transaction. */
const serialize = (message: Message | MessageV0): string | null => {
  try {
    return Buffer.from(new VersionedTransaction(message).serialize()).toString('base64')
  } catch {
    return null
  }
}

const mutation = (length: number) =>
  fc.record({ at: fc.nat({ max: length - 1 }), value: fc.integer({ min: 0, max: 255 }) })
