/** A message to a receiver. */
export interface WebhookMessage {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

/** What came back: the answer's status, or why there was none, in words that its owner may read. */
export type WebhookAnswer =
  | { readonly status: number; readonly error: null }
  | { readonly status: null; readonly error: string }

/** Posts to addresses that strangers have named, and to nothing that is not public. */
export interface WebhookTransport {
  /** Why nothing would ever be sent to a URL, as a sentence's end; null when its host may be asked. */
  findUrlProblem(url: string): string | null
  /** A receiver's failure is an answer; throws only what the signal was aborted with. */
  post(message: WebhookMessage, stopped: AbortSignal): Promise<WebhookAnswer>
}
