/** Bound to the ciphertext: text sealed for one purpose cannot be opened for another. */
export type SealPurpose = 'api-key' | 'webhook-secret'

/** Encrypts secrets that are stored in the database and must be readable again. */
export interface Sealer {
  /** Non-deterministic: the same text gives different bytes each time. */
  seal(text: string): Uint8Array
  /** Throws if the bytes were modified, or sealed with another secret or purpose. */
  open(sealed: Uint8Array): string
  /** Keyed hash, 32 bytes, deterministic: for lookups. */
  fingerprint(text: string): Uint8Array
}
