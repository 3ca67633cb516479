import { createHash } from 'node:crypto'
import { encodeAddress } from '@polkadot/util-crypto'
import { base58, bech32, createBase58check } from '@scure/base'
import { Keypair } from '@solana/web3.js'
import { AddressVersion, addressFromVersionHash, addressToString } from '@stacks/transactions'
import { Address } from '@ton/core'
import { encode } from './tezos/base58.js'
import { facilitatorMnemonic } from './ton/facilitatorMnemonic.js'

/** How wallets of one family are written. */
export interface WalletForms {
  readonly network: string
  /** Opens the network without a chain: nothing listens at its endpoint. */
  readonly environment: Readonly<Record<string, string>>
  /** Every accepted spelling of one wallet, the one by which wallets are compared first. From 32 bytes. */
  spell(key: Uint8Array): readonly [string, ...string[]]
  /** What users write by mistake. */
  readonly wrong: readonly string[]
}

const nowhere = 'http://127.0.0.1:9'

const hexOf = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex')

const base58check = createBase58check((bytes) => createHash('sha256').update(bytes).digest())

const evmForms = (network: string, environment: WalletForms['environment']): WalletForms => ({
  network,
  environment,
  spell: (key) => {
    const digits = hexOf(key.subarray(0, 20))
    const mixed = digits.replace(/[a-f]/, (digit) => digit.toUpperCase())
    return [`0x${digits}`, `0x${digits.toUpperCase()}`, `0x${mixed}`]
  },
  wrong: [
    '833589fcd6edb6e08f4c7c32d4f71b54bda02913',
    '0X833589fcd6edb6e08f4c7c32d4f71b54bda02913',
    '0x833589fcd6edb6e08f4c7c32d4f71b54bda0291',
    '0x833589fcd6edb6e08f4c7c32d4f71b54bda029133',
    '0x833589fcd6edb6e08f4c7c32d4f71b54bda0291g',
    'eip155:8453:0x833589fcd6edb6e08f4c7c32d4f71b54bda02913',
    'alice.eth',
  ],
})

const solanaForms = (network: string, environment: WalletForms['environment']): WalletForms => ({
  network,
  environment,
  spell: (key) => [base58.encode(key)],
  wrong: [
    'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyT',
    'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1vv',
    '0PjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v',
    'lPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v',
    hexOf(Buffer.alloc(32, 7)),
    'alice.sol',
  ],
})

const tonForms = (network: string, environment: WalletForms['environment']): WalletForms => {
  const spell: WalletForms['spell'] = (key) => {
    const address = new Address(0, Buffer.from(key))
    const raw = address.toRawString()
    const [workchain = '', digits = ''] = raw.split(':')
    const friendly = [true, false].flatMap((bounceable) =>
      [true, false].flatMap((testOnly) =>
        [true, false].map((urlSafe) => address.toString({ bounceable, testOnly, urlSafe })),
      ),
    )
    return [raw, `${workchain}:${digits.toUpperCase()}`, ...friendly]
  }
  const digits = hexOf(Buffer.alloc(32, 7))
  const [, , friendly = ''] = spell(Buffer.alloc(32, 7))
  return {
    network,
    environment,
    spell,
    wrong: [
      digits,
      `0x${digits}`,
      `0:${digits.slice(1)}`,
      `0:${digits}0`,
      // The library reads these.
      `0:${digits}:0`,
      `0zero:${digits}`,
      `0:${digits.slice(1)}z`,
      `${friendly.slice(0, -1)}${friendly.endsWith('A') ? 'B' : 'A'}`,
      friendly.slice(1),
      'alice.ton',
    ],
  }
}

const tronForms = (network: string, environment: WalletForms['environment']): WalletForms => ({
  network,
  environment,
  spell: (key) => {
    const account = key.subarray(0, 20)
    const digits = hexOf(account)
    return [
      base58check.encode(Uint8Array.of(0x41, ...account)),
      `41${digits}`,
      `41${digits.toUpperCase()}`,
      `0x${digits}`,
      digits,
    ]
  },
  wrong: [
    'TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6u',
    'TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6',
    'tr7nhqjekqxgtci8q8zy4pl8otszgjlj6t',
    `0x41${hexOf(Buffer.alloc(20, 7))}`,
    `42${hexOf(Buffer.alloc(20, 7))}`,
    `41${hexOf(Buffer.alloc(18, 7))}`,
  ],
})

const tezosKey = (key: Uint8Array) => key.subarray(0, 20)

const stacksAddress = (version: AddressVersion, key: Uint8Array): string =>
  addressToString(addressFromVersionHash(version, hexOf(key.subarray(0, 20))))

const nobleAddress = (key: Uint8Array, prefix = 'noble'): string =>
  bech32.encode(prefix, bech32.toWords(key.subarray(0, 20)))

const seven = Buffer.alloc(32, 7)
const sandboxNames = { SANDBOX: 'true' }

/** By family, and the networks of the sandbox. */
export const walletForms: Readonly<Record<string, WalletForms>> = {
  evm: evmForms('eip155:84532', { EVM_PRIVATE_KEY: `0x${'11'.repeat(32)}`, EVM_RPC_URL_84532: nowhere }),
  solana: solanaForms('solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1', {
    SOLANA_PRIVATE_KEY: base58.encode(Keypair.fromSeed(Buffer.alloc(32, 7)).secretKey),
    SOLANA_RPC_URL_devnet: nowhere,
  }),
  ton: tonForms('ton:testnet', { TON_MNEMONIC: facilitatorMnemonic, TON_RPC_URL_testnet: nowhere }),
  tron: tronForms('tron:nile', { TRON_RPC_URL_nile: nowhere }),
  near: {
    network: 'near:testnet',
    environment: { NEAR_RPC_URL_testnet: nowhere, NEAR_TOKENS_testnet: 'usdc.fakes.testnet=USDC/6' },
    // Implicit accounts; named ones have one spelling too.
    spell: (key) => [hexOf(key)],
    wrong: ['Alice.near', 'a', 'alice..near', '-alice.near', 'alice.near.', 'alice@near', 'a'.repeat(65)],
  },
  aptos: {
    network: 'aptos:2',
    environment: { APTOS_RPC_URL_testnet: nowhere },
    spell: (key) => {
      const digits = hexOf(key)
      const short = digits.replace(/^0+/, '') || '0'
      return [`0x${digits}`, `0x${digits.toUpperCase()}`, `0x${short}`, `0x${short.toUpperCase()}`]
    },
    wrong: [
      '0x',
      hexOf(seven),
      `0x${hexOf(seven)}0`,
      `0X${hexOf(seven)}`,
      `0x${hexOf(seven).slice(1)}g`,
      'alice.apt',
    ],
  },
  tezos: {
    network: 'tezos:NetXnHfVqm9iesp',
    environment: {
      TEZOS_RPC_URL_ghostnet: nowhere,
      TEZOS_TOKENS_ghostnet: 'KT1XnTn74bUtxHfDtBmm2bGZAQfhPbvKWR8o:0=USDt/6',
    },
    spell: (key) => [encode('tz1', tezosKey(key))],
    wrong: [
      `${encode('tz1', tezosKey(seven)).slice(0, -1)}1`,
      encode('tz1', tezosKey(seven)).toLowerCase(),
      'KT1XnTn74bUtxHfDtBmm2bGZAQfhPbvKWR8o%transfer',
      'KT1XnTn74bUtxHfDtBmm2bGZAQfhPbvKWR8o:0',
      'alice.tez',
    ],
  },
  polkadot: {
    network: 'polkadot:67f9723393ef76214df0118c34bbbd3d',
    environment: { POLKADOT_RPC_URL_westend: nowhere, POLKADOT_TOKENS_westend: '1984=USDT/6' },
    spell: (key) => [encodeAddress(key, 42), encodeAddress(key, 0), encodeAddress(key, 2)],
    wrong: [
      `0x${hexOf(seven)}`,
      encodeAddress(seven, 42).slice(0, -1),
      `${encodeAddress(seven, 42).slice(0, -1)}1`,
      encodeAddress(seven, 42).toLowerCase(),
      encodeAddress(seven.subarray(0, 8), 42),
    ],
  },
  stacks: {
    network: 'stacks:2147483648',
    environment: { STACKS_RPC_URL_testnet: nowhere },
    spell: (key) => [stacksAddress(AddressVersion.TestnetSingleSig, key)],
    wrong: [
      stacksAddress(AddressVersion.MainnetSingleSig, seven),
      stacksAddress(AddressVersion.TestnetSingleSig, seven).toLowerCase(),
      `${stacksAddress(AddressVersion.TestnetSingleSig, seven).slice(0, -1)}0`,
      `${stacksAddress(AddressVersion.TestnetSingleSig, seven)}.`,
      'alice.btc',
    ],
  },
  cosmos: {
    network: 'cosmos:grand-1',
    environment: { COSMOS_RPC_URL_grand: nowhere },
    spell: (key) => [nobleAddress(key), nobleAddress(key).toUpperCase()],
    wrong: [
      nobleAddress(seven, 'cosmos'),
      nobleAddress(seven).replace('q', 'Q'),
      nobleAddress(seven).slice(0, -1),
      hexOf(seven.subarray(0, 20)),
      bech32.encode('noble', bech32.toWords(seven.subarray(0, 21))),
    ],
  },
  'sandbox, EVM': evmForms('eip155:84532', sandboxNames),
  'sandbox, Solana': solanaForms('solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1', sandboxNames),
  'sandbox, TON': tonForms('ton:testnet', sandboxNames),
  'sandbox, TRON': tronForms('tron:nile', sandboxNames),
}

/** No address of any network; each is read in no time. */
export const hostileAddresses: readonly string[] = [
  '',
  ' ',
  '\0',
  '💸',
  ':',
  '.',
  '__proto__',
  'a'.repeat(1_000_000),
  '1'.repeat(1_000_000),
  `0x${'f'.repeat(1_000_000)}`,
  `0:${'f'.repeat(1_000_000)}`,
  `noble1${'q'.repeat(1_000_000)}`,
  `S${'0'.repeat(1_000_000)}`,
  `${'a.'.repeat(500_000)}a`,
]
