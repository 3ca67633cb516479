/** The specification's `SVC-…` codes, for dashboards and alerts; a reason or an error code says more. */
export const operationalCodes = {
  'SVC-1006': 'Invalid signature, or signed for another domain',
  'SVC-1011': 'Expired payment',
  'SVC-2004': 'No RPC endpoint of the network responds',
  'SVC-2005': 'Rate limit',
  'SVC-3002': 'Settlement failed: nonce used, transaction reverted, budget spent, or not in time',
  'SVC-3003': 'Insufficient balance',
  'SVC-4001': 'The network cannot settle, or could not be queried',
} as const

export type OperationalCode = keyof typeof operationalCodes
