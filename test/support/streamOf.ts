import { randomUUID } from 'node:crypto'
import type { Stream } from '../../src/ports/streamStore.js'

/** An active stream over 10000 units that nothing was used of. */
export const streamOf = (change: Partial<Stream> = {}): Stream => {
  const id = change.id ?? randomUUID()
  return {
    id,
    authorizationId: `toy:1/${id}`,
    caller: 'account',
    controlDigest: null,
    fingerprint: 'ab'.repeat(32),
    quota: null,
    scheme: 'upto',
    network: 'toy:1',
    asset: 'gold',
    payer: 'alice',
    payTo: 'bob',
    maxAmount: 10_000n,
    channel: null,
    metadata: null,
    createdAt: new Date('2026-01-01T00:00:00Z'),
    closesAt: new Date('2026-01-01T01:00:00Z'),
    settlesUntil: new Date('2026-01-01T01:01:00Z'),
    state: 'active',
    amount: 0n,
    sequence: 0,
    updates: 0,
    voucher: null,
    ceiling: null,
    claimSignature: null,
    finalAmount: null,
    settlementId: null,
    transaction: null,
    settledAmount: null,
    reason: null,
    risk: null,
    updatedAt: new Date('2026-01-01T00:00:00Z'),
    closedAt: null,
    attendAt: null,
    attempts: 0,
    refusals: 0,
    refusedAt: null,
    reverts: 0,
    ...change,
  }
}
