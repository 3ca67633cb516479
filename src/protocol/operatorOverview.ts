import { z } from 'zod'
import { nightlyRun } from './reconciliation.js'

const timestamp = z.iso.datetime()

const endpoint = z.object({
  host: z.string().meta({ description: 'Host name only; numbered where several endpoints share one' }),
  isUp: z.boolean().meta({ description: 'Whether it responds, serves the right chain and is in sync' }),
  head: z.string().nullable().meta({ description: 'Newest block that it reported' }),
  lagBlocks: z.string().nullable().meta({ description: 'Blocks behind the newest head of all endpoints' }),
  latencyMs: z.number().nullable(),
  wrongChain: z.string().nullable().meta({ description: 'Chain that it serves, where it is another one' }),
  lastFailure: z
    .object({ message: z.string(), at: timestamp })
    .nullable()
    .meta({ description: 'Since the start; without secrets' }),
})

const signer = z.object({
  address: z.string(),
  balance: z.string().meta({ description: "Smallest unit of the network's native coin" }),
  settlementsLeft: z.int().meta({ description: 'What it can pay for at the current price' }),
  daysLeft: z
    .number()
    .nullable()
    .meta({
      description:
        'At the rate of the last 24 hours of all instances, shared evenly by the signers of the network; null: the rate is ' +
        'not known, or 0',
    }),
  laneRepairs: z
    .int()
    .nullable()
    .meta({ description: 'Gaps in its nonces that were closed; null: it has no lane' }),
})

const network = z.object({
  network: z.string(),
  isServing: z.boolean().meta({ description: 'Whether it could settle; `paused` apart' }),
  paused: z
    .array(z.object({ scheme: z.string().nullable(), reason: z.string() }))
    .meta({ description: 'The whole network (scheme null), or schemes of it' }),
  problem: z.string().nullable().meta({ description: 'Why it does not serve' }),
  isRpcReachable: z.boolean(),
  balanceLevel: z.enum(['ok', 'low', 'empty', 'unknown']),
  clockLagMs: z.number().nullable().meta({
    description: 'How far this machine is behind the newest block; null where deadlines are no block times',
  }),
  stuckLanes: z
    .array(z.string())
    .meta({ description: 'Signers that wait too long for their next transaction' }),
  limitations: z.array(z.string()),
  endpoints: z.array(endpoint),
  signers: z.array(signer),
  reorgs: z.object({
    reorged: z.int().meta({ description: 'Settlements whose block was removed' }),
    lost: z.int().meta({ description: 'Of them: reported as success, and failed' }),
  }),
})

const instance = z.object({
  startedAt: timestamp,
  version: z.string(),
  networks: z.array(network),
  limiter: z.object({
    store: z.enum(['redis', 'memory']),
    isDegraded: z.boolean().meta({ description: 'Redis is down: each instance counts its share itself' }),
  }),
  pools: z
    .array(
      z.object({
        name: z.string(),
        max: z.int(),
        total: z.int().meta({ description: 'Open connections' }),
        idle: z.int(),
        waiting: z.int().meta({ description: 'Requests that wait for a connection' }),
      }),
    )
    .meta({ description: 'Connections to the database, by their use' }),
  jobs: z.array(
    z.object({
      name: z.string(),
      everyMs: z.int(),
      isShared: z.boolean().meta({ description: 'One instance does it for all: see `shared.jobs`' }),
      succeededAt: timestamp.nullable().meta({ description: 'Null: not since the start' }),
      failedAt: timestamp.nullable(),
      failures: z.int().meta({ description: 'Since the last success' }),
      runningSince: timestamp.nullable(),
    }),
  ),
  pauses: z.int().meta({ description: 'Pauses that this instance knows' }),
})

const openCount = z.object({
  network: z.string(),
  state: z.string(),
  count: z.int(),
  oldestSeconds: z.number(),
})

const shared = z.object({
  database: z.enum(['ok', 'read_only']).nullable(),
  openSettlements: z
    .array(openCount)
    .nullable()
    .meta({ description: '`claimed`: nothing was sent, `pending`: sent; without those that are 0' }),
  openStreams: z.array(openCount).nullable(),
  lanes: z
    .array(
      z.object({
        network: z.string(),
        signer: z.string(),
        nextNonce: z.string(),
        holder: z.string().nullable().meta({ description: 'Instance that sends in it; null: none' }),
        unconfirmed: z.int().meta({ description: 'Its transactions whose settlements are open' }),
        oldestSeconds: z.number().nullable(),
      }),
    )
    .nullable(),
  lastDay: z
    .array(z.object({ network: z.string(), confirmed: z.int(), failed: z.int(), lost: z.int() }))
    .nullable()
    .meta({
      description:
        'Settlements opened in the last 24 hours, up to a minute old; `lost`: failed after success was answered',
    }),
  webhooks: z
    .object({
      waiting: z.int().meta({ description: 'Deliveries that wait, at most 10,000 are counted' }),
      isCountLimited: z.boolean(),
      oldestSeconds: z.number().nullable(),
    })
    .nullable(),
  reconciliation: z
    .object({ last: nightlyRun.nullable() })
    .nullable()
    .meta({ description: 'The last nightly run that ended; `last` null: none has' }),
  jobs: z.array(z.object({ job: z.string(), holder: z.string().nullable() })).nullable(),
  instances: z
    .array(z.object({ id: z.string(), seenSecondsAgo: z.number(), isAlive: z.boolean() }))
    .nullable()
    .meta({ description: 'At most 50, newest heartbeat first' }),
})

export const operatorOverview = z
  .object({
    at: timestamp,
    instance: instance.meta({ description: 'Of the instance that answers' }),
    shared: shared.meta({
      description: 'Of all instances on one database. Null: could not be read; `unread` says why',
    }),
    unread: z
      .array(z.object({ part: z.string(), reason: z.string() }))
      .meta({ description: 'Parts of `shared` that are null' }),
  })
  .meta({ id: 'OperatorOverview' })
export type OperatorOverview = z.infer<typeof operatorOverview>

const callerCount = z
  .object({
    accountId: z.string().nullable().meta({ description: 'Null: without a valid key' }),
    network: z.string().nullable().meta({
      description: 'Address of a caller without a key: IPv4, or IPv6 /64; null for accounts',
    }),
    requests: z.int(),
    refused: z.int().meta({ description: 'Errors (4xx, 5xx), and payments that were refused' }),
    settles: z.int().meta({ description: 'Requests to settle' }),
    busyMs: z.int().meta({ description: 'Time in which its requests were in progress, summed' }),
    reasons: z
      .array(z.object({ reason: z.string(), count: z.int() }))
      .meta({ description: 'Of refusals, the most frequent first: reasons of payments, or codes of errors' }),
  })
  .meta({ id: 'CallerCount' })

export const callerReport = z
  .object({
    from: timestamp.meta({ description: 'Up to an hour ago; later after a start' }),
    to: timestamp,
    mostRequests: z.array(callerCount),
    mostRefused: z.array(callerCount),
    mostBusy: z.array(callerCount),
    isComplete: z.boolean().meta({
      description:
        'False: there were more callers than are kept. The rarest are then left out, and counts may be a little low',
    }),
  })
  .meta({ id: 'CallerReport' })
export type CallerReport = z.infer<typeof callerReport>
