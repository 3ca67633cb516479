export interface Mail {
  readonly to: string
  readonly subject: string
  readonly text: string
}

export interface Mailer {
  /** Sends in the background; failures are logged. */
  send(mail: Mail): void
  /** Waits for messages in flight, at most their send deadline. */
  close(): Promise<void>
}
