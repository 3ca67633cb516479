import type { ResourceProbe } from '../ports/resourceProbe.js'
import { createGuardedExchange, type GuardedExchangeDependencies } from './guardedExchange.js'
import { version } from './version.js'

const deadlineMs = 5_000
// PAYMENT-REQUIRED carries declarations with their schemas.
const maxHeaderBytes = 65_536

/** GET without a body; the other methods with an empty JSON object. */
export const createResourceProbe = (
  dependencies: Omit<GuardedExchangeDependencies, 'purpose' | 'maxHeaderBytes'>,
): ResourceProbe => {
  const { request } = createGuardedExchange({
    deadlineMs,
    ...dependencies,
    purpose: 'probes',
    maxHeaderBytes,
  })
  return {
    ask: async ({ url, method }, stopped) => {
      const hasBody = method !== 'GET'
      const response = await request(
        {
          url,
          method,
          headers: {
            accept: 'application/json',
            'accept-encoding': 'identity',
            'user-agent': `quittance/${version} (discovery)`,
            ...(hasBody ? { 'content-type': 'application/json' } : {}),
          },
          body: hasBody ? '{}' : null,
        },
        stopped,
      )
      if (response.status === null) return response
      const { status, headers, body } = response
      const encoding = headers.get('content-encoding') ?? 'identity'
      return {
        status,
        paymentRequired: headers.get('payment-required') ?? null,
        // Not decompressed: identity was asked for, and a small body may expand to a large one.
        body: encoding === 'identity' ? body : null,
        error: null,
      }
    },
  }
}
