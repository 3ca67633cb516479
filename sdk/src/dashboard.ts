import type { Client } from 'openapi-fetch'
import { requestUntil } from './request.js'
import type { components, operations, paths } from './schema.js'

type Answer<Operation extends 'getAccount' | 'getUsage'> =
  operations[Operation]['responses'][200]['content']['application/json']
type SettlementQuery = NonNullable<operations['listMySettlements']['parameters']['query']>

/** It serves the key's project. All other operations are in `client.api`. */
export interface Dashboard {
  info(): Promise<Answer<'getAccount'>>
  usage(): Promise<Answer<'getUsage'>>
  /** Newest first, page after page. */
  settlements(filter?: Omit<SettlementQuery, 'cursor'>): AsyncGenerator<components['schemas']['Settlement']>
}

const timeoutMs = 30_000

export const createDashboard = (api: Client<paths>): Dashboard => {
  const limits = () => ({ deadline: Date.now() + timeoutMs })
  return {
    info: () => requestUntil((signal) => api.GET('/dashboard/info', { signal }), limits()),
    usage: () => requestUntil((signal) => api.GET('/dashboard/usage', { signal }), limits()),
    async *settlements(filter = {}) {
      let cursor: string | undefined
      do {
        const query = cursor === undefined ? filter : { ...filter, cursor }
        const page = await requestUntil(
          (signal) => api.GET('/dashboard/settlements', { params: { query }, signal }),
          limits(),
        )
        yield* page.settlements
        cursor = page.nextCursor ?? undefined
      } while (cursor !== undefined)
    },
  }
}
