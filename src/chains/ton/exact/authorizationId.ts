import { Address } from '@ton/core'
import { z } from 'zod'
import type { JsonObject } from '../../../protocol/fields.js'

/** Wallet address and hash of the signed body; the body includes seqno and expiry, but not the signature. */
export interface SignedIdentity {
  readonly wallet: Address
  readonly signedHash: Buffer
}

/** The same for every encoding of its message. */
export const formatAuthorizationId = (network: string, { wallet, signedHash }: SignedIdentity): string =>
  `${network}/${wallet.toRawString()}/${signedHash.toString('hex')}`

/** Stored in the journal for `resolve`. */
export const formatDetails = ({ wallet, signedHash }: SignedIdentity): JsonObject => ({
  wallet: wallet.toRawString(),
  signedHash: signedHash.toString('hex'),
})

const detailsShape = z.object({ wallet: z.string(), signedHash: z.string().regex(/^[0-9a-f]{64}$/) })

/** Inverse of `formatDetails`; throws for anything else. */
export const readDetails = (details: JsonObject): SignedIdentity => {
  const { wallet, signedHash } = detailsShape.parse(details)
  return { wallet: Address.parseRaw(wallet), signedHash: Buffer.from(signedHash, 'hex') }
}
