import { Address } from '@ton/core'

interface SignedIdentity {
  readonly wallet: Address
  readonly signedHash: Buffer
}

/** Wallet and hash of the signed body (with seqno and expiry), independent of encoding and relayer. */
export const formatAuthorizationId = (network: string, { wallet, signedHash }: SignedIdentity): string =>
  `${network}/${wallet.toRawString()}/${signedHash.toString('hex')}`

/** Throws unless it was written by `formatAuthorizationId`. */
export const parseAuthorizationId = (authorizationId: string): SignedIdentity => {
  const [, wallet = '', signedHash = ''] = authorizationId.split('/')
  if (!/^[0-9a-f]{64}$/.test(signedHash)) throw new Error('Not an authorization id of TON')
  return { wallet: Address.parseRaw(wallet), signedHash: Buffer.from(signedHash, 'hex') }
}
