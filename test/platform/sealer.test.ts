import { describe, expect, it } from 'vitest'
import { createSealers } from '../../src/platform/sealer.js'
import { Secret } from '../../src/platform/secret.js'

const text = 'qtn_sk_0123456789'
const sealers = createSealers(new Secret('s'.repeat(32)))
const keys = sealers.sealerFor('api-key')

describe('a sealer', () => {
  it('opens what was sealed with the same secret, in another process too', () => {
    const elsewhere = createSealers(new Secret('s'.repeat(32)))
    expect(elsewhere.sealerFor('api-key').open(keys.seal(text))).toBe(text)
    expect(elsewhere.sealerFor('api-key').fingerprint(text)).toEqual(keys.fingerprint(text))
    expect(elsewhere.mark).toEqual(sealers.mark)
  })

  it.each(['', 'ünïcode ✓', 'x'.repeat(10_000)])('gives every text back as it was', (any) => {
    expect(keys.open(keys.seal(any))).toBe(any)
  })

  it('seals the same text to other bytes each time, none of which show it', () => {
    const [first, second] = [keys.seal(text), keys.seal(text)]
    expect(first).not.toEqual(second)
    expect(Buffer.from(first).includes('qtn_sk_')).toBe(false)
  })

  it('opens nothing that was sealed for another purpose or with another secret', () => {
    const other = createSealers(new Secret('t'.repeat(32)))
    expect(() => sealers.sealerFor('webhook-secret').open(keys.seal(text))).toThrow()
    expect(() => other.sealerFor('api-key').open(keys.seal(text))).toThrow()
    expect(other.mark).not.toEqual(sealers.mark)
  })

  it('notices every changed byte, and bytes that are missing', () => {
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

  it('gives each purpose fingerprints of its own', () => {
    expect(keys.fingerprint(text)).toHaveLength(32)
    expect(keys.fingerprint(text)).not.toEqual(keys.fingerprint(`${text} `))
    expect(sealers.sealerFor('webhook-secret').fingerprint(text)).not.toEqual(keys.fingerprint(text))
  })
})
