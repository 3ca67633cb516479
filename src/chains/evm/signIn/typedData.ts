import { type Hex, hashTypedData } from 'viem'
import type { SignInTypedData } from '../../../protocol/siwx.js'

// As `createSIWxTypedData` of @t402/extensions writes it.
const types = {
  SIWx: [
    { name: 'domain', type: 'string' },
    { name: 'address', type: 'address' },
    { name: 'statement', type: 'string' },
    { name: 'uri', type: 'string' },
    { name: 'version', type: 'string' },
    { name: 'chainId', type: 'string' },
    { name: 'nonce', type: 'string' },
    { name: 'issuedAt', type: 'string' },
    { name: 'expirationTime', type: 'string' },
    { name: 'resources', type: 'string[]' },
  ],
} as const

export const hashSignInData = ({ name, version, chainId, message }: SignInTypedData, address: Hex): Hex =>
  hashTypedData({
    domain: { name, version, chainId },
    types,
    primaryType: 'SIWx',
    message: { ...message, address },
  })
