import type { WebhookTransport } from '../ports/webhookOutbox.js'
import { createGuardedExchange, type GuardedExchangeDependencies } from './guardedExchange.js'

export type GuardedFetchDependencies = Omit<GuardedExchangeDependencies, 'purpose'>

/** Posts to URLs of users; see `createGuardedExchange`. */
export const createGuardedFetch = (dependencies: GuardedFetchDependencies = {}): WebhookTransport => {
  const { findUrlProblem, request } = createGuardedExchange({ ...dependencies, purpose: 'webhooks' })
  return {
    findUrlProblem,
    post: async (message, stopped) => {
      const response = await request({ ...message, method: 'POST' }, stopped)
      return response.status === null ? response : { status: response.status, error: null }
    },
  }
}
