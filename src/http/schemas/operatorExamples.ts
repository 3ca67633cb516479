import type { OperatorAccount, OperatorAuditPage, PauseView } from '../../protocol/operator.js'
import type { CallerReport, OperatorOverview } from '../../protocol/operatorOverview.js'
import { parameters } from './paymentExamples.js'

const { network } = parameters
const signer = '0x209693Bc6afc0C5328bA36FaF03C514EF312287C'
const instanceId = '5b0c9f0e-6f2f-4a2c-9d43-1f6f0a2a9d51'

export const networkPause: PauseView = {
  target: { kind: 'network', network },
  reason: 'The nodes of the network contradict each other',
  by: 'Ada',
  since: '2026-01-01T00:00:00.000Z',
}

export const accountExample: OperatorAccount = {
  id: '0b8a7a0c-3f0e-4a9c-9d43-1f6f0a2a9d51',
  email: 'ada@example.com',
  project: 'Report shop',
  tier: 'free',
  status: 'active',
  createdAt: '2026-01-01T00:00:00.000Z',
  lastUsedAt: '2026-01-02T00:00:00.000Z',
  keys: 2,
}

export const auditExample: OperatorAuditPage = {
  entries: [
    {
      id: '0d0c5f0a-4b65-4a25-8f63-9f5f5ec0a1ce',
      createdAt: '2026-01-01T00:00:00.000Z',
      action: 'pause.set',
      target: { kind: 'network', network },
      by: 'Ada',
      address: '203.0.113.7',
      before: null,
      after: { reason: networkPause.reason, by: 'Ada', since: networkPause.since },
    },
  ],
}

export const callersExample: CallerReport = {
  from: '2026-01-01T00:00:00.000Z',
  to: '2026-01-01T01:00:00.000Z',
  mostRequests: [
    {
      accountId: accountExample.id,
      network: null,
      requests: 1_200,
      refused: 3,
      settles: 400,
      busyMs: 812_000,
      reasons: [{ reason: 'insufficient_funds', count: 3 }],
    },
  ],
  mostRefused: [
    {
      accountId: null,
      network: '203.0.113.7',
      requests: 90,
      refused: 90,
      settles: 0,
      busyMs: 210,
      reasons: [{ reason: 'RATE_LIMITED', count: 90 }],
    },
  ],
  mostBusy: [],
  isComplete: true,
}

export const overviewExample: OperatorOverview = {
  at: '2026-01-01T00:00:00.000Z',
  instance: {
    startedAt: '2025-12-31T00:00:00.000Z',
    version: '1.0.0',
    networks: [
      {
        network,
        isServing: true,
        paused: [{ scheme: null, reason: networkPause.reason }],
        problem: null,
        isRpcReachable: true,
        balanceLevel: 'ok',
        clockLagMs: 0,
        stuckLanes: [],
        limitations: [],
        endpoints: [
          {
            host: 'rpc.example.com',
            isUp: true,
            head: '21000000',
            lagBlocks: '0',
            latencyMs: 31.2,
            wrongChain: null,
            lastFailure: null,
          },
        ],
        signers: [
          {
            address: signer,
            balance: '50000000000000000',
            settlementsLeft: 9_000,
            daysLeft: 22.5,
            laneRepairs: 0,
          },
        ],
        reorgs: { reorged: 0, lost: 0 },
      },
    ],
    limiter: { store: 'redis', isDegraded: false },
    pools: [{ name: 'payments', max: 20, total: 4, idle: 3, waiting: 0 }],
    jobs: [
      {
        name: 'reconcileSettlements',
        everyMs: 2_000,
        isShared: true,
        succeededAt: '2025-12-31T23:59:59.000Z',
        failedAt: null,
        failures: 0,
        runningSince: null,
      },
    ],
    pauses: 1,
  },
  shared: {
    database: 'ok',
    openSettlements: [{ network, state: 'pending', count: 2, oldestSeconds: 3.5 }],
    openStreams: [],
    lanes: [{ network, signer, nextNonce: '4712', holder: instanceId, unconfirmed: 1, oldestSeconds: 3.5 }],
    lastDay: [{ network, confirmed: 398, failed: 2, lost: 0 }],
    webhooks: { waiting: 0, isCountLimited: false, oldestSeconds: null },
    reconciliation: null,
    jobs: [{ job: 'reconcileSettlements', holder: instanceId }],
    instances: [{ id: instanceId, seenSecondsAgo: 1.2, isAlive: true }],
  },
  unread: [{ part: 'reconciliation', reason: 'not read within 1500 ms' }],
}
