/** One thing that the service needs. */
export interface ReadinessCheck {
  readonly name: string
  /** The answers with which the service counts as ready. */
  readonly accepts: readonly string[]
  /** `ok`, another word, or what is wrong. Has a deadline of its own; a rejection counts as `unreachable`. */
  ask(): Promise<string>
}
