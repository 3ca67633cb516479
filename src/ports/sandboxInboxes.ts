export interface SandboxInbox {
  readonly id: string
  /** Deliveries that are still answered with status 500. */
  readonly failuresLeft: number
  readonly expiresAt: Date
}

export interface SandboxMessage {
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
  /** What the inbox answered. */
  readonly status: number
  readonly receivedAt: Date
}

/** Receivers of webhooks for those who have no public HTTPS endpoint to try with. Shared by all instances. */
export interface SandboxInboxes {
  create(inbox: { readonly failures: number; readonly expiresAt: Date }): Promise<SandboxInbox>
  /** Null once it expired. */
  find(id: string): Promise<SandboxInbox | null>
  /** Newest first, up to 100. */
  listMessages(id: string): Promise<readonly SandboxMessage[]>
  /** Stores a message and returns what the inbox answers; null if there is no such inbox. Keeps the newest 100. */
  receive(id: string, message: Pick<SandboxMessage, 'headers' | 'body'>): Promise<number | null>
  /** Deletes expired inboxes. */
  purge(stopped?: AbortSignal): Promise<void>
}
