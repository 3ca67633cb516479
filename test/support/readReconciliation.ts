import type { z } from 'zod'
import { reconciliationPage } from '../../src/protocol/reconciliation.js'
import { fetchServed } from './fetchServed.js'
import { pollUntil } from './pollUntil.js'

/**
 * Reads the default period of a service, and again while a node has not answered for a settlement in time, which hides
 * differences.
 */
export const readReconciliation = (
  serviceUrl: string,
  operatorToken: string,
): Promise<z.infer<typeof reconciliationPage>> => {
  let read: unknown
  return pollUntil(
    async () => {
      const headers = { authorization: `Bearer ${operatorToken}` }
      const response = await fetchServed(`${serviceUrl}/v1/reconciliation`, { headers })
      const page = reconciliationPage.parse(await response.json())
      read = page.checked
      return page.checked.unavailable === 0 && page
    },
    'the nodes to answer for every settlement',
    () => read,
  )
}
