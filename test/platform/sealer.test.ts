import { describe, expect, it } from 'vitest'
import { createSealers } from '../../src/platform/sealer.js'
import { Secret } from '../../src/platform/secret.js'

const text = 'qtn_sk_0123456789'
const sealers = createSealers(new Secret('s'.repeat(32)))
const keys = sealers.sealerFor('api-key')

describe('a sealer', () => {
  it('opens values sealed with the same secret, also by another instance', () => {
    const elsewhere = createSealers(new Secret('s'.repeat(32)))
    expect(elsewhere.sealerFor('api-key').open(keys.seal(text, 'ada'), 'ada')).toBe(text)
    expect(elsewhere.sealerFor('api-key').fingerprint(text)).toEqual(keys.fingerprint(text))
    expect(elsewhere.keyCheckValue).toEqual(sealers.keyCheckValue)
  })

  it.each(['', 'ünïcode ✓', 'x'.repeat(10_000)])('returns every text unchanged', (any) => {
    expect(keys.open(keys.seal(any, 'ada'), 'ada')).toBe(any)
  })

  it('produces different ciphertexts for the same text', () => {
    const [first, second] = [keys.seal(text, 'ada'), keys.seal(text, 'ada')]
    expect(first).not.toEqual(second)
    expect(Buffer.from(first).includes('qtn_sk_')).toBe(false)
  })

  it('rejects values sealed for another purpose or with another secret', () => {
    const other = createSealers(new Secret('t'.repeat(32)))
    expect(() => sealers.sealerFor('webhook-secret').open(keys.seal(text, 'ada'), 'ada')).toThrow()
    expect(() => other.sealerFor('api-key').open(keys.seal(text, 'ada'), 'ada')).toThrow()
    expect(other.keyCheckValue).not.toEqual(sealers.keyCheckValue)
  })

  it('rejects values sealed for another account', () => {
    for (const purpose of ['api-key', 'webhook-secret'] as const) {
      const sealer = sealers.sealerFor(purpose)
      expect(() => sealer.open(sealer.seal(text, 'ada'), 'eve')).toThrow()
      expect(sealer.open(sealer.seal(text, 'ada'), 'ada')).toBe(text)
    }
  })

  it('opens and finds with the previous secret, seals with the current one', () => {
    const [before, after] = [new Secret('s'.repeat(32)), new Secret('t'.repeat(32))]
    const during = createSealers(after, before).sealerFor('api-key')
    const old = keys.seal(text, 'ada')
    expect(during.open(old, 'ada')).toBe(text)
    expect(during.fingerprints(text)).toEqual([
      createSealers(after).sealerFor('api-key').fingerprint(text),
      keys.fingerprint(text),
    ])
    expect([keys.isOutdated(old), during.isOutdated(old)]).toEqual([false, true])
    const fresh = during.seal(text, 'ada')
    expect(during.isOutdated(fresh)).toBe(false)
    expect(() => keys.open(fresh, 'ada')).toThrow()
  })

  it('detects every modified byte and truncation', () => {
    const sealed = keys.seal(text, 'ada')
    for (let index = 0; index < sealed.length; index += 1) {
      const changed = Uint8Array.from(sealed)
      changed[index] = (changed[index] ?? 0) ^ 1
      expect(() => keys.open(changed, 'ada'), `byte ${index}`).toThrow()
    }
    for (let length = 0; length < sealed.length; length += 1) {
      expect(() => keys.open(sealed.subarray(0, length), 'ada'), `${length} bytes`).toThrow()
    }
  })

  it('has different fingerprints per purpose', () => {
    expect(keys.fingerprint(text)).toHaveLength(32)
    expect(keys.fingerprint(text)).not.toEqual(keys.fingerprint(`${text} `))
    expect(sealers.sealerFor('webhook-secret').fingerprint(text)).not.toEqual(keys.fingerprint(text))
  })
})
