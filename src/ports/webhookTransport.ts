export interface WebhookMessage {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

/** `error`: why there was no response, in words that the webhook's owner may read. */
export type WebhookResponse =
  | { readonly status: number; readonly error: null }
  | { readonly status: null; readonly error: string }

/** Posts to user-supplied URLs; connects to public addresses only (SSRF protection). */
export interface WebhookTransport {
  /** Why the URL can never be used, as the end of a sentence; null if its host may be contacted. */
  findUrlProblem(url: string): string | null
  /** Failures of the receiver are returned; throws only the abort reason of `stopped`. */
  post(message: WebhookMessage, stopped: AbortSignal): Promise<WebhookResponse>
}
