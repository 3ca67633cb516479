/** `error`: why there was no response, in words that the challenger may read. */
export type ProbeResponse =
  | {
      readonly status: number
      /** Header PAYMENT-REQUIRED; null without it. */
      readonly paymentRequired: string | null
      /** Null: larger than the limit, compressed, or it did not end in time. */
      readonly body: string | null
      readonly error: null
    }
  | { readonly status: null; readonly error: string }

/**
 * Gets an untrusted URL without paying: bounded, no redirects, one deadline (SSRF protection). Never by another method: a
 * stranger named the URL, and a POST may change something there.
 */
export interface ResourceProbe {
  /** Failures of the resource are returned; throws only the abort reason of `stopped`. */
  ask(url: string, stopped: AbortSignal): Promise<ProbeResponse>
}
