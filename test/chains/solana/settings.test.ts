import { inspect } from 'node:util'
import { base58 } from '@scure/base'
import { Keypair } from '@solana/web3.js'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { knownNetworks } from '../../../src/chains/solana/networks.js'
import { readSolanaSettings, solanaVariables } from '../../../src/chains/solana/settings.js'
import { createFeePayers } from '../../../src/chains/solana/transactions/feePayers.js'
import { Secret } from '../../../src/platform/secret.js'

const keypair = Keypair.generate()
const key = base58.encode(keypair.secretKey)
const otherKey = JSON.stringify([...Keypair.generate().secretKey])
const mainnet = '5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp'
const ownCluster = '1'.repeat(32)

const read = (environment: Readonly<Record<string, string>>) => {
  const reading = readSolanaSettings(environment)
  if ('problems' in reading) throw new Error(reading.problems.join('\n'))
  if (reading.settings === null) throw new Error('The family is off')
  return reading.settings
}
const problemsOf = (environment: Readonly<Record<string, string>>): readonly string[] => {
  const reading = readSolanaSettings(environment)
  return 'problems' in reading ? reading.problems : []
}

describe('the Solana settings', () => {
  it('are null without a key and a cluster', () => {
    expect(readSolanaSettings({ PORT: '8080' })).toEqual({ settings: null })
  })

  it.each([{ SOLANA_RPC_URL_mainnet: 'http://node.example' }, { SOLANA_NETWORKS: 'devnet' }])(
    'require a key when a cluster is named: %j',
    (environment) => expect(problemsOf(environment)).toEqual([expect.stringContaining('SOLANA_PRIVATE_KEY')]),
  )

  it('default to mainnet and a public endpoint with only a key', () => {
    const { networks } = read({ SOLANA_PRIVATE_KEY: key })
    expect(networks.map(({ network, usesPublicRpc }) => ({ network, usesPublicRpc }))).toEqual([
      { network: `solana:${mainnet}`, usesPublicRpc: true },
    ])
  })

  it('accept a cluster by name or by reference, but not by both', () => {
    const url = 'http://node.example'
    for (const name of ['mainnet', mainnet]) {
      const { networks } = read({ SOLANA_PRIVATE_KEY: key, [`SOLANA_RPC_URL_${name}`]: url })
      expect(networks).toMatchObject([{ network: `solana:${mainnet}`, usesPublicRpc: false }])
    }
    const both = { SOLANA_RPC_URL_mainnet: url, [`SOLANA_RPC_URL_${mainnet}`]: url }
    expect(problemsOf({ SOLANA_PRIVATE_KEY: key, ...both })).toHaveLength(1)
  })

  it('accept any mint on a cluster that is not built in, and the known ones otherwise', () => {
    const { networks } = read({
      SOLANA_PRIVATE_KEY: key,
      SOLANA_NETWORKS: `devnet,${ownCluster}`,
      [`SOLANA_RPC_URL_${ownCluster}`]: 'http://node.example',
    })
    expect(networks).toMatchObject([
      { acceptsAnyToken: false, tokens: [{ symbol: 'USDC' }, { symbol: 'PYUSD' }] },
      { acceptsAnyToken: true, tokens: [] },
    ])
    expect(problemsOf({ SOLANA_PRIVATE_KEY: key, SOLANA_NETWORKS: ownCluster })).toHaveLength(1)
  })

  it('take symbol and decimals of mints, and know those of built-in ones', () => {
    const [usdc, other] = ['EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v', keypair.publicKey.toBase58()]
    const { networks } = read({
      SOLANA_PRIVATE_KEY: key,
      SOLANA_TOKENS_mainnet: `${other}=GOLD/9,${usdc}`,
    })
    expect(networks).toMatchObject([
      {
        tokens: [
          { asset: other, symbol: 'GOLD', decimals: 9 },
          { asset: usdc, symbol: 'USDC', decimals: 6 },
        ],
      },
    ])
  })

  it('read several keys in base58 and as JSON arrays, without duplicates', () => {
    const { privateKeys } = read({ SOLANA_PRIVATE_KEY: `${key}, ${otherKey},${key}` })
    expect(privateKeys.map((secret) => secret.reveal())).toEqual([key, otherKey])
    expect(createFeePayers(privateKeys).addresses[0]).toBe(keypair.publicKey.toBase58())
  })

  it('reject a key whose halves do not match, without printing it', () => {
    const bytes = Uint8Array.from(keypair.secretKey)
    bytes[63] = (bytes[63] ?? 0) ^ 1
    const broken = base58.encode(bytes)
    expect(() => createFeePayers([new Secret(broken)])).toThrow(/^SOLANA_PRIVATE_KEY: key 1 (?!.*\w{20})/)
  })

  it.each([
    ['SOLANA_PRIVATE_KEY', 'abc'],
    ['SOLANA_PRIVATE_KEY', base58.encode(keypair.secretKey.subarray(0, 32))],
    ['SOLANA_PRIVATE_KEY', '[1,2,3]'],
    ['SOLANA_NETWORKS', 'testnet'],
    ['SOLANA_RPC_URL_mainnet', 'ftp://node.example'],
    ['SOLANA_TOKENS_mainnet', 'USDC'],
    ['SOLANA_TOKENS_mainnet', ''],
    ['SOLANA_TOKENS_mainnet', 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v=USDC/six'],
    ['SOLANA_MAX_COMPUTE_UNITS', '1400001'],
    ['SOLANA_MAX_PRIORITY_FEE_LAMPORTS', '-1'],
    ['SOLANA_EXPIRY_MARGIN_BLOCKS', '150'],
    ['SOLANA_POLL_INTERVAL_MS_devnet', '1'],
    ['SOLANA_RPC_URL', 'http://node.example'],
    ['SOLANA_RPC_URL_8453', 'http://node.example'],
    ['SOLANA_NONSENSE', '1'],
  ])('name %s when it is invalid, and not its value: %s', (variable, value) => {
    const problems = problemsOf({ SOLANA_PRIVATE_KEY: key, [variable]: value })
    expect(problems).toHaveLength(1)
    expect(problems[0]).toMatch(new RegExp(`^${variable}: `))
    if (value.length > 5) expect(problems[0]).not.toContain(value)
  })

  it('never throw, whatever the variables hold', () => {
    const names = [...solanaVariables.family, ...solanaVariables.perNetwork].map((name) =>
      name.replace('<cluster>', 'devnet'),
    )
    fc.assert(
      fc.property(fc.dictionary(fc.constantFrom(...names), fc.string()), (environment) => {
        expect(readSolanaSettings(environment)).toBeTypeOf('object')
      }),
    )
  })

  it('do not print secrets', () => {
    const settings = read({
      SOLANA_PRIVATE_KEY: key,
      SOLANA_RPC_URL_mainnet: 'http://node.example/secretpath',
    })
    const printed = `${inspect(settings, { depth: 9 })}${JSON.stringify(settings, (_, value) => (typeof value === 'bigint' ? `${value}` : value))}`
    expect(printed).not.toContain(key)
    expect(printed).not.toContain('secretpath')
  })
})

describe('the minimum payment of Solana settings', () => {
  const minimumOf = (environment: Readonly<Record<string, string>>) =>
    read({ SOLANA_PRIVATE_KEY: key, ...environment }).networks[0]?.minimumPayment

  it('follows the fee on mainnet, for its known mints', () => {
    expect(minimumOf({})).toMatchObject({ fixed: null, coinUsd: 150 })
    expect(minimumOf({})?.stablecoins).toEqual(
      knownNetworks[0]?.tokens.map(({ asset }) => ({ asset, decimals: 6 })),
    )
  })

  it.each([
    ['devnet', { SOLANA_NETWORKS: 'devnet' }],
    ['a cluster that is not built in', { [`SOLANA_RPC_URL_${ownCluster}`]: 'http://node.example' }],
  ])('is off on %s', (_cluster, environment) => {
    expect(minimumOf(environment)).toMatchObject({ fixed: null, coinUsd: null })
  })

  it('is what the operator sets, with the price of SOL', () => {
    const environment = { SOLANA_MIN_PAYMENT_mainnet: '500', SOLANA_COIN_USD_mainnet: '90.5' }
    expect(minimumOf(environment)).toMatchObject({ fixed: 500n, coinUsd: 90.5 })
  })
})
