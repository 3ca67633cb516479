import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  readContractPrincipal,
  readPrincipal,
  readStandardPrincipal,
} from '../../../src/chains/stacks/addresses.js'
import { readBufferText } from '../../../src/chains/stacks/lookUp.js'
import { anyText } from '../../support/anyText.js'
import { createStacksKey } from '../../support/stacks/keys.js'

const mainnet = 'SP3Y2ZSH8P7D50B0VBTSX11S7XSG24M1VB9YFQA4K'
const testnet = 'ST1PQHQKV0RJXZFY1DGX8MNSNYVE3VGZJSRTPGZGM'

describe('principals', () => {
  it('belong to one network', () => {
    expect(readStandardPrincipal(mainnet, '1')).toBe(mainnet)
    expect(readStandardPrincipal(testnet, '2147483648')).toBe(testnet)
    expect(readStandardPrincipal(mainnet, '2147483648')).toBeNull()
    expect(readStandardPrincipal(testnet, '1')).toBeNull()
  })

  it('may be short: zero bytes at the start take less room', () => {
    expect(readStandardPrincipal('SP000000000000000000002Q6VF78', '1')).toBe('SP000000000000000000002Q6VF78')
  })

  it('can be contracts', () => {
    expect(readContractPrincipal(`${mainnet}.token-susdc`, '1')).toBe(`${mainnet}.token-susdc`)
    expect(readPrincipal(`${mainnet}.token-susdc`, '1')).toBe(`${mainnet}.token-susdc`)
    expect(readContractPrincipal(mainnet, '1')).toBeNull()
  })

  it.each([
    ['a wrong checksum', `${mainnet.slice(0, -1)}J`],
    ['lower case', mainnet.toLowerCase()],
    ['letters that c32 reads as digits', mainnet.replace('0', 'O')],
    ['a name without a contract', `${mainnet}.`],
    ['two names', `${mainnet}.a.b`],
    ['a token', `${mainnet}.a::b`],
    ['a name with a slash', `${mainnet}.a/b`],
    ['a long name', `${mainnet}.${'a'.repeat(129)}`],
    ['a Bitcoin address', '1BvBMSEYstWetqTFn5Au4m4GFg7xJaNVN2'],
    ['nothing', ''],
  ])('%s is none', (_, text) => {
    expect(readPrincipal(text, '1')).toBeNull()
  })

  it('of any key are read, and any text is read without an exception', () => {
    for (const network of ['mainnet', 'testnet'] as const) {
      const { address } = createStacksKey(network)
      expect(readPrincipal(address, network === 'mainnet' ? '1' : '2147483648')).toBe(address)
    }
    fc.assert(fc.property(fc.string({ maxLength: 60 }), (text) => readPrincipal(`S${text}`, '1') === null))
  })
})

describe('a printed memo', () => {
  const buffer = (bytes: Uint8Array, length = bytes.length) =>
    `0x02${length.toString(16).padStart(8, '0')}${Buffer.from(bytes).toString('hex')}`

  it.each([
    ['a buffer', buffer(Buffer.from('order-7')), 'order-7'],
    ['a buffer in some', buffer(Buffer.from('order-7')).replace('0x', '0x0a'), 'order-7'],
    ['a padded buffer', buffer(Buffer.from('order-7\0\0\0')), 'order-7'],
    ['an empty buffer', buffer(Buffer.alloc(0)), ''],
    ['a buffer of another length', buffer(Buffer.from('order-7'), 6), null],
    ['a buffer that is no UTF-8', buffer(Buffer.from('ff', 'hex')), null],
    ['none', '0x09', null],
    ['a number', `0x01${'00'.repeat(16)}`, null],
    ['nothing', '', null],
  ])('that is %s', (_, serialized, text) => {
    expect(readBufferText(serialized)).toBe(text)
  })

  it('of any text is read back', () => {
    fc.assert(
      fc.property(anyText({ maxLength: 34 }), (text) => {
        const plain = text.replaceAll('\0', '')
        expect(readBufferText(buffer(Buffer.from(plain, 'utf8')))).toBe(plain)
      }),
    )
  })
})
