import { describe, expect, it } from 'vitest'
import { readAptosSettings } from '../../../src/chains/aptos/settings.js'

const url = 'https://node.example/secret-path'

const read = (environment: Readonly<Record<string, string>>) => {
  const reading = readAptosSettings(environment)
  if ('problems' in reading) throw new Error(reading.problems.join('; '))
  return reading.settings
}

const problemsOf = (environment: Readonly<Record<string, string>>): readonly string[] => {
  const reading = readAptosSettings(environment)
  return 'problems' in reading ? reading.problems : []
}

describe('the Aptos settings', () => {
  it('are null without an endpoint', () => {
    expect(read({ APTOS_TOKENS_mainnet: '0x1' })).toBeNull()
  })

  it('need only an endpoint: chain and tokens of known networks are built in', () => {
    expect(read({ APTOS_RPC_URL_mainnet: url, APTOS_RPC_URL_testnet: url })?.networks).toMatchObject([
      {
        network: 'aptos:1',
        chainId: '1',
        apiKey: null,
        tokens: [{ symbol: 'USDC' }, { symbol: 'USDT' }, {}],
      },
      { network: 'aptos:2', chainId: '2', tokens: [{ symbol: 'USDT', decimals: 6 }] },
    ])
  })

  it('read another network by its chain id, with an API key', () => {
    const settings = read({
      APTOS_RPC_URL_devnet: `${url},${url}/2`,
      APTOS_CHAIN_ID_devnet: '149',
      APTOS_TOKENS_devnet: '0xA=APT/8',
      APTOS_API_KEY_devnet: 'key-of-the-provider',
    })
    expect(settings?.networks).toMatchObject([
      { network: 'aptos:149', tokens: [{ asset: '0xA', symbol: 'APT', decimals: 8 }] },
    ])
    expect(settings?.networks[0]?.rpcUrls).toHaveLength(2)
    expect(settings?.networks[0]?.apiKey?.reveal()).toBe('key-of-the-provider')
  })

  it.each([
    [
      { APTOS_RPC_URL_testnet: 'node' },
      'APTOS_RPC_URL_testnet: must be one or several http(s) URLs, comma separated',
    ],
    [{ APTOS_RPC_URL_testnet: url, APTOS_TOKENS_testnet: 'USDT' }, 'APTOS_TOKENS_testnet: must list'],
    [{ APTOS_RPC_URL_testnet: url, APTOS_TOKENS_testnet: '*' }, 'APTOS_TOKENS_testnet: must list'],
    [{ APTOS_RPC_URL_devnet: url }, 'APTOS_CHAIN_ID_devnet: is required'],
    [
      { APTOS_RPC_URL_testnet: url, APTOS_CHAIN_ID_testnet: 'x' },
      'APTOS_CHAIN_ID_testnet: must be the reference',
    ],
    [{ APTOS_RPC_URL: url }, 'APTOS_RPC_URL: is not a known setting; write APTOS_RPC_URL_<network>'],
    [{ APTOS_SIGNER_testnet: '0x1' }, 'APTOS_SIGNER_testnet: is not a known setting'],
  ])('refuse %j', (environment, problem) => {
    expect(problemsOf(environment).join('; ')).toContain(problem)
  })
})
