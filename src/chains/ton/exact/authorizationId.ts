import { Address } from '@ton/core'
import { z } from 'zod'
import type { JsonObject } from '../../../protocol/jsonObject.js'

/** Wallet and hash of the signed body: seqno and expiry are inside, signature bytes are not. */
export interface SignedIdentity {
  readonly wallet: Address
  readonly signedHash: Buffer
}

/** The identity of an authorization: the same for every spelling of its message. */
export const formatAuthorizationId = (network: string, { wallet, signedHash }: SignedIdentity): string =>
  `${network}/${wallet.toRawString()}/${signedHash.toString('hex')}`

/** The identity as the journal keeps it for `resolve`. */
export const formatDetails = ({ wallet, signedHash }: SignedIdentity): JsonObject => ({
  wallet: wallet.toRawString(),
  signedHash: signedHash.toString('hex'),
})

const detailsShape = z.object({ wallet: z.string(), signedHash: z.string().regex(/^[0-9a-f]{64}$/) })

/** Reads what `formatDetails` wrote; throws for anything else. */
export const readDetails = (details: JsonObject): SignedIdentity => {
  const { wallet, signedHash } = detailsShape.parse(details)
  return { wallet: Address.parseRaw(wallet), signedHash: Buffer.from(signedHash, 'hex') }
}
