import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Core } from '../src/compose.js'
import { openCore } from './support/core.js'
import { useTestDatabase } from './support/postgres.js'

describe('a composed service', () => {
  const database = useTestDatabase()
  let core: Core
  beforeAll(async () => {
    core = await openCore({ databaseUrl: database.url })
  })
  afterAll(() => core.close())

  it('asks the chain about open settlements and unfinal blocks often, and clears old rows now and then', () => {
    expect(Object.fromEntries(core.jobs.map(({ name, everyMs }) => [name, everyMs]))).toEqual({
      reconcileSettlements: 2_000,
      detectReorgs: 4_000,
      measureOpenSettlements: 5_000,
      purgeIdempotencyKeys: 3_600_000,
      purgeUniqueAmounts: 600_000,
      purgeHolds: 600_000,
      dropBroadcasts: 600_000,
      claimChannels: 15_000,
      sweepReceivers: 60_000,
      retireChannels: 3_600_000,
      measureChannels: 60_000,
      finishIntents: 2_000,
      expireIntents: 5_000,
      purgeIntents: 3_600_000,
      refreshPauses: 500,
      purgeOperatorActions: 3_600_000,
      measureQueues: 15_000,
      updateCreditScores: 1_000,
      recordKeyUses: 30_000,
      purgeAuditLog: 3_600_000,
      reconcileNightly: 60_000,
      measureReconciliation: 300_000,
      purgeSignInNonces: 600_000,
      flushRequestStatistics: 1_000,
      closeStreams: 2_000,
      checkStreamFunds: 5_000,
      measureOpenStreams: 15_000,
      measureOpenHolds: 30_000,
      watchHolds: 15_000,
      actOnDeadlines: 5_000,
      purgeHoldMoves: 3_600_000,
      runBackfills: 30_000,
      deliverWebhooks: 500,
      purgeWebhookDeliveries: 3_600_000,
      unlistStaleResources: 600_000,
      probeOwners: 5_000,
    })
  })

  it('does once for all instances what depends on the shared database alone', () => {
    expect(core.jobs.filter(({ isShared }) => isShared === true).map(({ name }) => name)).toEqual([
      'reconcileSettlements',
      'detectReorgs',
      'purgeIdempotencyKeys',
      'purgeUniqueAmounts',
      'purgeHolds',
      'dropBroadcasts',
      'claimChannels',
      'sweepReceivers',
      'retireChannels',
      'watchHolds',
      'actOnDeadlines',
      'purgeHoldMoves',
      'updateCreditScores',
      'purgeAuditLog',
      'finishIntents',
      'expireIntents',
      'purgeIntents',
      'purgeOperatorActions',
      'reconcileNightly',
      'purgeSignInNonces',
      'closeStreams',
      'checkStreamFunds',
      'runBackfills',
      'deliverWebhooks',
      'purgeWebhookDeliveries',
      'unlistStaleResources',
      'probeOwners',
    ])
  })

  it('runs each of its jobs on an empty database', async () => {
    for (const { run } of core.jobs) await run(new AbortController().signal)
  })
})
