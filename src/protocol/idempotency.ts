/** How long a request is known by its Idempotency-Key. */
export const keyKeptMs = 86_400_000
