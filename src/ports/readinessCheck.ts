export interface ReadinessCheck {
  readonly name: string
  /** Results that count as ready. */
  readonly accepts: readonly string[]
  /** `ok`, another state, or what is wrong. Has its own deadline; a rejection counts as `unreachable`. */
  probe(): Promise<string>
}
