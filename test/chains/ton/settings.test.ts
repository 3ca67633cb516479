import { inspect } from 'node:util'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { readTonSettings, tonVariables } from '../../../src/chains/ton/settings.js'
import { facilitatorMnemonic } from '../../support/ton/facilitatorMnemonic.js'
import { readSettings } from './harness.js'

const withMnemonic = { TON_MNEMONIC: facilitatorMnemonic }
const problemsOf = (environment: Readonly<Record<string, string>>): readonly string[] => {
  const reading = readTonSettings(environment)
  return 'problems' in reading ? reading.problems : []
}

describe('the TON settings', () => {
  it('are null without a mnemonic and a network', () => {
    expect(readTonSettings({ PORT: '8080' })).toEqual({ settings: null })
  })

  it.each([{ TON_RPC_URL_testnet: 'http://node.example' }, { TON_NETWORKS: 'testnet' }])(
    'require a mnemonic when a network is named: %j',
    (environment) => expect(problemsOf(environment)).toEqual([expect.stringContaining('TON_MNEMONIC')]),
  )

  it('default to mainnet, its USDT and a public endpoint with only a mnemonic', () => {
    const { networks } = readSettings(withMnemonic)
    expect(networks).toMatchObject([
      { network: 'ton:mainnet', globalId: -239, usesPublicRpc: true, acceptsAnyToken: false },
    ])
    expect(networks[0]?.tokens.map(({ asset }) => asset)).toEqual([
      '0:b113a994b5024a16719f69139328eb759596c38a25f59028b146fecdc3621dfe',
    ])
  })

  it.each(['', '*'])('offer the known tokens of a network whose list names none: %j', (list) => {
    const { networks } = readSettings({ ...withMnemonic, TON_TOKENS_mainnet: list })
    expect(networks).toMatchObject([{ tokens: readSettings(withMnemonic).networks[0]?.tokens }])
  })

  it('serve the networks with an endpoint, or those that are named', () => {
    const environment = { ...withMnemonic, TON_RPC_URL_testnet: 'http://node.example' }
    expect(readSettings(environment).networks.map(({ network }) => network)).toEqual(['ton:testnet'])
    const named = readSettings({ ...environment, TON_NETWORKS: 'testnet, mainnet' })
    expect(named.networks.map(({ network }) => network)).toEqual(['ton:mainnet', 'ton:testnet'])
  })

  it('accept a mnemonic with several spaces between words', () => {
    const { mnemonic } = readSettings({ TON_MNEMONIC: ` ${facilitatorMnemonic.replaceAll(' ', '  ')}\n` })
    expect(mnemonic.reveal()).toBe(facilitatorMnemonic)
  })

  it.each([
    ['TON_MNEMONIC', 'one two three'],
    ['TON_NETWORKS', 'moonnet'],
    ['TON_RPC_URL_testnet', 'ftp://node.example'],
    ['TON_API_KEY_testnet', 'two words'],
    ['TON_TOKENS_testnet', 'USDT'],
    ['TON_RELAY_WALLETS', '77'],
    ['TON_MAX_RELAY_NANOTON', '777'],
    ['TON_RELAY_BUDGET_NANOTON_PER_HOUR_testnet', '-1'],
  ])('name %s when it is invalid, and not its value', (name, value) => {
    const problems = problemsOf({
      ...withMnemonic,
      TON_RPC_URL_testnet: 'http://node.example',
      [name]: value,
    })
    expect(problems).toHaveLength(1)
    expect(problems[0]).toContain(name)
    expect(problems[0]).not.toContain(value)
  })

  it('report an unknown variable', () => {
    expect(problemsOf({ ...withMnemonic, TON_RPC_URL: 'http://node.example' })).toEqual([
      'TON_RPC_URL: is not a known setting; write TON_RPC_URL_<network>, such as TON_RPC_URL_mainnet',
    ])
  })

  it('do not print the mnemonic, an API key or the URL of an endpoint', () => {
    const environment = {
      ...withMnemonic,
      TON_RPC_URL_testnet: 'http://node.example/secret-path',
      TON_API_KEY_testnet: 'secret-key',
    }
    const settings = readSettings(environment)
    const shown = `${JSON.stringify(settings, (_, value) => (typeof value === 'bigint' ? `${value}` : value))}${inspect(settings, { depth: 9 })}`
    for (const secret of ['accident', 'secret-path', 'secret-key']) expect(shown).not.toContain(secret)
  })

  it('never throw, whatever the variables hold', () => {
    const names = [
      ...tonVariables.family,
      ...tonVariables.perNetwork.map((name) => name.replace('<network>', 'testnet')),
    ]
    fc.assert(
      fc.property(fc.dictionary(fc.constantFrom(...names), fc.string()), (environment) => {
        readTonSettings(environment)
      }),
    )
  })
})

describe('the minimum payment of TON settings', () => {
  const minimumOf = (environment: Readonly<Record<string, string>>) =>
    readSettings({ ...withMnemonic, ...environment }).networks[0]?.minimumPayment

  it('follows the cost of relaying on mainnet, for USDT', () => {
    const asset = '0:b113a994b5024a16719f69139328eb759596c38a25f59028b146fecdc3621dfe'
    expect(minimumOf({})).toEqual({ fixed: null, coinUsd: 2, stablecoins: [{ asset, decimals: 6 }] })
  })

  it('is off on testnet', () => {
    expect(minimumOf({ TON_NETWORKS: 'testnet' })).toEqual({ fixed: null, coinUsd: null, stablecoins: [] })
  })

  it('is what the operator sets, with the price of TON', () => {
    const environment = { TON_MIN_PAYMENT_mainnet: '500', TON_COIN_USD_mainnet: '1.5' }
    expect(minimumOf(environment)).toMatchObject({ fixed: 500n, coinUsd: 1.5 })
  })
})
