import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import type { SettingsReading } from '../../../../src/chains/chain.js'
import { defineDirectSettings } from '../../../../src/chains/common/direct/settings.js'

const usdt = { asset: 'usdt.toy', symbol: 'USDT', decimals: 6 }

const toy = defineDirectSettings({
  namespace: 'toy',
  networks: [
    { name: 'mainnet', chainId: '1', tokens: [usdt] },
    { name: 'testnet', chainId: '2', tokens: [] },
  ],
  chainIdForm: /^[0-9]{1,9}$/,
  assetForm: /^[a-z0-9.]{1,64}$/,
  exampleAsset: 'usdt.toy',
  signerForm: /^signer[0-9]$/,
  hasApiKey: true,
  defaultPollIntervalMs: 500,
  defaultCrossCheckAmount: 1_000n,
  own: { COLOR: z.enum(['red', 'blue'], 'must be red or blue').default('red') },
})

const plain = defineDirectSettings({
  namespace: 'plain',
  networks: [{ name: 'mainnet', chainId: '1', tokens: [usdt] }],
  chainIdForm: /^[0-9]{1,9}$/,
  assetForm: /^[a-z0-9.]{1,64}$/,
  exampleAsset: 'usdt.toy',
  defaultPollIntervalMs: 500,
  defaultCrossCheckAmount: 1_000n,
  own: {},
})

const url = 'http://127.0.0.1:1/key'

const settingsOf = (environment: Readonly<Record<string, string>>) => {
  const reading = toy.read(environment)
  if ('problems' in reading) throw new Error(reading.problems.join())
  return reading.settings
}

interface SettingsReader {
  read(environment: Readonly<Record<string, string>>): SettingsReading<unknown>
}

const problemsOf = (environment: Readonly<Record<string, string>>, family: SettingsReader = toy) => {
  const reading = family.read(environment)
  return 'problems' in reading ? reading.problems : []
}

describe('the settings of a family on which we only read', () => {
  it('are off without an endpoint', () => {
    expect(settingsOf({})).toBeNull()
    expect(settingsOf({ TOY_POLL_INTERVAL_MS_mainnet: '100', OTHER_FOO: 'x' })).toBeNull()
  })

  it('need only an endpoint where the network and its tokens are built in', () => {
    const settings = settingsOf({ TOY_RPC_URL_mainnet: `${url}, http://127.0.0.1:2` })
    expect(settings).toMatchObject({ rpcTimeoutMs: 5_000, verifyWaitMs: 3_000, crossCheckAmount: 1_000n })
    expect(settings?.networks).toMatchObject([
      {
        network: 'toy:1',
        name: 'mainnet',
        chainId: '1',
        endpointVariables: ['TOY_RPC_URL_mainnet'],
        apiKey: null,
        tokens: [usdt],
        signers: [],
        pollIntervalMs: 500,
        own: { COLOR: 'red' },
      },
    ])
    expect(settings?.networks[0]?.rpcUrls.map((each) => each.reveal())).toEqual([url, 'http://127.0.0.1:2'])
  })

  it('read every variable', () => {
    const settings = settingsOf({
      TOY_RPC_URL_local: url,
      TOY_CHAIN_ID_local: '7',
      TOY_TOKENS_local: 'gold=GOLD/2, usdt.toy',
      TOY_POLL_INTERVAL_MS_local: '10',
      TOY_API_KEY_local: 'secret-key',
      TOY_SIGNER_local: 'signer1, signer2',
      TOY_COLOR_local: 'blue',
      TOY_RPC_TIMEOUT_MS: '200',
      TOY_VERIFY_WAIT_MS: '0',
      TOY_CROSS_CHECK_AMOUNT: '5',
    })
    expect(settings).toMatchObject({ rpcTimeoutMs: 200, verifyWaitMs: 0, crossCheckAmount: 5n })
    expect(settings?.networks[0]).toMatchObject({
      network: 'toy:7',
      tokens: [
        { asset: 'gold', symbol: 'GOLD', decimals: 2 },
        { asset: 'usdt.toy', symbol: null, decimals: null },
      ],
      signers: ['signer1', 'signer2'],
      own: { COLOR: 'blue' },
    })
    expect(settings?.networks[0]?.apiKey?.reveal()).toBe('secret-key')
    expect(JSON.stringify(settings?.networks)).not.toMatch(/secret-key|127\.0\.0\.1/)
  })

  it('know the symbol of a built-in token that is listed without one', () => {
    const settings = settingsOf({ TOY_RPC_URL_mainnet: url, TOY_TOKENS_mainnet: 'gold,usdt.toy' })
    expect(settings?.networks[0]?.tokens[1]).toEqual(usdt)
  })

  it.each<[string, Readonly<Record<string, string>>, RegExp]>([
    ['no URL', { TOY_RPC_URL_mainnet: 'ftp://x' }, /^TOY_RPC_URL_mainnet: must be one or several http/],
    ['an unknown network', { TOY_RPC_URL_local: url }, /^TOY_CHAIN_ID_local: is required/],
    ['no token', { TOY_RPC_URL_testnet: url }, /^TOY_TOKENS_testnet: is required/],
    [
      'a malformed token',
      { TOY_RPC_URL_mainnet: url, TOY_TOKENS_mainnet: 'USDT!' },
      /^TOY_TOKENS_mainnet: must list/,
    ],
    ['a wildcard', { TOY_RPC_URL_mainnet: url, TOY_TOKENS_mainnet: '*' }, /^TOY_TOKENS_mainnet: must list/],
    [
      'too many tokens',
      { TOY_TOKENS_mainnet: 'gold,'.repeat(21) },
      /^TOY_TOKENS_mainnet: must list at most 20/,
    ],
    ['a malformed chain id', { TOY_CHAIN_ID_mainnet: 'one' }, /^TOY_CHAIN_ID_mainnet: must be/],
    ['a malformed signer', { TOY_SIGNER_mainnet: 'me' }, /^TOY_SIGNER_mainnet: must list addresses/],
    ['a malformed own value', { TOY_COLOR_mainnet: 'green' }, /^TOY_COLOR_mainnet: must be red or blue/],
    ['a malformed family value', { TOY_RPC_TIMEOUT_MS: 'soon' }, /^TOY_RPC_TIMEOUT_MS: /],
    ['an unknown variable', { TOY_FOO: '1' }, /^TOY_FOO: is not a known setting$/],
    ['a missing suffix', { TOY_RPC_URL: url }, /write TOY_RPC_URL_<network>, such as TOY_RPC_URL_mainnet$/],
    [
      'one chain twice',
      { TOY_RPC_URL_mainnet: url, TOY_RPC_URL_copy: url, TOY_CHAIN_ID_copy: '1', TOY_TOKENS_copy: 'gold' },
      /^TOY_CHAIN_ID: toy:1 is configured twice$/,
    ],
  ])('report %s, and never a value', (_name, environment, problem) => {
    const problems = problemsOf(environment)
    expect(problems).toHaveLength(1)
    expect(problems[0]).toMatch(problem)
    expect(problems.join()).not.toContain(url)
  })

  it('have no key and no signer where the network knows none', () => {
    expect(problemsOf({ PLAIN_SIGNER_mainnet: 'signer1' }, plain)).toEqual([
      'PLAIN_SIGNER_mainnet: is not a known setting',
    ])
    expect(problemsOf({ PLAIN_API_KEY_mainnet: 'key' }, plain)).toEqual([
      'PLAIN_API_KEY_mainnet: is not a known setting',
    ])
  })

  it('are listed for the documentation', () => {
    expect(toy.variables).toMatchObject({
      family: ['TOY_RPC_TIMEOUT_MS', 'TOY_VERIFY_WAIT_MS', 'TOY_CROSS_CHECK_AMOUNT'],
      perNetwork: ['RPC_URL', 'TOKENS', 'POLL_INTERVAL_MS', 'CHAIN_ID', 'API_KEY', 'SIGNER', 'COLOR'].map(
        (name) => `TOY_${name}_<network>`,
      ),
    })
  })
})
