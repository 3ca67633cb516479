import { describe, expect, it } from 'vitest'
import { canonicalNetwork, networkAliases } from '../../../src/protocol/network.js'
import { supported } from '../../../src/protocol/results.js'
import { createSchemeRegistry } from '../../../src/schemes/registry.js'
import type { KindTerms, Scheme } from '../../../src/schemes/scheme.js'
import { createListSupported } from '../../../src/usecases/core/describe/listSupported.js'
import { createToyScheme } from '../../support/toyScheme.js'

const scheme = (
  network: string,
  signers: readonly string[],
  { name = 'exact', extra }: { readonly name?: string; readonly extra?: KindTerms['extra'] } = {},
) =>
  createToyScheme({
    kind: { scheme: name, network },
    network: { signers },
    describeKind: () => ({ extra, extensions: [] }),
  })

const list = (schemes: readonly Scheme[], isServing: (network: string) => boolean = () => true) =>
  createListSupported(createSchemeRegistry(schemes), isServing)()

const entry = (version: number, network: string) => ({
  payVersion: version,
  x402Version: version,
  t402Version: version,
  scheme: 'exact',
  network,
})

describe('listSupported', () => {
  it('lists every kind in version 2, and under each short network name in version 1', () => {
    const { kinds } = list([scheme('eip155:8453', ['0xA']), scheme('eip155:31337', ['0xA'])])
    expect(kinds).toEqual([
      entry(2, 'eip155:8453'),
      entry(2, 'eip155:31337'),
      entry(1, 'base'),
      entry(1, 'base-mainnet'),
    ])
  })

  it('lists upto in version 2 only', () => {
    const { kinds } = list([scheme('eip155:8453', ['0xA'], { name: 'upto' })])
    expect(kinds).toEqual([{ ...entry(2, 'eip155:8453'), scheme: 'upto' }])
  })

  it('lists the CAIP-2 forms of other implementations in version 2, with the signers by their namespaces', () => {
    const { kinds, signers } = list([scheme('ton:mainnet', ['EQ1']), scheme('tron:nile', ['T1'])])
    expect(kinds).toEqual([
      ...['ton:mainnet', 'tron:nile', 'ton:-239', 'tvm:-239', 'tron:0xcd8690dc'].map((name) =>
        entry(2, name),
      ),
      ...['ton', 'ton-mainnet'].map((name) => entry(1, name)),
    ])
    expect(signers).toEqual({ 'ton:*': ['EQ1'], 'tvm:*': ['EQ1'], 'tron:*': ['T1'] })
  })

  it.each(Object.entries(networkAliases))('announces %s, which is accepted as %s', (name, network) => {
    const { kinds } = list([scheme(network, ['0xA'])])
    expect(kinds.filter((kind) => kind.network === name)).toEqual([entry(name.includes(':') ? 2 : 1, name)])
  })

  it('announces no name that is accepted as another network', () => {
    for (const network of new Set(Object.values(networkAliases))) {
      for (const kind of list([scheme(network, [])]).kinds)
        expect(canonicalNetwork(kind.network)).toBe(network)
    }
  })

  it('omits what is not offered at the moment', () => {
    let isOffered = false
    const upto = createToyScheme({
      kind: { scheme: 'upto', network: 'eip155:1' },
      network: { signers: ['0xUpto'] },
      describeKind: () => (isOffered ? { extra: undefined, extensions: ['gasSponsoring'] } : null),
    })
    const schemes = [scheme('eip155:1', ['0xA']), upto]
    expect(list(schemes)).toMatchObject({ signers: { 'eip155:*': ['0xA'] }, extensions: [] })
    expect(list(schemes).kinds.map(({ scheme: name }) => name)).not.toContain('upto')
    isOffered = true
    expect(list(schemes).kinds.map(({ scheme: name }) => name)).toContain('upto')
    expect(list(schemes).extensions).toEqual(['gasSponsoring'])
  })

  it('lists the extensions of all schemes that serve, sorted, each once', () => {
    const withExtensions = (network: string, extensions: readonly string[]) =>
      createToyScheme({
        kind: { scheme: 'exact', network },
        describeKind: () => ({ extra: undefined, extensions }),
      })
    const schemes = [
      withExtensions('eip155:1', ['b', 'a']),
      withExtensions('eip155:2', ['c', 'a']),
      withExtensions('eip155:3', ['down']),
      scheme('eip155:4', []),
    ]
    expect(list(schemes, (network) => network !== 'eip155:3').extensions).toEqual(['a', 'b', 'c'])
  })

  it('collects the signers by family, each once', () => {
    const { signers } = list([
      scheme('eip155:8453', ['0xA', '0xB']),
      scheme('eip155:1', ['0xB', '0xC']),
      scheme('near:mainnet', []),
      scheme('ton:mainnet', ['EQ1']),
    ])
    expect(signers).toEqual({
      'eip155:*': ['0xA', '0xB', '0xC'],
      'near:*': [],
      'ton:*': ['EQ1'],
      'tvm:*': ['EQ1'],
    })
  })

  it('contains `extra`, which clients need to sign, in both versions', () => {
    const extra = { feePayer: 'So1' }
    const network = 'solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp'
    const { kinds } = list([scheme(network, ['So1'], { extra })])
    expect(kinds).toEqual([
      { ...entry(2, network), extra },
      { ...entry(1, 'solana'), extra },
      { ...entry(1, 'solana-mainnet-beta'), extra },
    ])
  })

  it('names minimum payments beside `extra`, in both versions, and not where there are none', () => {
    const minimums = { '0xUSDC': '309' }
    const base = createToyScheme({
      kind: { scheme: 'exact', network: 'eip155:8453' },
      network: { listMinimums: () => minimums },
    })
    const none = scheme('eip155:1', [])
    expect(list([base, none]).kinds).toEqual([
      { ...entry(2, 'eip155:8453'), minimumPayments: minimums },
      entry(2, 'eip155:1'),
      { ...entry(1, 'base'), minimumPayments: minimums },
      { ...entry(1, 'base-mainnet'), minimumPayments: minimums },
      entry(1, 'ethereum'),
    ])
    expect(supported.parse(list([base])).kinds[0]).toMatchObject({ minimumPayments: minimums })
  })

  it('omits a network that cannot settle, and its signers, until it can', () => {
    const down = new Set(['ton:mainnet'])
    const ask = createListSupported(
      createSchemeRegistry([scheme('eip155:8453', ['0xA']), scheme('ton:mainnet', ['EQ1'])]),
      (network) => !down.has(network),
    )
    expect(ask().kinds.map(({ network }) => network)).toEqual(['eip155:8453', 'base', 'base-mainnet'])
    expect(ask().signers).toEqual({ 'eip155:*': ['0xA'] })
    down.clear()
    expect(ask().kinds.map(({ network }) => network)).toContain('ton:mainnet')
    expect(ask().signers).toHaveProperty(['ton:*'], ['EQ1'])
  })

  it('is empty without any chain', () => {
    expect(list([])).toEqual({ kinds: [], extensions: [], signers: {} })
  })

  it('matches the wire schema', () => {
    expect(() => supported.parse(list([scheme('eip155:8453', ['0xA'])]))).not.toThrow()
  })
})
