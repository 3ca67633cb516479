import { createPublicKey, type KeyObject, sign } from 'node:crypto'
import type { Secret } from '../../../platform/secret.js'
import { readEd25519Seed } from '../../common/ed25519.js'
import { encodeBase58 } from '../encoding/base58.js'
import { readKeyBytes } from '../encoding/privateKey.js'

export interface FeePayers {
  readonly addresses: readonly string[]
  sign(address: string, message: Uint8Array): Uint8Array
}

const addressLength = 32

/** Throws, without printing the key, if its public half does not match its seed. */
export const createFeePayers = (privateKeys: readonly Secret[]): FeePayers => {
  const keys = new Map(privateKeys.map(openKey))
  return {
    addresses: [...keys.keys()],
    sign: (address, message) => {
      const key = keys.get(address)
      if (key === undefined) throw new Error('Not a fee payer of the facilitator')
      return sign(null, message, key)
    },
  }
}

const openKey = (secret: Secret, index: number): [string, KeyObject] => {
  const bytes = readKeyBytes(secret.reveal())
  const broken = new Error(`SOLANA_PRIVATE_KEY: key ${index + 1} does not match its public half`)
  if (bytes === null) throw broken
  const key = readEd25519Seed(bytes.subarray(0, addressLength))
  const derived = createPublicKey(key).export({ format: 'der', type: 'spki' }).subarray(-addressLength)
  if (!derived.equals(bytes.subarray(addressLength))) throw broken
  return [encodeBase58(derived), key]
}
