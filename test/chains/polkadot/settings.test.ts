import { describe, expect, it } from 'vitest'
import { readPolkadotSettings } from '../../../src/chains/polkadot/settings.js'

const url = 'https://node.example/key'

const read = (environment: Readonly<Record<string, string>>) => {
  const reading = readPolkadotSettings(environment)
  if ('problems' in reading || reading.settings === null) throw new Error('The settings cannot be read')
  return reading.settings
}

const problemsOf = (environment: Readonly<Record<string, string>>) => {
  const reading = readPolkadotSettings(environment)
  return 'problems' in reading ? reading.problems : []
}

describe('settings of Polkadot', () => {
  it('are null without an endpoint', () => {
    expect(readPolkadotSettings({})).toEqual({ settings: null })
  })

  it('know Asset Hub and its tokens', () => {
    expect(read({ POLKADOT_RPC_URL_assethub: url }).networks).toMatchObject([
      {
        network: 'polkadot:68d56f15f85d3136970ec16946040bc1',
        tokens: [
          { asset: '1984', symbol: 'USDT', decimals: 6 },
          { asset: '1337', symbol: 'USDC', decimals: 6 },
        ],
        pollIntervalMs: 3_000,
      },
    ])
  })

  it('need tokens on Westend, and a chain id elsewhere', () => {
    expect(problemsOf({ POLKADOT_RPC_URL_westend: url })).toEqual([
      expect.stringContaining('POLKADOT_TOKENS_westend'),
    ])
    expect(problemsOf({ POLKADOT_RPC_URL_kusama: url, POLKADOT_TOKENS_kusama: '1984' })).toEqual([
      expect.stringContaining('POLKADOT_CHAIN_ID_kusama'),
    ])
    const chainId = '48239ef607d7928874027a43a6768920'
    const environment = {
      POLKADOT_RPC_URL_kusama: url,
      POLKADOT_TOKENS_kusama: '1984=USDT/6',
      POLKADOT_CHAIN_ID_kusama: chainId,
    }
    expect(read(environment).networks).toMatchObject([{ network: `polkadot:${chainId}` }])
  })

  it.each([
    ['POLKADOT_TOKENS_assethub', '01984'],
    ['POLKADOT_TOKENS_assethub', 'USDT'],
    ['POLKADOT_TOKENS_assethub', '*'],
    ['POLKADOT_CHAIN_ID_assethub', `0x${'68d56f15'.repeat(8)}`],
    ['POLKADOT_SIGNER_assethub', 'x'],
    ['POLKADOT_API_KEY_assethub', 'x'],
  ])('report %s=%s by name, never by value', (name, value) => {
    const problems = problemsOf({ POLKADOT_RPC_URL_assethub: url, [name]: value })
    expect(problems).toEqual([expect.stringContaining(name)])
    expect(problems.join()).not.toContain(url)
  })
})
