import { createPublicKey, type KeyObject, sign } from 'node:crypto'
import type { Secret } from '../../../platform/secret.js'
import { readEd25519Seed } from '../../common/ed25519.js'
import { encodeBase58 } from '../encoding/base58.js'
import { readKeyBytes } from '../encoding/privateKey.js'

/** Our accounts that pay for transactions. */
export interface FeePayers {
  readonly addresses: readonly string[]
  /** The signature of one of them; Ed25519 gives the same one each time. */
  sign(address: string, message: Uint8Array): Uint8Array
}

const addressLength = 32

/** Opens the keys; throws, without the key, where the public half is not that of the private one. */
export const createFeePayers = (privateKeys: readonly Secret[]): FeePayers => {
  const keys = new Map(privateKeys.map(openKey))
  return {
    addresses: [...keys.keys()],
    sign: (address, message) => {
      const key = keys.get(address)
      if (key === undefined) throw new Error('It is no fee payer of ours')
      return sign(null, message, key)
    },
  }
}

const openKey = (secret: Secret, index: number): [string, KeyObject] => {
  const bytes = readKeyBytes(secret.reveal())
  const broken = new Error(`SOLANA_PRIVATE_KEY: key ${index + 1} does not fit its public half`)
  if (bytes === null) throw broken
  const key = readEd25519Seed(bytes.subarray(0, addressLength))
  const derived = createPublicKey(key).export({ format: 'der', type: 'spki' }).subarray(-addressLength)
  if (!derived.equals(bytes.subarray(addressLength))) throw broken
  return [encodeBase58(derived), key]
}
