import type {
  IdempotencyState,
  IdempotencyStore,
  IdempotentRequest,
} from '../../src/ports/idempotencyStore.js'

/** A minimal store. */
export const createMemoryIdempotency = (): IdempotencyStore => {
  const known = new Map<string, { fingerprint: string; answer: IdempotencyState }>()
  return {
    begin: async (request) => {
      const { fingerprint } = request
      const key = nameOf(request)
      const earlier = known.get(key)
      if (earlier !== undefined && earlier.fingerprint !== fingerprint) return { state: 'mismatch' }
      if (earlier !== undefined && earlier.answer.state !== 'started') return earlier.answer
      known.set(key, { fingerprint, answer: { state: 'running' } })
      return { state: 'started' }
    },
    isMismatch: async (request) => {
      const earlier = known.get(nameOf(request))
      return earlier !== undefined && earlier.fingerprint !== request.fingerprint
    },
    answer: async (request, response) =>
      void known.set(nameOf(request), {
        fingerprint: request.fingerprint,
        answer: { state: 'answered', response },
      }),
    fail: async (request, reason) =>
      void known.set(nameOf(request), {
        fingerprint: request.fingerprint,
        answer: { state: 'failed', reason },
      }),
    // Bound to its body; the next request runs again.
    release: async (request) =>
      void known.set(nameOf(request), { fingerprint: request.fingerprint, answer: { state: 'started' } }),
    forget: async (request) => void known.delete(nameOf(request)),
    purge: async () => {},
  }
}

const nameOf = ({ caller, key }: IdempotentRequest) => `${caller} ${key}`
