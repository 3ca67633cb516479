import { describe, expect, it } from 'vitest'
import { createSealers } from '../../src/platform/sealer.js'
import { Secret } from '../../src/platform/secret.js'

const text = 'qtn_sk_0123456789'
const sealers = createSealers(new Secret('s'.repeat(32)))
const keys = sealers.sealerFor('api-key')

describe('a sealer', () => {
  it('opens values sealed with the same secret, also by another instance', () => {
    const elsewhere = createSealers(new Secret('s'.repeat(32)))
    expect(elsewhere.sealerFor('api-key').open(keys.seal(text))).toBe(text)
    expect(elsewhere.sealerFor('api-key').fingerprint(text)).toEqual(keys.fingerprint(text))
    expect(elsewhere.keyCheckValue).toEqual(sealers.keyCheckValue)
  })

  it.each(['', 'ünïcode ✓', 'x'.repeat(10_000)])('returns every text unchanged', (any) => {
    expect(keys.open(keys.seal(any))).toBe(any)
  })

  it('produces different ciphertexts for the same text', () => {
    const [first, second] = [keys.seal(text), keys.seal(text)]
    expect(first).not.toEqual(second)
    expect(Buffer.from(first).includes('qtn_sk_')).toBe(false)
  })

  it('rejects values sealed for another purpose or with another secret', () => {
    const other = createSealers(new Secret('t'.repeat(32)))
    expect(() => sealers.sealerFor('webhook-secret').open(keys.seal(text))).toThrow()
    expect(() => other.sealerFor('api-key').open(keys.seal(text))).toThrow()
    expect(other.keyCheckValue).not.toEqual(sealers.keyCheckValue)
  })

  it('detects every modified byte and truncation', () => {
    const sealed = keys.seal(text)
    for (let index = 0; index < sealed.length; index += 1) {
      const changed = Uint8Array.from(sealed)
      changed[index] = (changed[index] ?? 0) ^ 1
      expect(() => keys.open(changed), `byte ${index}`).toThrow()
    }
    for (let length = 0; length < sealed.length; length += 1) {
      expect(() => keys.open(sealed.subarray(0, length)), `${length} bytes`).toThrow()
    }
  })

  it('has different fingerprints per purpose', () => {
    expect(keys.fingerprint(text)).toHaveLength(32)
    expect(keys.fingerprint(text)).not.toEqual(keys.fingerprint(`${text} `))
    expect(sealers.sealerFor('webhook-secret').fingerprint(text)).not.toEqual(keys.fingerprint(text))
  })
})
