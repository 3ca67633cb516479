/** A letter in plain text. */
export interface Mail {
  readonly to: string
  readonly subject: string
  readonly text: string
}

/** Brings letters on their way. */
export interface Mailer {
  /** Answers at once; what cannot be sent is logged. */
  post(mail: Mail): void
  /** Waits for the letters that are on their way, each no longer than its deadline. */
  close(): Promise<void>
}
