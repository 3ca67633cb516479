import { describe, expect, it } from 'vitest'
import { readNearSettings } from '../../../src/chains/near/settings.js'

const url = 'https://node.example/secret-path'

const read = (environment: Readonly<Record<string, string>>) => {
  const reading = readNearSettings(environment)
  if ('problems' in reading) throw new Error(reading.problems.join('; '))
  return reading.settings
}

const problemsOf = (environment: Readonly<Record<string, string>>): readonly string[] => {
  const reading = readNearSettings(environment)
  return 'problems' in reading ? reading.problems : []
}

describe('the NEAR settings', () => {
  it('are null without an endpoint', () => {
    expect(read({})).toBeNull()
    expect(read({ NEAR_TOKENS_mainnet: 'usdt.tether-token.near' })).toBeNull()
  })

  it('need only an endpoint', () => {
    expect(read({ NEAR_RPC_URL_mainnet: url })?.networks).toMatchObject([
      {
        network: 'near:mainnet',
        chainId: 'mainnet',
        tokens: [
          {
            asset: '17208628f84f5d6ad33f0da3bbbeb27ffcb398eac501a31bd6ad2011e36133a1',
            symbol: 'USDC',
            decimals: 6,
          },
          { asset: 'usdt.tether-token.near', symbol: 'USDT', decimals: 6 },
        ],
        signers: [],
        apiKey: null,
        pollIntervalMs: 1_000,
      },
    ])
  })

  it('read several networks, an unknown one by its chain id', () => {
    const settings = read({
      NEAR_RPC_URL_testnet: `${url},${url}/2`,
      NEAR_API_KEY_testnet: 'key-of-the-provider',
      NEAR_SIGNER_testnet: 'facilitator.testnet',
      NEAR_RPC_URL_local: url,
      NEAR_CHAIN_ID_local: 'localnet',
      NEAR_TOKENS_local: 'usd.test.near=USD/18',
    })
    const [testnet, local] = settings?.networks ?? []
    expect(testnet?.rpcUrls).toHaveLength(2)
    expect(testnet?.apiKey?.reveal()).toBe('key-of-the-provider')
    expect(testnet?.signers).toEqual(['facilitator.testnet'])
    expect(local).toMatchObject({
      network: 'near:localnet',
      tokens: [{ asset: 'usd.test.near', symbol: 'USD', decimals: 18 }],
    })
  })

  it.each([
    ['NEAR_RPC_URL_testnet', 'ftp://hunter2'],
    ['NEAR_TOKENS_testnet', 'Hunter2.near'],
    ['NEAR_TOKENS_testnet', '*'],
    ['NEAR_SIGNER_testnet', 'hunter2..near'],
    ['NEAR_CROSS_CHECK_AMOUNT', '-1'],
    ['NEAR_API_KEY_testnet', 'hunter2 with a blank'],
    ['NEAR_POLL_INTERVAL_MS_testnet', '0'],
  ])('name %s when it is invalid, and not its value', (name, value) => {
    const [problem = '', ...others] = problemsOf({ [name]: value })
    expect(problem).toMatch(new RegExp(`^${name}: must `))
    expect(problem).not.toContain('unter2')
    expect(others).toEqual([])
  })

  it('report unknown variables, and a network without a chain id', () => {
    expect(problemsOf({ NEAR_RPC_URL: url })[0]).toContain('write NEAR_RPC_URL_<network>')
    expect(problemsOf({ NEAR_RPC_URL_local: url })[0]).toContain('NEAR_CHAIN_ID_local: is required')
  })
})
