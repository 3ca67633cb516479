import { describe, expect, it } from 'vitest'
import { readTezosSettings } from '../../../src/chains/tezos/settings.js'

const url = 'https://node.example/secret-path'
const contract = 'KT1XnTn74bUtxHfDtBmm2bGZAQfhPbvKWR8o'

const read = (environment: Readonly<Record<string, string>>) => {
  const reading = readTezosSettings(environment)
  if ('problems' in reading) throw new Error(reading.problems.join('; '))
  return reading.settings
}

const problemsOf = (environment: Readonly<Record<string, string>>): readonly string[] => {
  const reading = readTezosSettings(environment)
  return 'problems' in reading ? reading.problems : []
}

describe('the Tezos settings', () => {
  it('are null without an endpoint', () => {
    expect(read({ TEZOS_TOKENS_mainnet: contract })).toBeNull()
  })

  it('need one endpoint of either kind', () => {
    const mainnet = {
      network: 'tezos:NetXdQprcVkpaWU',
      tokens: [{ asset: `${contract}:0`, symbol: 'USDt', decimals: 6 }],
    }
    const [octez] = read({ TEZOS_RPC_URL_mainnet: url })?.networks ?? []
    expect(octez).toMatchObject(mainnet)
    expect([octez?.rpcUrls.length, octez?.own.TZKT_URL]).toEqual([1, undefined])
    const [tzkt] = read({ TEZOS_TZKT_URL_mainnet: url })?.networks ?? []
    expect(tzkt).toMatchObject(mainnet)
    expect([tzkt?.rpcUrls.length, tzkt?.own.TZKT_URL?.length]).toEqual([0, 1])
  })

  it.each([
    [{ TEZOS_RPC_URL_ghostnet: url }, 'TEZOS_TOKENS_ghostnet: is required'],
    [{ TEZOS_TZKT_URL_mainnet: 'tzkt' }, 'TEZOS_TZKT_URL_mainnet: must be one or several http(s) URLs'],
    [
      { TEZOS_RPC_URL_mainnet: url, TEZOS_TOKENS_mainnet: `${contract}:01` },
      'TEZOS_TOKENS_mainnet: must list',
    ],
    [{ TEZOS_RPC_URL_mainnet: url, TEZOS_TOKENS_mainnet: 'tz1' }, 'TEZOS_TOKENS_mainnet: must list'],
    [{ TEZOS_RPC_URL_other: url, TEZOS_TOKENS_other: contract }, 'TEZOS_CHAIN_ID_other: is required'],
    [{ TEZOS_API_KEY_mainnet: 'key' }, 'TEZOS_API_KEY_mainnet: is not a known setting'],
  ])('refuse %j', (environment, problem) => {
    expect(problemsOf(environment).join('; ')).toContain(problem)
  })
})
