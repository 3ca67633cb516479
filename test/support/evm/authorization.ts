import { randomBytes } from 'node:crypto'
import { type Address, bytesToHex, type Hex } from 'viem'
import type { TokenDomain } from './localChain.js'

/** An EIP-3009 authorization as it travels: decimal strings, 32 bytes of nonce. */
export interface WireAuthorization {
  readonly from: Address
  readonly to: Address
  readonly value: string
  readonly validAfter: string
  readonly validBefore: string
  readonly nonce: Hex
}

/** An authorization's fields, all of them optional, and the time (Unix seconds) from which to count. */
export interface AuthorizationOverrides extends Partial<WireAuthorization> {
  readonly now?: number
}

/** Random bytes as hex. */
export const randomHex = (bytes: number): Hex => bytesToHex(randomBytes(bytes))

/** An address that nobody used before. */
export const randomAddress = (): Address => randomHex(20)

/** The wall clock in Unix seconds. */
export const unixNow = (): number => Math.floor(Date.now() / 1000)

/** An authorization with fresh addresses and nonce that is valid for the next five minutes. */
export const authorization = (overrides: AuthorizationOverrides = {}): WireAuthorization => {
  const { now = unixNow(), ...fields } = overrides
  return {
    from: randomAddress(),
    to: randomAddress(),
    value: '10000',
    validAfter: String(now - 600),
    validBefore: String(now + 300),
    nonce: randomHex(32),
    ...fields,
  }
}

/** EIP-3009's typed data. */
export const transferAuthorizationTypes = {
  TransferWithAuthorization: [
    { name: 'from', type: 'address' },
    { name: 'to', type: 'address' },
    { name: 'value', type: 'uint256' },
    { name: 'validAfter', type: 'uint256' },
    { name: 'validBefore', type: 'uint256' },
    { name: 'nonce', type: 'bytes32' },
  ],
} as const

/** The typed data that a payer signs to authorize a transfer of a token. */
export const transferAuthorizationTypedData = (domain: TokenDomain, message: WireAuthorization) => ({
  domain: { ...domain },
  types: transferAuthorizationTypes,
  primaryType: 'TransferWithAuthorization' as const,
  message: {
    ...message,
    value: BigInt(message.value),
    validAfter: BigInt(message.validAfter),
    validBefore: BigInt(message.validBefore),
  },
})
