import type { ResourceProbe } from '../ports/discovery.js'
import { createGuardedExchange, type GuardedExchangeDependencies } from './guardedExchange.js'
import { version } from './version.js'

const deadlineMs = 5_000
// PAYMENT-REQUIRED carries declarations with their schemas.
const maxHeaderBytes = 65_536

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
    ask: async (url, stopped) => {
      const response = await request(
        {
          url,
          method: 'GET',
          headers: {
            accept: 'application/json',
            'accept-encoding': 'identity',
            'user-agent': `quittance/${version} (discovery)`,
          },
          body: null,
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
