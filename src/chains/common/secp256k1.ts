import { createRequire } from 'node:module'
import { z } from 'zod'

/** The uncompressed public key, 65 bytes, that signed a digest; throws for r and s that are nobody's signature. */
export type RecoverKey = (digest: Uint8Array, rs: Uint8Array, recoveryId: number) => Uint8Array

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
 * Loads libsecp256k1's addon; null where none fits. The package's own entry falls back to an implementation in
 * JavaScript without a word, some thirty times slower; its `bindings` throw, so that we know which one runs.
 */
export const loadNativeRecoverKey = (): RecoverKey | null => {
  try {
    const { ecdsaRecover } = nativeModule.parse(createRequire(import.meta.url)('secp256k1/bindings'))
    return (digest, rs, recoveryId) => ecdsaRecover(rs, recoveryId, digest, false)
  } catch {
    return null
  }
}
