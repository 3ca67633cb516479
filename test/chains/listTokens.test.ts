import { afterEach, describe, expect, it } from 'vitest'
import { type OpenNetwork, openNetwork } from '../support/openNetwork.js'
import { facilitatorMnemonic } from '../support/ton/facilitatorMnemonic.js'
import { walletForms } from '../support/walletForms.js'

/* What is known of a network without asking it: its endpoint does not exist. */

const nowhere = 'http://127.0.0.1:9'
const evmKey = { EVM_PRIVATE_KEY: `0x${'11'.repeat(32)}` }
const solanaKey = { SOLANA_PRIVATE_KEY: walletForms.solana?.environment.SOLANA_PRIVATE_KEY ?? '' }
const tonKey = { TON_MNEMONIC: facilitatorMnemonic }
const usdtOnTon = '0:b113a994b5024a16719f69139328eb759596c38a25f59028b146fecdc3621dfe'
const usdcOnSolana = 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v'
const otherMint = 'So11111111111111111111111111111111111111112'
const otherToken = '0x036cbd53842c5426634e7929541ec2318f3dcf7e'

let opened: OpenNetwork | null = null
afterEach(async () => {
  await opened?.close()
  opened = null
})

const open = async (network: string, environment: Readonly<Record<string, string>>) => {
  opened = await openNetwork(network, environment)
  const [scheme] = opened.schemes
  if (scheme === undefined) throw new Error(`${network} has no scheme`)
  return scheme
}

describe('the currencies of a network', () => {
  it.each<[string, string, Readonly<Record<string, string>>, readonly string[]]>([
    ['built in', 'eip155:10', { ...evmKey, EVM_RPC_URL_10: nowhere }, ['USDC', 'USDT0']],
    [
      'built in',
      'solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp',
      { ...solanaKey, SOLANA_RPC_URL_mainnet: nowhere },
      ['USDC', 'USDT', 'PYUSD'],
    ],
    ['built in', 'ton:mainnet', { ...tonKey, TON_RPC_URL_mainnet: nowhere }, ['USDT']],
    ['built in', 'tron:mainnet', { TRON_RPC_URL_mainnet: nowhere }, ['USDT']],
    ['built in', 'near:mainnet', { NEAR_RPC_URL_mainnet: nowhere }, ['USDC', 'USDT']],
    [
      'built in, without what others call USDT',
      'aptos:1',
      { APTOS_RPC_URL_mainnet: nowhere },
      ['USDC', 'USDT'],
    ],
    [
      "built in, by their issuer's symbol",
      'tezos:NetXdQprcVkpaWU',
      { TEZOS_RPC_URL_mainnet: nowhere },
      ['USDT'],
    ],
    [
      'built in',
      'polkadot:68d56f15f85d3136970ec16946040bc1',
      { POLKADOT_RPC_URL_assethub: nowhere },
      ['USDT', 'USDC'],
    ],
    ['no placeholders', 'stacks:1', { STACKS_RPC_URL_mainnet: nowhere }, []],
    ['built in', 'cosmos:noble-1', { COSMOS_RPC_URL_noble: nowhere }, ['USDC']],
    [
      'chosen, with symbols',
      'solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp',
      {
        ...solanaKey,
        SOLANA_RPC_URL_mainnet: nowhere,
        SOLANA_TOKENS_mainnet: `${otherMint}=wSOL/9,${usdcOnSolana}`,
      },
      ['wSOL', 'USDC'],
    ],
    [
      'none without a symbol',
      'solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp',
      { ...solanaKey, SOLANA_RPC_URL_mainnet: nowhere, SOLANA_TOKENS_mainnet: otherMint },
      [],
    ],
    [
      'none whose contract was not read',
      'eip155:8453',
      { ...evmKey, EVM_RPC_URL_8453: nowhere, EVM_TOKENS_8453: otherToken },
      [],
    ],
    [
      'chosen, in another spelling',
      'ton:mainnet',
      {
        ...tonKey,
        TON_RPC_URL_mainnet: nowhere,
        TON_TOKENS_mainnet: 'EQCxE6mUtQJKFnGfaROTKOt1lZbDiiX1kCixRv7Nw2Id_sDs',
      },
      ['USDT'],
    ],
    [
      'chosen, with symbols',
      'tron:nile',
      { TRON_RPC_URL_nile: nowhere, TRON_TOKENS_nile: 'TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t=USDD/18' },
      ['USDD'],
    ],
  ])('%s: %s', async (_what, network, environment, symbols) => {
    const scheme = await open(network, environment)
    const tokens = scheme.network.listTokens()
    expect(tokens.map(({ symbol }) => symbol)).toEqual(symbols)
    for (const { asset } of tokens) {
      expect(scheme.network.isAsset(asset)).toBe(true)
    }
  })

  it('of TON are named by the raw address of their master', async () => {
    const environment = { ...tonKey, TON_RPC_URL_mainnet: nowhere }
    const scheme = await open('ton:mainnet', environment)
    expect(scheme.network.listTokens()).toMatchObject([{ asset: usdtOnTon, isDollar: true, decimals: 6 }])
  })
})

describe('whether money of a network is worthless', () => {
  it.each<[string, Readonly<Record<string, string>>, boolean]>([
    ['eip155:8453', { ...evmKey, EVM_RPC_URL_8453: nowhere }, false],
    ['eip155:84532', { ...evmKey, EVM_RPC_URL_84532: nowhere }, true],
    ['eip155:80002', { ...evmKey, EVM_RPC_URL_80002: nowhere }, true],
    ['eip155:777', { ...evmKey, EVM_RPC_URL_777: nowhere }, false],
    ['ton:mainnet', { ...tonKey, TON_RPC_URL_mainnet: nowhere }, false],
    ['ton:testnet', { ...tonKey, TON_RPC_URL_testnet: nowhere }, true],
    ['tron:mainnet', { TRON_RPC_URL_mainnet: nowhere }, false],
    ['tron:shasta', { TRON_RPC_URL_shasta: nowhere }, true],
    ['near:mainnet', { NEAR_RPC_URL_mainnet: nowhere }, false],
    ['near:testnet', { NEAR_RPC_URL_testnet: nowhere }, true],
    ['cosmos:noble-1', { COSMOS_RPC_URL_noble: nowhere }, false],
    [
      'cosmos:osmosis-1',
      {
        COSMOS_RPC_URL_osmosis: nowhere,
        COSMOS_CHAIN_ID_osmosis: 'osmosis-1',
        COSMOS_PREFIX_osmosis: 'osmo',
        COSMOS_TOKENS_osmosis: 'ibc/ABC=USDC/6',
      },
      false,
    ],
    ['eip155:84532', { SANDBOX: 'true' }, true],
  ])('%s', async (network, environment, isTestnet) => {
    expect((await open(network, environment)).network.isTestnet).toBe(isTestnet)
  })
})

describe('the time until a settlement is known', () => {
  it.each([
    ['1', 2],
    ['10', 20],
  ])('grows with the confirmations: %s', async (confirmations, seconds) => {
    const environment = { ...evmKey, EVM_RPC_URL_8453: nowhere, EVM_CONFIRMATIONS_8453: confirmations }
    expect((await open('eip155:8453', environment)).network.secondsToSettle).toBe(seconds)
  })

  it('and its fee are not stated where blocks and coin of the network are unknown', async () => {
    const scheme = await open('eip155:777', { ...evmKey, EVM_RPC_URL_777: nowhere })
    expect(scheme.network).toMatchObject({ secondsToSettle: null, fees: null })
    expect(scheme.network.balances).not.toBeNull()
  })
})

describe('the sandbox', () => {
  it('has the currencies of its networks, and no balances', async () => {
    const environment = { SANDBOX: 'true' }
    for (const network of [
      'eip155:84532',
      'solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1',
      'ton:testnet',
      'tron:nile',
    ]) {
      const scheme = await open(network, environment)
      const [first] = scheme.network.listTokens()
      expect(first).toMatchObject({ isDollar: true, decimals: 6 })
      expect((await scheme.describeAsset(first?.asset ?? '', null))?.decimals).toBe(6)
      expect(scheme.network).toMatchObject({ balances: null, fees: null })
      await opened?.close()
    }
  })
})
