import { createRequire } from 'node:module'
import { z } from 'zod'

/** Returns the uncompressed public key (65 bytes); throws if r and s are not a valid signature. */
type RecoverKey = (digest: Uint8Array, rs: Uint8Array, recoveryId: number) => Uint8Array

type NativeRecover = (
  signature: Uint8Array,
  recoveryId: number,
  digest: Uint8Array,
  compressed: boolean,
) => Uint8Array

const nativeModule = z.object({
  ecdsaRecover: z.custom<NativeRecover>((value) => typeof value === 'function'),
})

/**
 * Loads the native addon of libsecp256k1; null if it does not fit this machine. Imports `secp256k1/bindings`
 * because the package entry silently falls back to JavaScript, about 30 times slower.
 */
export const loadNativeRecoverKey = (): RecoverKey | null => {
  try {
    const { ecdsaRecover } = nativeModule.parse(createRequire(import.meta.url)('secp256k1/bindings'))
    return (digest, rs, recoveryId) => ecdsaRecover(rs, recoveryId, digest, false)
  } catch {
    return null
  }
}
