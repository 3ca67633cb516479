import { describe, expect, it } from 'vitest'
import { readStacksSettings } from '../../../src/chains/stacks/settings.js'

const url = 'https://node.example/key'

const read = (environment: Readonly<Record<string, string>>) => {
  const reading = readStacksSettings(environment)
  if ('problems' in reading || reading.settings === null) throw new Error('The settings cannot be read')
  return reading.settings
}

const problemsOf = (environment: Readonly<Record<string, string>>) => {
  const reading = readStacksSettings(environment)
  return 'problems' in reading ? reading.problems : []
}

const contract = 'SP3Y2ZSH8P7D50B0VBTSX11S7XSG24M1VB9YFQA4K.token-susdc'

describe('settings of Stacks', () => {
  it('are null without an endpoint', () => {
    expect(readStacksSettings({})).toEqual({ settings: null })
  })

  it('know mainnet and testnet', () => {
    const environment = { STACKS_RPC_URL_mainnet: url, STACKS_RPC_URL_testnet: url }
    expect(read(environment).networks).toMatchObject([
      {
        network: 'stacks:1',
        tokens: [{ asset: contract, decimals: 6 }],
        own: { CONFIRMATIONS: 3, BURN_CONFIRMATIONS: 0 },
      },
      { network: 'stacks:2147483648' },
    ])
  })

  it('announce signers, send a key, and name one token of a contract', () => {
    const { networks } = read({
      STACKS_RPC_URL_mainnet: url,
      STACKS_SIGNER_mainnet: 'SP3Y2ZSH8P7D50B0VBTSX11S7XSG24M1VB9YFQA4K',
      STACKS_API_KEY_mainnet: 'key',
      STACKS_TOKENS_mainnet: `${contract}::usd-token!=USD/6`,
      STACKS_CONFIRMATIONS_mainnet: '6',
      STACKS_BURN_CONFIRMATIONS_mainnet: '1',
    })
    expect(networks).toMatchObject([
      {
        signers: ['SP3Y2ZSH8P7D50B0VBTSX11S7XSG24M1VB9YFQA4K'],
        tokens: [{ asset: `${contract}::usd-token!`, symbol: 'USD', decimals: 6 }],
        own: { CONFIRMATIONS: 6, BURN_CONFIRMATIONS: 1 },
      },
    ])
    expect(networks[0]?.apiKey?.reveal()).toBe('key')
  })

  it.each([
    ['STACKS_TOKENS_mainnet', 'token-susdc'],
    ['STACKS_TOKENS_mainnet', '*'],
    ['STACKS_SIGNER_mainnet', 'x'],
    ['STACKS_CONFIRMATIONS_mainnet', '0'],
    ['STACKS_BURN_CONFIRMATIONS_mainnet', '4'],
    ['STACKS_CHAIN_ID_mainnet', 'main'],
  ])('report %s=%s by name, never by value', (name, value) => {
    const problems = problemsOf({ STACKS_RPC_URL_mainnet: url, [name]: value })
    expect(problems).toEqual([expect.stringContaining(name)])
    expect(problems.join()).not.toContain(url)
  })
})
