export interface UsedNonce {
  readonly domain: string
  readonly nonce: string
  /** Until then a message with it could still be accepted. */
  readonly expiresAt: Date
}

/** Nonces of accepted sign-ins, shared by all instances. */
export interface SignInNonces {
  /** False if it was used before: of many at once exactly one is true. */
  use(used: UsedNonce): Promise<boolean>
  /** Deletes expired nonces. */
  purge(stopped?: AbortSignal): Promise<void>
}
