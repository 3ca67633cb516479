import fc from 'fast-check'
import { concatHex, type Hex, serializeErc6492Signature, slice } from 'viem'
import { describe, expect, it } from 'vitest'
import { readSignature } from '../../../../src/chains/evm/signatures/signature.js'
import { randomHex } from '../../../support/evm/authorization.js'
import { toCompact, toHighS, toParityV } from '../../../support/evm/signatureForms.js'
import { createEoa } from '../../../support/evm/wallets.js'

const wallet = createEoa()
const digest = randomHex(32)
const marker: Hex = `0x${'6492'.repeat(16)}`
const sign = () => wallet.account.sign({ hash: digest })
const toHex = (bytes: Uint8Array): Hex => `0x${Buffer.from(bytes).toString('hex')}`

describe('readSignature', () => {
  it.each([
    ['with v as 27 or 28', (signature: Hex) => signature],
    ['with v as 0 or 1', toParityV],
    ['compact', toCompact],
  ])("reads the payer's signature %s as v, r and s in the token's form", async (_form, change) => {
    const seen = new Set<number>()
    // Half of all signatures have each parity; both must be read.
    while (seen.size < 2) {
      const hash = randomHex(32)
      const signature = await wallet.account.sign({ hash })
      const v = Number(slice(signature, 64))
      seen.add(v)
      expect(await readSignature(change(signature), hash, wallet.address)).toEqual({
        kind: 'ecdsa',
        v,
        r: slice(signature, 0, 32),
        s: slice(signature, 32, 64),
      })
    }
  })

  it('refuses a high s, which recovers to the payer but is rejected by the token', async () => {
    expect(await readSignature(toHighS(await sign()), digest, wallet.address)).toBeNull()
  })

  it("keeps another key's signature for the payer's wallet contract", async () => {
    const signature = await createEoa().account.sign({ hash: digest })
    const expected = { kind: 'contract', bytes: signature }
    expect(await readSignature(signature, digest, wallet.address)).toEqual(expected)
  })

  it('unwraps an ERC-6492 signature', async () => {
    const parts = { address: randomHex(20), data: randomHex(100), signature: randomHex(65) }
    expect(await readSignature(serializeErc6492Signature(parts), digest, wallet.address)).toEqual({
      kind: 'counterfactual',
      factory: expect.stringMatching(new RegExp(parts.address, 'i')),
      factoryData: parts.data,
      bytes: parts.signature,
    })
  })

  it('never accepts random bytes as a signature of the payer, and never throws', async () => {
    const bytes = fc.oneof(
      fc.uint8Array({ minLength: 1, maxLength: 300 }),
      fc.uint8Array({ minLength: 64, maxLength: 65 }),
    )
    await fc.assert(
      fc.asyncProperty(bytes, fc.boolean(), async (array, isMarked) => {
        const signature = isMarked ? concatHex([toHex(array), marker]) : toHex(array)
        expect((await readSignature(signature, digest, wallet.address))?.kind).not.toBe('ecdsa')
      }),
      { numRuns: 200 },
    )
  })

  it('never accepts a signature with one changed bit', async () => {
    const signature = Buffer.from((await sign()).slice(2), 'hex')
    // The last byte is v, where 0 and 27 are equivalent.
    await fc.assert(
      fc.asyncProperty(fc.nat(63), fc.nat(7), async (byte, bit) => {
        const changed = Buffer.from(signature)
        changed[byte] = (changed[byte] ?? 0) ^ (1 << bit)
        expect((await readSignature(toHex(changed), digest, wallet.address))?.kind).not.toBe('ecdsa')
      }),
      { numRuns: 60 },
    )
  })

  it('never accepts a signature of another digest', async () => {
    const signature = await wallet.account.sign({ hash: randomHex(32) })
    expect((await readSignature(signature, digest, wallet.address))?.kind).toBe('contract')
  })
})
