import { randomUUID } from 'node:crypto'
import type { Intent } from '../../src/ports/intentStore.js'
import type { IntentRoute, IntentStatus } from '../../src/protocol/intents.js'

export const routeOf = (changes: Partial<IntentRoute> = {}): IntentRoute => ({
  id: 'route_1',
  scheme: 'exact',
  network: 'toy:1',
  asset: 'gold',
  symbol: 'GOLD',
  decimals: 6,
  amount: '10000',
  payer: 'alice',
  payTo: 'bob',
  balance: '50000',
  fee: null,
  estimatedSeconds: 2,
  score: 0.5,
  validUntil: '2026-01-01T00:05:00.000Z',
  ...changes,
})

export const requirementsOf = ({ scheme, network, asset, amount, payTo }: IntentRoute = routeOf()) => ({
  scheme,
  network,
  amount,
  asset,
  payTo,
  maxTimeoutSeconds: 300,
  extra: {},
})

const paid: readonly IntentStatus[] = ['executing', 'completed', 'failed']
const ended: readonly IntentStatus[] = ['completed', 'failed', 'expired', 'cancelled']

/** Consistent with its status; created at the first moment of 2026, for an hour. */
export const intentOf = (changes: Partial<Intent> = {}): Intent => {
  const { status = 'pending', expiresAt = new Date('2026-01-01T01:00:00Z') } = changes
  const createdAt = new Date('2026-01-01T00:00:00Z')
  const isPaid = paid.includes(status)
  return {
    id: randomUUID(),
    caller: 'anonymous',
    status,
    terms: { payer: 'alice', payee: 'bob', amount: '10000', asset: 'gold' },
    plan: { routes: [routeOf()], unavailable: [], validUntil: new Date('2026-01-01T00:05:00Z') },
    selected: isPaid || status === 'routed' ? { route: routeOf(), requirements: requirementsOf() } : null,
    payment: isPaid ? { settlementId: randomUUID(), authorizationId: 'toy:1/nonce-1' } : null,
    transaction: status === 'completed' || status === 'failed' ? 'tx-1' : null,
    settledAmount: status === 'completed' ? 10_000n : null,
    reason: status === 'failed' ? 'transaction_failed' : null,
    createdAt,
    expiresAt,
    endsAt: expiresAt,
    closedAt: ended.includes(status) ? createdAt : null,
    cancelledAt: null,
    controlDigest: null,
    ...changes,
  }
}
