import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { systemClock } from '../../src/platform/clock.js'
import { silentLogger } from '../../src/platform/logger.js'
import { Secret } from '../../src/platform/secret.js'
import type { Logger } from '../../src/ports/logger.js'
import { tiers } from '../../src/protocol/tiers.js'
import { openStores } from '../../src/stores/openStores.js'
import type { Stores } from '../../src/stores/stores.js'
import { canonicalMailbox } from '../../src/usecases/dashboard/mails.js'
import { claimOf } from '../support/claimOf.js'
import { createMemoryLogger } from '../support/memoryLogger.js'
import { findPgBouncer, startPgBouncer, type TestPgBouncer } from '../support/pgbouncer.js'
import { pollUntil } from '../support/pollUntil.js'
import { useTestDatabase } from '../support/postgres.js'
import { recordInLane } from '../support/recordInLane.js'
import { patientTimeoutMs } from '../support/rpcProxy.js'

const program = await findPgBouncer()

describe.skipIf(program === null)('two instances behind PgBouncer in transaction mode', () => {
  const database = useTestDatabase()
  let pooler: TestPgBouncer
  let ours: Stores
  let theirs: Stores
  const theirLog = createMemoryLogger()

  beforeAll(async () => {
    if (program === null) return
    pooler = await startPgBouncer(program, database.url)
    const open = (logger: Logger) =>
      openStores(
        {
          databaseUrl: new Secret(pooler.urlOf(database.url)),
          databasePoolSize: 10,
          databaseReadUrl: null,
          databaseReadPoolSize: 5,
          databaseReadTimeoutMs: Number(patientTimeoutMs),
          dataFolder: '/nonexistent',
          redisUrl: null,
          keyCheckValue: Buffer.from('key'),
          previousKeyCheckValue: null,
          readMailbox: canonicalMailbox,
        },
        systemClock,
        logger,
      )
    ours = await open(silentLogger)
    theirs = await open(theirLog)
  })
  afterAll(async () => {
    await ours.close()
    await theirs.close()
    await pooler.stop()
  })

  const lane = { network: 'eip155:84532', signer: '0x1111111111111111111111111111111111111111' }
  const take = (stores: Stores, at: number) => (at % 2 === 0 ? stores : stores === ours ? theirs : ours)

  it('settle concurrently, with quota, lanes and gapless nonces', async () => {
    await ours.lanes.advance(lane, 0)
    const settle = async (at: number) => {
      const { journal, lanes } = take(ours, at)
      const claimed = await journal.claim(claimOf({ caller: 'ada' }), { tier: tiers.builder, at: new Date() })
      if (claimed === null) throw new Error('The authorization has a row already')
      const sign = async (nonce: number) => ({ transaction: `0x${nonce}`, bytes: `bytes ${nonce}` })
      await recordInLane({ journal, lanes }, claimed.id, { lane, sign })
      return await journal.close(claimed.id, { state: 'confirmed', transaction: '0x0' })
    }
    const answers = await Promise.all(Array.from({ length: 60 }, (_, at) => settle(at)))
    expect(answers).toEqual(answers.map(() => true))
    expect(await ours.lanes.readNext(lane)).toBe(60)
    expect((await theirs.quotas.readUse('ada', new Date())).used).toBe(60)
    expect(await ours.statistics.countSettlements()).toEqual({ confirmed: 60, failed: 0, pending: 0 })
  })

  it('run idempotent requests once, and hold a job lease on one of them', async () => {
    const request = { caller: 'ada', key: 'key', fingerprint: 'f' }
    expect(await ours.idempotency.begin(request)).toEqual({ state: 'started' })
    expect(await theirs.idempotency.begin(request)).toEqual({ state: 'running' })
    expect(await ours.jobLeases.take('reconcile', 60_000)).toBe(true)
    expect(await theirs.jobLeases.take('reconcile', 60_000)).toBe(false)
  })

  it('hold no more of many payers than they have, and one authorization for one account', async () => {
    const expiresAt = new Date(Date.now() + 3_600_000)
    const hold = (at: number, authorizationId: string, payer: string, account: string) =>
      take(ours, at).holds.place(
        {
          authorizationId,
          network: lane.network,
          asset: '0xasset',
          payer,
          spender: '0xrouter',
          payTo: '0xpayee',
          account,
          purpose: at % 3 === 0 ? 'verify' : 'settle',
          amount: 100n,
          expiresAt,
        },
        { balance: 250n, allowance: null },
      )
    const payers = Array.from({ length: 30 }, (_, index) => `0x${index}`)
    const held = await Promise.all(
      payers.map(async (payer) => {
        const results = await Promise.all([0, 1, 2, 3].map((at) => hold(at, `${payer}-${at}`, payer, 'ada')))
        return results.filter(({ state }) => state === 'held').length
      }),
    )
    expect(held).toEqual(payers.map(() => 2))
    const rivals = await Promise.all(
      payers.map(async (payer) => {
        const results = await Promise.all(
          ['bob', 'eve'].map((account, at) => hold(at, `of ${payer}`, `${account} ${payer}`, account)),
        )
        return results.map(({ state }) => state).sort()
      }),
    )
    expect(rivals).toEqual(payers.map(() => ['held', 'taken']))
  })

  it('never accept a key after another instance has revoked it', async () => {
    // From then on the other instance knows that it receives no notification.
    await pollUntil(
      () => theirLog.messages().includes('accounts.listener_lost'),
      'the lost notifications',
      theirLog.messages,
    )
    for (let round = 0; round < 10; round += 1) {
      const fingerprint = randomBytes(32)
      const { account } = await ours.accounts.register(
        { email: 'ada@example.com', project: `project ${round}` },
        { fingerprint, sealed: Buffer.from('sealed') },
      )
      for (let read = 0; read < 5; read += 1) {
        expect(await theirs.accounts.findByKey(fingerprint)).toMatchObject({
          account: { id: account.id },
        })
      }
      await ours.accounts.revoke(account.id)
      expect(await theirs.accounts.findByKey(fingerprint)).toBeNull()
    }
  })
})
