/** What a sealed text is for; what was sealed for one purpose opens for no other. */
export type SealPurpose = 'api-key' | 'webhook-secret'

/** Hides texts that must be read again, such as API keys, from those who read the database. */
export interface Sealer {
  /** Encrypts; the same text is never sealed to the same bytes twice. */
  seal(text: string): Uint8Array
  /** Throws when the bytes were changed, or sealed with another secret or for another purpose. */
  open(sealed: Uint8Array): string
  /** The same 32 bytes for the same text, which they do not tell: what a text is found by. */
  fingerprint(text: string): Uint8Array
}
