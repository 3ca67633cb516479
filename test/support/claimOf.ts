import { randomUUID } from 'node:crypto'
import type { SettlementClaim } from '../../src/ports/settlementJournal.js'

export const claimOf = (changes: Partial<SettlementClaim> = {}): SettlementClaim => ({
  authorizationId: randomUUID(),
  scheme: 'exact',
  network: 'eip155:84532',
  asset: '0xasset',
  payer: '0xpayer',
  payTo: '0xpayee',
  amount: 1n,
  authorizedAmount: changes.amount ?? 1n,
  details: {},
  expiresAt: null,
  resource: null,
  caller: 'anonymous',
  fingerprint: 'f',
  ...changes,
})
