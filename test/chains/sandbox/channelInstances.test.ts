import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { AnyChainFamily } from '../../../src/chains/chain.js'
import { families } from '../../../src/chains/index.js'
import { composeCore } from '../../../src/compose.js'
import { readConfig } from '../../../src/config.js'
import { systemClock } from '../../../src/platform/clock.js'
import { silentLogger } from '../../../src/platform/logger.js'
import type { SandboxChannels } from '../../../src/ports/sandbox.js'
import { createSandboxChannels } from '../../../src/stores/postgres/sandbox/channels.js'
import { environmentFor } from '../../support/core.js'
import { type CoreClient, createCoreClient, reconcileUntil } from '../../support/coreClient.js'
import { createTestDatabase, type TestDatabase } from '../../support/postgres.js'
import { sandboxChain } from '../../support/sandbox/streams.js'
import {
  type Channel,
  type ChannelBody,
  claimBody,
  planChannel,
  refundOrder,
  rowOf,
  signedDeposit,
  sweepBody,
} from '../evm/channels/channelScene.js'

/* Several instances of a sandbox on one database, and one that dies before or after its transaction is executed. */

const chain = { ...sandboxChain, chainId: sandboxChain.token.chainId }
type SandboxChannel = Channel<typeof chain>
type Change = (channels: SandboxChannels) => Pick<SandboxChannels, 'execute'>

let database: TestDatabase
const opened: CoreClient[] = []

const withChannels =
  (change: Change) =>
  (family: AnyChainFamily): AnyChainFamily => ({
    ...family,
    prepare: (environment) => {
      const preparation = family.prepare(environment)
      if ('problems' in preparation || preparation.open === null) return preparation
      const { open: openFamily } = preparation
      return {
        open: ({ channels, ...context }) =>
          openFamily(
            channels === undefined ? context : { ...context, channels: { ...channels, ...change(channels) } },
          ),
      }
    },
  })

const open = async (change: Change = (channels) => channels): Promise<CoreClient> => {
  const environment = environmentFor({
    databaseUrl: database.url,
    environment: { SANDBOX: 'true', ANONYMOUS_PAYMENTS_PER_HOUR: '0' },
  })
  const config = readConfig(environment, families.map(withChannels(change)))
  const parts = { clock: systemClock, logger: silentLogger, measuresProcess: false }
  const client = createCoreClient(await composeCore(config, parts))
  opened.push(client)
  return client
}

beforeAll(async () => {
  database = await createTestDatabase({ isSandbox: true })
})
afterAll(async () => {
  for (const { core } of opened) await core.close()
  await database.drop()
})

/** Of 10,000, of which 1,000 are claimed. */
const openChannel = async (): Promise<SandboxChannel> => {
  const channel = planChannel(chain)
  const client = opened[0] ?? (await open())
  for (const body of [
    await signedDeposit(channel),
    await claimBody(channel, [await rowOf(channel, 1_000n)]),
  ]) {
    expect(await client.settle(body)).toMatchObject({ success: true })
  }
  return channel
}

const readState = async ({ id, config: { receiver, token } }: SandboxChannel) => {
  const store = createSandboxChannels(database.pool(), 10_000)
  const channel = (await store.find(chain.network, [id])).get(id)
  const { totalClaimed: credited, totalSettled: paid } = await store.findReceiver(
    chain.network,
    receiver,
    token,
  )
  return { ...channel, credited, paid }
}

const makers: Readonly<Record<string, (channel: SandboxChannel) => Promise<ChannelBody>>> = {
  deposit: (channel) => signedDeposit(channel, { ceiling: 3_000n }),
  claim: async (channel) => claimBody(channel, [await rowOf(channel, 3_000n)]),
  sweep: async (channel) => sweepBody(channel),
  refund: (channel) => refundOrder(channel, { charged: 2_000n, amount: 1_000n }),
}

const before = { balance: 10_000n, totalClaimed: 1_000n, refundNonce: 0n, credited: 1_000n, paid: 0n }
const after = {
  deposit: { ...before, balance: 20_000n },
  claim: { ...before, totalClaimed: 3_000n, credited: 3_000n },
  sweep: { ...before, paid: 1_000n },
  refund: { ...before, balance: 9_000n, totalClaimed: 2_000n, credited: 2_000n, refundNonce: 1n },
}

const died = async (): Promise<never> => {
  throw new Error('The instance died')
}

describe.each(Object.entries(makers))('a %s in the sandbox', (kind, make) => {
  const expected: unknown = Reflect.get(after, kind)

  it('that two instances are asked for at once is made once', async () => {
    const [first, second] = [await open(), await open()]
    const channel = await openChannel()
    const body = await make(channel)
    const answers = await Promise.all([first.settle(body, 'ada'), second.settle(body, 'bob')])
    const successes = answers.filter(({ success }) => success)
    if (kind === 'deposit') {
      expect(successes).toHaveLength(1)
      expect(answers.find(({ success }) => !success)).toMatchObject({ errorReason: 'duplicate_settlement' })
    } else {
      expect(successes).toHaveLength(2)
      expect(answers[0]?.transaction).toBe(answers[1]?.transaction)
    }
    expect(await readState(channel)).toEqual(expected)
  })

  it.each<[string, Change, unknown]>([
    ['before', () => ({ execute: died }), before],
    [
      'after',
      ({ execute }) => ({
        execute: async (...call) => {
          await execute(...call)
          return await died()
        },
      }),
      expected,
    ],
  ])('whose instance dies %s its execution is made once, from the row alone', async (_when, change, then) => {
    const dying = await open(change)
    const channel = await openChannel()
    const body = await make(channel)
    const pending = await dying.settle(body)
    expect(pending).toMatchObject({ success: false, errorReason: 'settlement_pending' })
    expect(await readState(channel)).toEqual(then)

    const others = [await open(), await open()] as const
    await Promise.all(others.map((other) => other.reconcile()))
    for (const other of others) {
      expect(await reconcileUntil(other, pending, 'confirmed')).toMatchObject({
        transaction: pending.transaction,
      })
    }
    expect(await readState(channel)).toEqual(expected)
    const answer = await others[0].settle(body)
    // What a sweep pays depends on the state, as in production.
    expect(answer).toMatchObject(
      kind === 'sweep'
        ? { errorReason: 'invalid_batch_settlement_evm_nothing_to_settle' }
        : { success: true, transaction: pending.transaction },
    )
    expect(await readState(channel)).toEqual(expected)
  })
})

describe('instances of a sandbox', () => {
  it('that claim different totals at once credit the receiver with the highest', async () => {
    const [first, second] = [await open(), await open()]
    const channel = await openChannel()
    const claims = await Promise.all(
      [2_000n, 5_000n, 3_000n, 4_000n].map(async (total) =>
        claimBody(channel, [await rowOf(channel, total)]),
      ),
    )
    const answers = await Promise.all(
      claims.map((body, index) => (index % 2 === 0 ? first : second).settle(body, `caller ${index}`)),
    )
    expect(answers.map(({ success }) => success)).toEqual([true, true, true, true])
    expect(await readState(channel)).toEqual({ ...before, totalClaimed: 5_000n, credited: 5_000n })
  })

  it('that refund and claim the same money at once let it go once', async () => {
    const [first, second] = [await open(), await open()]
    const channel = await openChannel()
    const claim = await claimBody(channel, [await rowOf(channel, 10_000n)])
    const refund = await refundOrder(channel, { amount: 9_000n })
    const [claimed, refunded] = await Promise.all([first.settle(claim, 'ada'), second.settle(refund, 'bob')])
    const { balance = 0n, totalClaimed, credited } = await readState(channel)
    expect(credited).toBe(totalClaimed)
    expect(claimed.success).not.toBe(refunded.success)
    expect([balance, credited]).toEqual(claimed.success ? [10_000n, 10_000n] : [1_000n, 1_000n])
  })
})
