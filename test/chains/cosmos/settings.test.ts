import { describe, expect, it } from 'vitest'
import { readCosmosSettings } from '../../../src/chains/cosmos/settings.js'

const url = 'https://node.example/secret-path'

const read = (environment: Readonly<Record<string, string>>) => {
  const reading = readCosmosSettings(environment)
  if ('problems' in reading) throw new Error(reading.problems.join('; '))
  return reading.settings
}

const problemsOf = (environment: Readonly<Record<string, string>>): readonly string[] => {
  const reading = readCosmosSettings(environment)
  return 'problems' in reading ? reading.problems : []
}

describe('the Cosmos settings', () => {
  it('are null without an endpoint', () => {
    expect(read({})).toBeNull()
    expect(read({ COSMOS_TOKENS_noble: 'uusdc' })).toBeNull()
  })

  it('need only an endpoint', () => {
    const settings = read({ COSMOS_RPC_URL_noble: url, COSMOS_RPC_URL_grand: url })
    expect(settings?.networks).toMatchObject([
      {
        network: 'cosmos:noble-1',
        chainId: 'noble-1',
        tokens: [{ asset: 'uusdc', symbol: 'USDC', decimals: 6 }],
        own: { PREFIX: 'noble' },
      },
      { network: 'cosmos:grand-1', own: { PREFIX: 'noble' } },
    ])
  })

  it('read another bank chain by its chain id, prefix and denomination', () => {
    const settings = read({
      COSMOS_RPC_URL_osmosis: url,
      COSMOS_CHAIN_ID_osmosis: 'osmosis-1',
      COSMOS_PREFIX_osmosis: 'osmo',
      COSMOS_TOKENS_osmosis: `ibc/${'AB'.repeat(32)}=USDC/6`,
    })
    expect(settings?.networks).toMatchObject([
      {
        network: 'cosmos:osmosis-1',
        own: { PREFIX: 'osmo' },
        tokens: [{ asset: `ibc/${'AB'.repeat(32)}`, symbol: 'USDC', decimals: 6 }],
      },
    ])
  })

  it('let a chain that replaces Noble keep its name', () => {
    const settings = read({
      COSMOS_RPC_URL_noble: url,
      COSMOS_CHAIN_ID_noble: 'noble-2',
      COSMOS_PREFIX_noble: 'nbl',
      COSMOS_TOKENS_noble: 'usdc=USDC/6',
    })
    expect(settings?.networks).toMatchObject([{ network: 'cosmos:noble-2', own: { PREFIX: 'nbl' } }])
  })

  it.each([
    ['COSMOS_RPC_URL_grand', 'ftp://hunter2'],
    ['COSMOS_TOKENS_grand', '2hunter2'],
    ['COSMOS_PREFIX_grand', 'HUNTER2'],
    ['COSMOS_SIGNER_grand', 'hunter2'],
    ['COSMOS_CROSS_CHECK_AMOUNT', '-1'],
  ])('name %s when it is invalid, and not its value', (name, value) => {
    const [problem = '', ...others] = problemsOf({ [name]: value })
    expect(problem).toMatch(new RegExp(`^${name}: must `))
    expect(problem.toLowerCase()).not.toContain('hunter2')
    expect(others).toEqual([])
  })

  it('report unknown variables, and a network without a chain id or prefix', () => {
    expect(problemsOf({ COSMOS_RPC_URL: url })[0]).toContain('write COSMOS_RPC_URL_<network>')
    expect(problemsOf({ COSMOS_RPC_URL_local: url })[0]).toContain('COSMOS_CHAIN_ID_local: is required')
    const known = { COSMOS_CHAIN_ID_local: 'local-1', COSMOS_TOKENS_local: 'uusd' }
    expect(problemsOf({ COSMOS_RPC_URL_local: url, ...known })).toEqual([
      'COSMOS_PREFIX_local: is required, because local is not built in',
    ])
  })
})
