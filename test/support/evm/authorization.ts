import { randomBytes } from 'node:crypto'
import { type Address, bytesToHex, type Hex } from 'viem'
import type { TokenDomain } from './localChain.js'

/** An EIP-3009 authorization on the wire: decimal strings, 32-byte nonce. */
export interface WireAuthorization {
  readonly from: Address
  readonly to: Address
  readonly value: string
  readonly validAfter: string
  readonly validBefore: string
  readonly nonce: Hex
}

/** Optional fields; `now` in Unix seconds. */
export interface AuthorizationOverrides extends Partial<WireAuthorization> {
  readonly now?: number
}

export const randomHex = (bytes: number): Hex => bytesToHex(randomBytes(bytes))

export const randomAddress = (): Address => randomHex(20)

/** Wall clock in Unix seconds. */
export const unixNow = (): number => Math.floor(Date.now() / 1000)

/** With new addresses and nonce, valid for five minutes. */
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

const transferAuthorizationTypes = {
  TransferWithAuthorization: [
    { name: 'from', type: 'address' },
    { name: 'to', type: 'address' },
    { name: 'value', type: 'uint256' },
    { name: 'validAfter', type: 'uint256' },
    { name: 'validBefore', type: 'uint256' },
    { name: 'nonce', type: 'bytes32' },
  ],
} as const

/** Typed data of a transfer authorization. */
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
