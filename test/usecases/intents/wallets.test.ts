import { describe, expect, it } from 'vitest'
import { readAptosAddress } from '../../../src/chains/aptos/addresses.js'
import { readAddress as readCosmosAddress } from '../../../src/chains/cosmos/addresses.js'
import { readAddress as readEvmAddress } from '../../../src/chains/evm/abi/address.js'
import { readAccountId } from '../../../src/chains/near/addresses.js'
import { formatAccountKey, readAccountKey } from '../../../src/chains/polkadot/addresses.js'
import { readAddress as readSolanaAddress } from '../../../src/chains/solana/encoding/keys.js'
import { readPrincipal } from '../../../src/chains/stacks/addresses.js'
import { readTezosAddress } from '../../../src/chains/tezos/addresses.js'
import { readAddress as readTonAddress } from '../../../src/chains/ton/encoding/cells.js'
import { readAddress as readTronAddress } from '../../../src/chains/tron/encoding/address.js'
import { AppError } from '../../../src/errors.js'
import { isSameText } from '../../../src/schemes/spelling.js'
import { createFindWallet, type Wallets } from '../../../src/usecases/intents/listCandidates.js'
import { createToyScheme } from '../../support/toyScheme.js'

interface Family {
  readonly network: string
  readonly read: (text: string) => string | null
  readonly address: string
  /** The same wallet, spelled differently; absent: there is one spelling. */
  readonly other?: string
  /** Of the family's form, but not of an address of the network. */
  readonly wrong: string
}

const aptos = `0x${'0'.repeat(60)}beef`
const ton = `0:${'ab'.repeat(32)}`

const named = {
  evm: {
    network: 'eip155:8453',
    read: (text) => readEvmAddress(text)?.toLowerCase() ?? null,
    address: '0x18f77dd01186556F1F745E7847A4686421dEE072',
    other: '0x18f77dd01186556f1f745e7847a4686421dee072',
    wrong: '0x18f77dd01186556F1F745E7847A4686421dEE0',
  },
  solana: {
    network: 'solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp',
    read: readSolanaAddress,
    address: '9WzDXwBbmkg8ZTbNMqUxvQRAyrZzDsGYdLVL9zYtAWWM',
    wrong: '9WzDXwBbmkg8ZTbNMqUxvQRAyrZzDsGYdLVL9zYtAW0M',
  },
  ton: {
    network: 'ton:mainnet',
    read: (text) => readTonAddress(text)?.toRawString() ?? null,
    address: ton,
    other: readTonAddress(ton)?.toString() ?? '',
    wrong: `0:${'ab'.repeat(31)}`,
  },
  tron: {
    network: 'tron:mainnet',
    read: (text) => readTronAddress(text),
    address: 'TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t',
    wrong: 'TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6u',
  },
  near: {
    network: 'near:mainnet',
    read: readAccountId,
    address: 'shop.near',
    wrong: 'Shop.near',
  },
  aptos: {
    network: 'aptos:1',
    read: readAptosAddress,
    address: aptos,
    other: aptos.toUpperCase().replace('0X', '0x'),
    wrong: `${aptos}00`,
  },
  tezos: {
    network: 'tezos:NetXdQprcVkpaWU',
    read: readTezosAddress,
    address: 'tz1burnburnburnburnburnburnburjAYjjX',
    wrong: 'tz1burnburnburnburnburnburnburjAYjjY',
  },
  polkadot: {
    network: 'polkadot:68d56f15f85d3136970ec16946040bc1',
    read: (text) => {
      const key = readAccountKey(text)
      return key === null ? null : formatAccountKey(key, 0)
    },
    address: '15oF4uVJwmo4TdGW7VfQxNLavjCXviqxT9S1MgbjMNHr6Sp5',
    other: formatAccountKey(readAccountKey('15oF4uVJwmo4TdGW7VfQxNLavjCXviqxT9S1MgbjMNHr6Sp5') ?? '', 42),
    wrong: '15oF4uVJwmo4TdGW7VfQxNLavjCXviqxT9S1MgbjMNHr6Sp6',
  },
  stacks: {
    network: 'stacks:1',
    read: (text) => readPrincipal(text, '1'),
    address: 'SP3Y2ZSH8P7D50B0VBTSX11S7XSG24M1VB9YFQA4K',
    // Of the testnet.
    wrong: 'ST1PQHQKV0RJXZFY1DGX8MNSNYVE3VGZJSRTPGZGM',
  },
  cosmos: {
    network: 'cosmos:noble-1',
    read: (text) => readCosmosAddress(text, 'noble'),
    address: 'noble1qqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqmq4hln',
    wrong: 'noble1qqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqmq4hlm',
  },
} as const satisfies Readonly<Record<string, Family>>
const families: Readonly<Record<string, Family>> = named

const schemeOf = ({ network, read }: Pick<Family, 'network' | 'read'>) =>
  createToyScheme({
    kind: { scheme: 'exact', network },
    network: { isAddress: (text) => read(text) !== null, normalizeAddress: read },
  })

const schemes = Object.values(families).map(schemeOf)
const everywhere = { schemes, admits: () => true }
const namespaceOf = ({ network }: Family) => network.split(':')[0] ?? ''

const refusalOf = (wallets: Wallets): string => {
  try {
    createFindWallet('payee', wallets, everywhere)
    return 'accepted'
  } catch (error) {
    if (error instanceof AppError && error.code === 'INVALID_REQUEST') return error.message
    throw error
  }
}

/** What one text is on the networks of all families. */
const readEverywhere = (wallets: Wallets) => {
  const find = createFindWallet('payer', wallets, everywhere)
  return Object.fromEntries(
    Object.keys(families).map((name, at) => [name, find(schemes[at] ?? schemeOf(named.evm))]),
  )
}
const listFound = (wallets: Wallets) =>
  Object.entries(readEverywhere(wallets))
    .filter(([, { state }]) => state !== 'missing')
    .map(([name, { state }]) => `${name} ${state}`)

describe.each(Object.entries(families))('a wallet of %s', (name, family) => {
  it('that is named for its namespace or network is found there, and nowhere else', () => {
    expect(listFound({ [namespaceOf(family)]: family.address })).toEqual([`${name} found`])
    expect(listFound({ [family.network]: family.address })).toEqual([`${name} found`])
  })

  it.each(['namespace', 'network'])('in a wrong form is refused by name of its %s', (by) => {
    const key = by === 'network' ? family.network : namespaceOf(family)
    expect(refusalOf({ [key]: family.wrong })).toBe(`payee.${key}: must be an address of ${key}`)
    expect(refusalOf({ [key]: '' })).toBe(`payee.${key}: must be an address of ${key}`)
    expect(refusalOf({ [key]: `${family.address} ` })).toMatch(/must be an address/)
  })

  it('that is given as one text is never paid on another chain', () => {
    const found = listFound(family.address)
    expect(found.filter((each) => each.endsWith(' found')).every((each) => each === `${name} found`)).toBe(
      true,
    )
    expect(found).not.toEqual([])
  })

  it('is itself in every spelling', () => {
    const { address, other = address, wrong } = family
    const { network } = schemeOf(family)
    expect(isSameText(network, address, other)).toBe(true)
    expect(isSameText(network, address, wrong)).toBe(false)
  })
})

describe('a wallet that is given as one text', () => {
  it('with 20 bytes of hex is EVM’s, although other chains read it as a short address', () => {
    expect(readAptosAddress(named.evm.address)).not.toBeNull()
    expect(listFound(named.evm.address)).toEqual(['evm found'])
  })

  it('with another number of hex digits is of no chain, although some read it as an address', () => {
    const mistyped = named.evm.address.slice(0, -2).toLowerCase()
    expect(readAptosAddress(mistyped)).not.toBeNull()
    expect(readAccountId(mistyped)).not.toBeNull()
    expect(refusalOf(mistyped)).toMatch(/is an address of no network/)
  })

  it('in the form of several chains is used on none of them', () => {
    const { address } = named.cosmos
    expect(readAccountId(address)).not.toBeNull()
    expect(listFound(address)).toEqual(['near ambiguous', 'cosmos ambiguous'])
  })

  const bare = (digits: number) => 'a1'.repeat(digits / 2)
  it.each<[string, string, readonly string[]]>([
    ['40 digits: TRON would read it', bare(40), []],
    ['42 digits with 41, of TRON', `41${bare(40)}`, ['tron found']],
    ['42 other digits', bare(42), []],
    ['64 digits, of NEAR or Aptos', bare(64), ['near ambiguous', 'aptos ambiguous']],
    ['38 digits', bare(38), []],
    ['66 digits', bare(66), []],
    ['few letters that are hex digits: a name of NEAR', 'cafe', ['near found']],
  ])('in hex without 0x: %s', (_name, text, found) => {
    if (found.length === 0) expect(refusalOf(text)).toMatch(/is an address of no network/)
    else expect(listFound(text)).toEqual(found)
  })

  it('with 64 digits of hex is one of NEAR where the intent leaves out Aptos, and none of Aptos ever', () => {
    const [near, aptos] = [schemeOf(named.near), schemeOf(named.aptos)]
    const find = (admitted: readonly string[]) =>
      createFindWallet('payee', bare(64), {
        schemes: [near, aptos],
        admits: (network) => admitted.includes(network),
      })
    expect(find([named.near.network])(near)).toEqual({ state: 'found', address: bare(64) })
    expect(find([named.aptos.network])(aptos)).toEqual({ state: 'missing' })
  })

  it.each(['shop@example.com', '0xzz', '', '0x'])('"%s", of no chain, is refused', (text) => {
    expect(refusalOf(text)).toBe('payee: is an address of no network that is served; see /supported')
  })
})

describe('wallets by name', () => {
  it('prefer the network to its namespace', () => {
    const { address, other } = named.evm
    expect(readEverywhere({ eip155: address, 'eip155:8453': other }).evm).toEqual({
      state: 'found',
      address: other,
    })
  })

  it('know the other names of a network', () => {
    expect(listFound({ base: named.evm.address })).toEqual(['evm found'])
  })

  it('are refused if two names are one network', () => {
    const { address } = named.evm
    expect(refusalOf({ base: address, 'eip155:8453': address })).toBe(
      'payee: base and eip155:8453 are one network',
    )
  })

  it('of a namespace are used on those of its networks that have such addresses', () => {
    const osmosis = schemeOf({ network: 'cosmos:osmosis-1', read: (text) => readCosmosAddress(text, 'osmo') })
    const noble = schemeOf(named.cosmos)
    const find = createFindWallet(
      'payee',
      { cosmos: named.cosmos.address },
      {
        schemes: [osmosis, noble],
        admits: () => true,
      },
    )
    expect([find(osmosis).state, find(noble).state]).toEqual(['missing', 'found'])
  })

  it('is not ambiguous by networks that the intent leaves out', () => {
    const { near, cosmos } = named
    const [ofNear, ofCosmos] = [schemeOf({ ...near, read: (text) => text }), schemeOf(cosmos)]
    const find = (admitted: readonly string[]) =>
      createFindWallet('payee', cosmos.address, {
        schemes: [ofNear, ofCosmos],
        admits: (network) => admitted.includes(network),
      })(ofCosmos)
    expect(find([near.network, cosmos.network])).toEqual({ state: 'ambiguous' })
    expect(find([cosmos.network])).toEqual({ state: 'found', address: cosmos.address })
  })

  const evm = named.evm.address.toLowerCase()
  it.each<[string, string, boolean]>([
    ['aptos', evm, false],
    ['aptos', '0x1', false],
    ['aptos', aptos, true],
    ['near', evm, false],
    ['near', evm.slice(2), false],
    ['near', 'a1'.repeat(32), true],
    ['tron', evm, false],
    ['tron', evm.slice(2), false],
    ['tron', `41${evm.slice(2)}`, true],
    ['eip155', evm.slice(2), false],
    ['eip155', evm, true],
  ])('%s: %s is accepted: %s', (namespace, address, isAccepted) => {
    const refusal = `payee.${namespace}: must be an address of ${namespace}`
    expect(refusalOf({ [namespace]: address })).toBe(isAccepted ? 'accepted' : refusal)
    if (isAccepted) expect(listFound({ [namespace]: address })).toHaveLength(1)
  })

  it('of networks that are not served are ignored', () => {
    expect(listFound({ 'eip155:1': 'anything', constructor: 'x' })).toEqual([])
  })
})
