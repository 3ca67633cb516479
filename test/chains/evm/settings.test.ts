import { inspect } from 'node:util'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { readAddress } from '../../../src/chains/evm/abi/address.js'
import { knownNetworks } from '../../../src/chains/evm/networks.js'
import { evmVariables, readEvmSettings, wellKnownFactories } from '../../../src/chains/evm/settings.js'

const key = `0x${'1a'.repeat(32)}`
const otherKey = 'b2'.repeat(32)
const address = '0x036CbD53842c5426634e7929541eC2318f3dCF7e'
const chainId = 84532

const read = (environment: Readonly<Record<string, string>>) => {
  const reading = readEvmSettings(environment)
  if ('problems' in reading) throw new Error(reading.problems.join('\n'))
  if (reading.settings === null) throw new Error('The family is off')
  return reading.settings
}
const readNetwork = (variables: Readonly<Record<string, string>>, id = chainId) => {
  const environment = Object.entries(variables).map(([name, value]) => [`${name}_${id}`, value])
  const [network] = read({
    EVM_PRIVATE_KEY: key,
    EVM_NETWORKS: String(id),
    [`EVM_RPC_URL_${id}`]: 'http://node.example',
    ...Object.fromEntries(environment),
  }).networks
  if (network === undefined) throw new Error('There is no network')
  return network
}
const problemsOf = (environment: Readonly<Record<string, string>>): readonly string[] => {
  const reading = readEvmSettings(environment)
  return 'problems' in reading ? reading.problems : []
}

describe('the EVM settings', () => {
  it('are null without a key and a network', () => {
    expect(readEvmSettings({ PORT: '8080' })).toEqual({ settings: null })
  })

  it.each([{ EVM_RPC_URL_8453: 'http://node.example' }, { EVM_NETWORKS: '8453' }])(
    'require a key when a network is named: %j',
    (environment) => expect(problemsOf(environment)).toEqual([expect.stringContaining('EVM_PRIVATE_KEY')]),
  )

  it('default to the main networks and public endpoints with only a key', () => {
    const { networks } = read({ EVM_PRIVATE_KEY: key })
    expect(networks.map(({ chainId: id }) => id)).toEqual([1, 10, 8453, 42161, 57073, 80094])
    expect(networks.every(({ usesPublicRpc }) => usesPublicRpc)).toBe(true)
  })

  it('serve the networks with an endpoint, or those that are named', () => {
    const environment = { EVM_PRIVATE_KEY: key, EVM_RPC_URL_8453: 'http://node.example' }
    expect(read(environment).networks.map(({ network }) => network)).toEqual(['eip155:8453'])
    const named = read({ ...environment, EVM_NETWORKS: '10, 8453,10' })
    expect(named.networks.map(({ network }) => network)).toEqual(['eip155:10', 'eip155:8453'])
  })

  it('read several keys, with and without 0x, without duplicates', () => {
    const { privateKeys } = read({ EVM_PRIVATE_KEY: `${key}, ${otherKey},${key.slice(2).toUpperCase()}` })
    expect(privateKeys.map((secret) => secret.reveal())).toEqual([key, `0x${otherKey}`])
  })

  it('deploy no wallets by default, and only through well-known factories', () => {
    expect(read({ EVM_PRIVATE_KEY: key })).toMatchObject({
      deploysSmartWallets: false,
      takesSharedRouterPermits: false,
      smartWalletFactories: wellKnownFactories,
      expiryMarginSeconds: 6,
    })
    const none = read({ EVM_PRIVATE_KEY: key, EVM_SMART_WALLET_FACTORIES: 'none' })
    expect(none.smartWalletFactories).toEqual([])
  })

  it('pay refunds for no receiver by default, else for pairs of one and of who signs for it', () => {
    const [receiver, authorizer] = [`0x${'a'.repeat(40)}`, `0x${'B'.repeat(40)}`]
    expect(read({ EVM_PRIVATE_KEY: key }).refundReceivers).toEqual([])
    const EVM_REFUND_RECEIVERS = `${receiver}:${authorizer}, ${authorizer}`
    expect(read({ EVM_PRIVATE_KEY: key, EVM_REFUND_RECEIVERS }).refundReceivers).toEqual([
      { receiver, authorizer },
      { receiver: authorizer, authorizer },
    ])
    const account = '2f6f3c1e-6f0b-4a53-9b0e-0d6f7c9a1b11'
    const ofAccount = read({ EVM_PRIVATE_KEY: key, EVM_REFUND_RECEIVERS: `${receiver}:${account}` })
    expect(ofAccount.refundReceivers).toEqual([{ receiver, authorizer: account }])
  })

  it('sign for no merchant by default, else by keys that pay for no gas', () => {
    expect(read({ EVM_PRIVATE_KEY: key }).holdAuthorizerKeys).toEqual([])
    const EVM_HOLD_AUTHORIZER_KEY = `0x${otherKey}`
    const { holdAuthorizerKeys } = read({ EVM_PRIVATE_KEY: key, EVM_HOLD_AUTHORIZER_KEY })
    expect(holdAuthorizerKeys.map((secret) => secret.reveal())).toEqual([`0x${otherKey}`])
    expect(readEvmSettings({ EVM_PRIVATE_KEY: key, EVM_HOLD_AUTHORIZER_KEY: key })).toEqual({
      problems: ['EVM_HOLD_AUTHORIZER_KEY: must not be a key of EVM_PRIVATE_KEY'],
    })
  })
})

describe('a network', () => {
  it('that is built in accepts only its known tokens', () => {
    expect(readNetwork({})).toMatchObject({ tokens: [{ address }], acceptsAnyToken: false })
  })

  it('that is not built in accepts any token, unless a list is given', () => {
    expect(readNetwork({}, 31337)).toMatchObject({ tokens: [], acceptsAnyToken: true })
    expect(readNetwork({ EVM_TOKENS: address }, 31337)).toMatchObject({ acceptsAnyToken: false })
  })

  it.each([
    ['*', { acceptsAnyToken: true, tokens: [{ symbol: 'USDC', address }] }],
    [address, { acceptsAnyToken: false, tokens: [{ address }] }],
    [
      `${address}:USD Coin:2`,
      { acceptsAnyToken: false, tokens: [{ address, name: 'USD Coin', version: '2' }] },
    ],
    [
      `${address}:T:1:18, *`,
      { acceptsAnyToken: true, tokens: [{ address, name: 'T', version: '1', decimals: 18 }] },
    ],
  ])('reads the tokens %j', (EVM_TOKENS, expected) => {
    expect(readNetwork({ EVM_TOKENS })).toMatchObject(expected)
  })

  it('that is not built in requires an endpoint', () => {
    expect(problemsOf({ EVM_PRIVATE_KEY: key, EVM_NETWORKS: '31337' })).toEqual([
      'EVM_RPC_URL_31337: is required for a network that is not built in',
    ])
  })

  it('has its own finality depth, 64 if unknown, or the configured one', () => {
    const depthOf = (chainId: number, environment: Readonly<Record<string, string>> = {}) => {
      const reading = readEvmSettings({
        EVM_PRIVATE_KEY: key,
        EVM_NETWORKS: `${chainId}`,
        [`EVM_RPC_URL_${chainId}`]: 'https://node.example',
        ...environment,
      })
      return 'settings' in reading ? reading.settings?.networks[0]?.finalityDepth : null
    }
    expect([1, 8_453, 42_161, 57_073, 31_337].map((chainId) => depthOf(chainId))).toEqual([
      64, 64, 256, 128, 64,
    ])
    expect(depthOf(8_453, { EVM_FINALITY_DEPTH_8453: '7' })).toBe(7)
  })

  it('keeps the order of its endpoints', () => {
    const { rpcUrls } = readNetwork({ EVM_RPC_URL: 'https://a.example/key, http://b.example' })
    expect(rpcUrls.map((url) => url.reveal())).toEqual(['https://a.example/key', 'http://b.example'])
  })
})

describe('an invalid variable', () => {
  const bad: readonly [string, string][] = [
    ['EVM_PRIVATE_KEY', 'abc'],
    ['EVM_PRIVATE_KEY', `${key},nonsense`],
    ['EVM_NETWORKS', '0'],
    ['EVM_NETWORKS', 'base'],
    ['EVM_RPC_TIMEOUT_MS', '99'],
    ['EVM_RPC_TIMEOUT_MS', '1e3'],
    ['EVM_WALLET_CALL_TIMEOUT_MS', '99'],
    ['EVM_EXPIRY_MARGIN_SECONDS', '-1'],
    ['DEPLOY_ERC4337_WITH_EIP6492', 'yes'],
    ['EVM_SMART_WALLET_FACTORIES', '0x1'],
    ['EVM_CROSS_CHECK_AMOUNT', '1.5'],
    ['EVM_RPC_URL_84532', 'node.example'],
    ['EVM_RPC_URL_84532', 'ftp://node.example'],
    ['EVM_RPC_URL_84532', ','],
    ['EVM_TOKENS_84532', 'USDC'],
    ['EVM_TOKENS_84532', `${address}:name`],
    ['EVM_CONFIRMATIONS_84532', '0'],
    ['EVM_FINALITY_DEPTH_84532', '0'],
    ['EVM_POLL_INTERVAL_MS_84532', '9'],
    ['EVM_GAS_BUDGET_GWEI_PER_HOUR_84532', '0'],
  ]

  it.each(bad)('is named: %s=%j', (variable, value) => {
    expect(problemsOf({ EVM_PRIVATE_KEY: key, [variable]: value })).toEqual([
      expect.stringMatching(new RegExp(`^${variable}: `)),
    ])
  })

  it('is reported together with all others', () => {
    const environment = Object.fromEntries(bad)
    const named = problemsOf(environment).map((problem) => problem.split(':')[0])
    expect(new Set(named)).toEqual(new Set(Object.keys(environment)))
  })
})

describe('values of variables', () => {
  const variables = [
    ...evmVariables.family,
    ...evmVariables.perNetwork.map((name) => name.replace('<chain id>', String(chainId))),
  ]

  it('never appear in problems', () => {
    const secret = 'zzSecretzz'
    const value = fc.tuple(fc.string(), fc.string()).map(([before, after]) => `${before}${secret}${after}`)
    fc.assert(
      fc.property(fc.dictionary(fc.constantFrom(...variables), value, { minKeys: 1 }), (environment) => {
        const reading = readEvmSettings(environment)
        expect('problems' in reading && reading.problems.length > 0).toBe(true)
        expect(inspect(reading, { depth: 9 })).not.toContain(secret)
      }),
    )
  })

  it('that are secret are not printed with the settings', () => {
    const settings = read({ EVM_PRIVATE_KEY: key, EVM_RPC_URL_8453: 'https://node.example/s3cr3t' })
    const texts = [
      inspect(settings, { depth: 9 }),
      JSON.stringify(settings, (_name, value) => (typeof value === 'bigint' ? String(value) : value)),
      `${settings.privateKeys}`,
    ]
    for (const text of texts) {
      expect(text).not.toContain(key.slice(2))
      expect(text).not.toContain('s3cr3t')
    }
  })

  it('never make the parser throw', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.constantFrom(...variables), fc.string()), (environment) => {
        readEvmSettings(environment)
      }),
    )
  })
})

describe('the maximum price per gas', () => {
  it.each([
    ['50', 50_000_000_000n],
    ['0.25', 250_000_000n],
    ['0.000000001', 1n],
    ['123456789.987654321', 123_456_789_987_654_321n],
  ])('is read as gwei: %s', (text, wei) => {
    expect(readNetwork({ EVM_MAX_FEE_GWEI: text }).maxFeePerGas).toBe(wei)
    expect(readNetwork({ EVM_MAX_TIP_GWEI: text }).maxPriorityFeePerGas).toBe(wei)
  })

  it('is what is plausible by default, and more on networks that are not built in', () => {
    expect(readNetwork({})).toMatchObject({
      maxFeePerGas: null,
      maxPriorityFeePerGas: null,
      plausibleFees: { maxFeePerGas: 100_000_000_000n, maxPriorityFeePerGas: 3_000_000_000n },
    })
    const { networks } = read({ EVM_PRIVATE_KEY: key, EVM_RPC_URL_137: 'https://node.example' })
    expect(networks[0]?.plausibleFees).toEqual({
      maxFeePerGas: 1_000_000_000_000n,
      maxPriorityFeePerGas: 50_000_000_000n,
    })
  })

  it.each(['0', '0.0', '-1', '1e9', '1.', '.5', '0.0000000001', 'fifty', '0x10', '1,5'])(
    'rejects %s',
    (text) => {
      const environment = { EVM_PRIVATE_KEY: key, EVM_NETWORKS: '8453', EVM_MAX_FEE_GWEI_8453: text }
      expect(problemsOf(environment)).toEqual([expect.stringContaining('EVM_MAX_FEE_GWEI_8453: must be')])
    },
  )
})

it('warns below 100 settlements by default', () => {
  const environment = { EVM_PRIVATE_KEY: key, EVM_NETWORKS: '8453' }
  expect(read(environment).lowBalanceSettlements).toBe(100)
  expect(read({ ...environment, EVM_LOW_SETTLEMENTS_LEFT: '7' }).lowBalanceSettlements).toBe(7)
})

describe('the minimum payment of EVM settings', () => {
  const minimumOf = (environment: Readonly<Record<string, string>>, id: number) =>
    read({ EVM_PRIVATE_KEY: key, EVM_NETWORKS: String(id), ...environment }).networks[0]?.minimumPayment

  it.each(knownNetworks.map((network) => [network.name, network] as const))(
    'of %s follows the gas only on a main network, for its known tokens',
    (_name, { chainId: id, isTestnet, tokens }) => {
      const minimum = minimumOf({}, id)
      expect(minimum?.fixed).toBeNull()
      expect(minimum?.coinUsd === null).toBe(isTestnet)
      // Compared with addresses in EIP-55 form.
      const assets = tokens.map(({ address }) => ({ asset: readAddress(address), decimals: 6 }))
      expect(minimum?.stablecoins).toEqual(assets)
    },
  )

  it('is off on a network that is not built in', () => {
    const environment = { EVM_RPC_URL_137: 'https://node.example' }
    expect(minimumOf(environment, 137)).toEqual({ fixed: null, coinUsd: null, stablecoins: [] })
  })

  it('is what the operator sets, with the price of the coin', () => {
    const environment = { EVM_MIN_PAYMENT_84532: '500', EVM_COIN_USD_84532: '2500.5' }
    expect(minimumOf(environment, 84_532)).toMatchObject({ fixed: 500n, coinUsd: 2_500.5 })
    expect(minimumOf({ EVM_MIN_PAYMENT_8453: '0' }, 8_453)).toMatchObject({ fixed: 0n, coinUsd: 3_000 })
  })

  it.each([
    ['EVM_MIN_PAYMENT_8453', '0.5'],
    ['EVM_COIN_USD_8453', '-1'],
    ['EVM_COIN_USD_8453', '1e3'],
    ['EVM_COIN_USD_8453', '1.1234567'],
    ['EVM_COIN_USD_8453', '1000001'],
  ])('rejects %s=%s', (name, value) => {
    const environment = { EVM_PRIVATE_KEY: key, EVM_NETWORKS: '8453', [name]: value }
    expect(problemsOf(environment)).toEqual([expect.stringContaining(`${name}: must be`)])
  })
})
