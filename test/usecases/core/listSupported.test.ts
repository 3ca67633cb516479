import { describe, expect, it } from 'vitest'
import { supported } from '../../../src/protocol/results.js'
import { createSchemeRegistry } from '../../../src/schemes/registry.js'
import type { Scheme } from '../../../src/schemes/scheme.js'
import { createListSupported } from '../../../src/usecases/core/listSupported.js'
import { createToyScheme } from '../../support/toyScheme.js'

const scheme = (network: string, signers: readonly string[], more: Partial<Scheme['kind']> = {}) =>
  createToyScheme({ kind: { scheme: 'exact', network, ...more }, signers })

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
  it('lists every kind in version 2, and kinds with a short network name also in version 1', () => {
    const { kinds } = list([scheme('eip155:8453', ['0xA']), scheme('eip155:31337', ['0xA'])])
    expect(kinds).toEqual([entry(2, 'eip155:8453'), entry(2, 'eip155:31337'), entry(1, 'base')])
  })

  it('collects the signers by family, each once', () => {
    const { signers } = list([
      scheme('eip155:8453', ['0xA', '0xB']),
      scheme('eip155:1', ['0xB', '0xC']),
      scheme('near:mainnet', []),
      scheme('ton:mainnet', ['EQ1']),
    ])
    expect(signers).toEqual({ 'eip155:*': ['0xA', '0xB', '0xC'], 'near:*': [], 'ton:*': ['EQ1'] })
  })

  it('contains `extra`, which clients need to sign, in both versions', () => {
    const extra = { feePayer: 'So1' }
    const network = 'solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp'
    const { kinds } = list([scheme(network, ['So1'], { extra })])
    expect(kinds).toEqual([
      { ...entry(2, network), extra },
      { ...entry(1, 'solana'), extra },
    ])
  })

  it('omits a network that cannot settle, and its signers, until it can', () => {
    const down = new Set(['ton:mainnet'])
    const ask = createListSupported(
      createSchemeRegistry([scheme('eip155:8453', ['0xA']), scheme('ton:mainnet', ['EQ1'])]),
      (network) => !down.has(network),
    )
    expect(ask().kinds.map(({ network }) => network)).toEqual(['eip155:8453', 'base'])
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
