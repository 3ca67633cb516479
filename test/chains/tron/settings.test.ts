import { describe, expect, it } from 'vitest'
import { readTronSettings } from '../../../src/chains/tron/settings.js'
import { settingsOf } from '../../support/readSettings.js'

const url = 'https://node.example/secret-path'

const { read, problemsOf } = settingsOf(readTronSettings)

describe('the TRON settings', () => {
  it('are null without an endpoint', () => {
    expect(read({})).toBeNull()
    expect(read({ TRON_PRIVATE_KEY: '11'.repeat(32), TRON_TOKENS_nile: '*' })).toBeNull()
  })

  it('need only an endpoint: payers pay for themselves', () => {
    const settings = read({ TRON_RPC_URL_mainnet: url })
    expect(settings?.sponsor).toBeNull()
    expect(settings?.networks).toMatchObject([
      {
        network: 'tron:mainnet',
        chainId: '2b6653dc',
        tokens: [{ asset: 'TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t' }],
        acceptsAnyToken: false,
        apiKey: null,
        maxFeeLimit: 1_000_000_000n,
        pollIntervalMs: 1_000,
      },
    ])
  })

  it('read several networks, each with its own variables', () => {
    const settings = read({
      TRON_RPC_URL_nile: `${url},${url}/2`,
      TRON_API_KEY_nile: 'key-of-the-provider',
      TRON_RPC_URL_shasta: url,
      TRON_TOKENS_shasta: '*',
      TRON_MAX_FEE_LIMIT_shasta: '50',
    })
    const [nile, shasta] = settings?.networks ?? []
    expect(nile?.rpcUrls).toHaveLength(2)
    expect(nile?.apiKey?.reveal()).toBe('key-of-the-provider')
    expect(shasta).toMatchObject({
      acceptsAnyToken: true,
      tokens: [{ asset: 'TG3XXyExBkPp9nzdajDZsozEu4BkaSJozs' }],
      maxFeeLimit: 50_000_000n,
    })
  })

  it('enable energy delegation only on request, and only with a key', () => {
    const environment = { TRON_RPC_URL_nile: url, TRON_SPONSOR_ENERGY: 'true' }
    expect(problemsOf(environment)).toEqual(['TRON_PRIVATE_KEY: is required to delegate energy to payers'])
    const settings = read({ ...environment, TRON_PRIVATE_KEY: `0x${'AB'.repeat(32)}` })
    expect(settings?.sponsor?.privateKey.reveal()).toBe('ab'.repeat(32))
    expect(read({ TRON_RPC_URL_nile: url, TRON_PRIVATE_KEY: '11'.repeat(32) })?.sponsor).toBeNull()
  })

  it.each([
    ['TRON_PRIVATE_KEY', 'hunter2'],
    ['TRON_SPONSOR_ENERGY', 'yes'],
    ['TRON_SPONSOR_ENERGY_PER_HOUR', '0'],
    ['TRON_RPC_URL_nile', 'ftp://hunter2'],
    ['TRON_CROSS_CHECK_AMOUNT', '-1'],
    ['TRON_API_KEY_nile', 'hunter2 with a blank'],
    ['TRON_TOKENS_nile', '0xhunter2'],
    ['TRON_MAX_FEE_LIMIT_nile', '15001'],
  ])('name %s when it is invalid, and not its value', (name, value) => {
    const [problem = '', ...others] = problemsOf({ [name]: value })
    expect(problem).toMatch(new RegExp(`^${name}: must `))
    expect(problem).not.toContain('hunter2')
    expect(others).toEqual([])
  })

  it('report unknown variables', () => {
    expect(problemsOf({ TRON_RPC_URL: url, TRON_RPC_URL_main: url })).toEqual([
      'TRON_RPC_URL: is not a known setting; write TRON_RPC_URL_<network>, such as TRON_RPC_URL_mainnet',
      'TRON_RPC_URL_main: is not a known setting; write TRON_RPC_URL_<network>, such as TRON_RPC_URL_mainnet',
    ])
  })

  it('do not print secrets', () => {
    const settings = read({
      TRON_RPC_URL_nile: url,
      TRON_API_KEY_nile: 'key-of-the-provider',
      TRON_PRIVATE_KEY: '11'.repeat(32),
      TRON_SPONSOR_ENERGY: 'true',
    })
    const printed = JSON.stringify(settings, (_key, value) =>
      typeof value === 'bigint' ? String(value) : value,
    )
    for (const secret of ['secret-path', 'key-of-the-provider', '1111']) expect(printed).not.toContain(secret)
  })
})

describe('the minimum payment of TRON settings', () => {
  const minimumOf = (environment: Readonly<Record<string, string>>) =>
    read(environment)?.networks[0]?.minimumPayment

  it('follows the cost of delegating energy on mainnet, for USDT', () => {
    expect(minimumOf({ TRON_RPC_URL_mainnet: url })).toEqual({
      fixed: null,
      coinUsd: 0.3,
      stablecoins: [{ asset: 'TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t', decimals: 6 }],
    })
  })

  it.each(['nile', 'shasta'])('is off on %s', (network) => {
    const environment = { [`TRON_RPC_URL_${network}`]: url }
    expect(minimumOf(environment)).toMatchObject({ fixed: null, coinUsd: null })
  })

  it('is what the operator sets, with the price of TRX', () => {
    const environment = { TRON_MIN_PAYMENT_nile: '500', TRON_COIN_USD_nile: '0.25' }
    expect(minimumOf({ TRON_RPC_URL_nile: url, ...environment })).toMatchObject({
      fixed: 500n,
      coinUsd: 0.25,
    })
  })
})
