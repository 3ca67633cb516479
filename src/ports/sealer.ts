/** Bound to the ciphertext: text sealed for one purpose cannot be opened for another. */
export type SealPurpose = 'api-key' | 'webhook-secret' | 'sign-in-nonce'

/** Encrypts secrets that are stored in the database and must be readable again. */
export interface Sealer {
  /** Non-deterministic. `owner` is the account id, and is bound to the ciphertext. */
  seal(text: string, owner: string): Uint8Array
  /** Throws if the bytes were modified, or sealed with an unknown secret, for another purpose or another owner. */
  open(sealed: Uint8Array, owner: string): string
  /** Whether the bytes must be sealed again: an older format, or the previous secret. */
  isOutdated(sealed: Uint8Array): boolean
  /** Keyed hash, 32 bytes, deterministic: for lookups. */
  fingerprint(text: string): Uint8Array
  /** With every known secret, the current one first. */
  fingerprints(text: string): readonly Uint8Array[]
}
