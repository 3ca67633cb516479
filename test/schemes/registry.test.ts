import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createSchemeRegistry } from '../../src/schemes/registry.js'
import { createToyScheme } from '../support/toyScheme.js'

const scheme = (name: string, network: string) => createToyScheme({ kind: { scheme: name, network } })

const onBase = scheme('exact', 'eip155:8453')
const onInk = scheme('exact', 'eip155:57073')
const direct = scheme('exact-direct', 'near:mainnet')
const registry = createSchemeRegistry([onBase, onInk, direct])

describe('the scheme registry', () => {
  it('finds a scheme by its name and network', () => {
    expect(registry.find('exact', 'eip155:57073')).toBe(onInk)
    expect(registry.find('exact-direct', 'near:mainnet')).toBe(direct)
  })

  it.each([
    ['a network of the same family', 'exact', 'eip155:1'],
    ['a pattern', 'exact', 'eip155:*'],
    ['a beginning', 'exact', 'eip155:845'],
    ['another letter case', 'Exact', 'eip155:8453'],
    ['white space', 'exact', ' eip155:8453'],
    ['an alias', 'exact', 'base'],
    ["another scheme's network", 'exact', 'near:mainnet'],
    ['nothing', '', ''],
    ['what objects have by birth', '__proto__', 'constructor'],
  ])('does not find one by %s', (_, name, network) => {
    expect(registry.find(name, network)).toBeNull()
  })

  it('finds exactly what was registered, for any input', () => {
    const part = fc.constantFrom('exact', 'exact-direct', ' on ', 'eip155:8453', 'near:mainnet', ' ', 'on')
    const text = fc.array(part, { maxLength: 4 }).map((parts) => parts.join(''))
    fc.assert(
      fc.property(text, text, (name, network) => {
        const found = registry.find(name, network)
        if (found !== null) expect(found.kind).toEqual({ scheme: name, network })
      }),
    )
  })

  it('knows whether a scheme exists on any network', () => {
    expect(['exact', 'exact-direct', 'upto', ''].map((name) => registry.hasScheme(name))).toEqual([
      true,
      true,
      false,
      false,
    ])
  })

  it('knows whether a network has any scheme', () => {
    const networks = ['eip155:8453', 'eip155:57073', 'eip155:1', '']
    expect(networks.map((network) => registry.hasNetwork(network))).toEqual([true, true, false, false])
  })

  it('lists schemes in registration order', () => {
    expect(registry.list()).toEqual([onBase, onInk, direct])
  })

  it('rejects two schemes with the same name and network, naming them', () => {
    expect(() => createSchemeRegistry([onBase, direct, scheme('exact', 'eip155:8453')])).toThrow(
      'Two schemes are registered for exact on eip155:8453',
    )
  })

  it('can be empty', () => {
    const empty = createSchemeRegistry([])
    expect([empty.find('exact', 'eip155:8453'), empty.hasScheme('exact'), empty.list()]).toEqual([
      null,
      false,
      [],
    ])
  })
})
