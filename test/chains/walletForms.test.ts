import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type OpenNetwork, openNetwork } from '../support/openNetwork.js'
import { hostileAddresses, walletForms } from '../support/walletForms.js'

const keys = fc.uint8Array({ minLength: 32, maxLength: 32 })

describe.each(Object.entries(walletForms))('wallets of %s', (_family, forms) => {
  let opened: OpenNetwork
  beforeAll(async () => {
    opened = await openNetwork(forms.network, forms.environment)
  })
  afterAll(() => opened.close())

  const normalizeByAll = (text: string): string | null => {
    const all = opened.schemes.map((scheme) => scheme.network.normalizeAddress(text))
    const [first = null] = all
    expect(all, 'schemes of one network agree').toEqual(all.map(() => first))
    return first
  }

  it('have one spelling for comparisons, whatever they were written as', () => {
    fc.assert(
      fc.property(keys, (key) => {
        const [normal, ...others] = forms.spell(key)
        for (const text of [normal, ...others]) expect(normalizeByAll(text)).toBe(normal)
      }),
    )
  })

  it('differ if their keys differ', () => {
    fc.assert(
      fc.property(keys, keys, (left, right) => {
        const [leftNormal] = forms.spell(left)
        const [rightNormal] = forms.spell(right)
        const isSame = leftNormal === rightNormal
        for (const [one, other] of [
          [forms.spell(left), forms.spell(right)],
          [forms.spell(right), forms.spell(left)],
        ] as const) {
          expect(normalizeByAll(one.at(-1) ?? '') === normalizeByAll(other.at(-1) ?? '')).toBe(isSame)
        }
      }),
    )
  })

  it.each(forms.wrong)('are not written as %s', (text) => {
    expect(normalizeByAll(text)).toBeNull()
    expect(normalizeByAll(` ${forms.spell(Buffer.alloc(32, 7))[0]}`)).toBeNull()
  })

  it('are never read from hostile text', () => {
    for (const text of hostileAddresses) expect(normalizeByAll(text)).toBeNull()
  })

  it('have a spelling wherever the network takes a text as an address, and nowhere else', () => {
    const texts = fc.oneof(
      fc.string({ maxLength: 120 }),
      keys.chain((key) => fc.constantFrom(...forms.spell(key))),
      fc.constantFrom(...forms.wrong),
      fc.tuple(keys, fc.nat(), fc.string({ minLength: 1, maxLength: 1 })).map(([key, place, character]) => {
        const [text] = forms.spell(key)
        const at = place % text.length
        return `${text.slice(0, at)}${character}${text.slice(at + 1)}`
      }),
    )
    fc.assert(
      fc.property(texts, (text) => {
        const normal = normalizeByAll(text)
        for (const scheme of opened.schemes) expect(scheme.network.isAddress(text)).toBe(normal !== null)
        if (normal !== null) expect(normalizeByAll(normal)).toBe(normal)
      }),
    )
  })
})
