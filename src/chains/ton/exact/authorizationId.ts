import { Address } from '@ton/core'

/** Whose wallet, and the hash of what its owner signed: its number and its time are within, its signature is not. */
export interface SignedIdentity {
  readonly wallet: Address
  readonly signedHash: Buffer
}

/** The identity of an authorization, the same however its message is written and whoever brings it. */
export const formatAuthorizationId = (network: string, { wallet, signedHash }: SignedIdentity): string =>
  `${network}/${wallet.toRawString()}/${signedHash.toString('hex')}`

/** What an identity that we formatted says; throws for any other text. */
export const parseAuthorizationId = (authorizationId: string): SignedIdentity => {
  const [, wallet = '', signedHash = ''] = authorizationId.split('/')
  if (!/^[0-9a-f]{64}$/.test(signedHash)) throw new Error('This is no identity of a payment on TON')
  return { wallet: Address.parseRaw(wallet), signedHash: Buffer.from(signedHash, 'hex') }
}
