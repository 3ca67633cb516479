import type { Pool } from 'pg'
import { beforeEach, describe, expect, it } from 'vitest'
import { silentLogger } from '../../../../src/platform/logger.js'
import type { Lane, Recorder, SettlementJournal } from '../../../../src/ports/settlementJournal.js'
import type { SignerLanes, SignNumbered } from '../../../../src/ports/signerLanes.js'
import { announceInstance, type Instance } from '../../../../src/stores/postgres/database/instance.js'
import { createSettlementJournal } from '../../../../src/stores/postgres/journal/settlementJournal.js'
import { createSignerLanes } from '../../../../src/stores/postgres/lanes/signerLanes.js'
import { claimOf } from '../../../support/claimOf.js'
import { emptyTables } from '../../../support/emptyTables.js'
import { addInstance, killInstance, reviveInstance } from '../../../support/instances.js'
import { pollUntil } from '../../../support/pollUntil.js'
import { useTestDatabase } from '../../../support/postgres.js'

/* Lane leases, and the operations that require one: gaps, replacements, rewinds. */

const network = 'eip155:84532'
const signers = ['0xa', '0xb', '0xc', '0xd']
const lane: Lane = { network, signer: '0xa' }

const sign =
  (name: string): SignNumbered =>
  async (nonce) => ({ transaction: `${name}/${nonce}`, bytes: `bytes of ${name} ${nonce}` })

interface Process {
  readonly instance: Instance
  readonly journal: SettlementJournal
  readonly lanes: SignerLanes
}

// A lease lasts for seconds.
const { pool, otherPool } = useTestDatabase({ stopsClock: true })

beforeEach(async () => {
  await emptyTables(pool, 'settlements', 'signer_lanes', 'instances')
})

const appear = async (on: Pool = pool): Promise<Process> => {
  const instance = await addInstance(on)
  const journal = createSettlementJournal(on, instance)
  return { instance, journal, lanes: createSignerLanes(on, instance) }
}
const openLanes = async ({ lanes }: Process, next = 0): Promise<void> => {
  for (const signer of signers) await lanes.advance({ network, signer }, next)
}
const claim = async ({ journal }: Process): Promise<string> => {
  const settlement = await journal.claim(claimOf({ network }))
  if (settlement === null) throw new Error('The authorization already has an open row')
  return settlement.id
}
/** Records one transaction with this many new settlements. */
const record = async (process: Process, name: string, count = 1): Promise<readonly string[]> => {
  const ids = await Promise.all(Array.from({ length: count }, () => claim(process)))
  const answer = await process.lanes.record(lane, ids.map(process.journal.recorderFor), sign(name))
  if ('lost' in answer) throw new Error('taken over')
  return ids
}
const listTransactions = async ({ lanes }: Process) =>
  (await lanes.listFrom(lane, 0, 100)).map(({ nonce, transaction }) => [nonce, transaction])
const oldest = async ({ lanes }: Process) => {
  const [first] = await lanes.listFrom(lane, 0, 1)
  if (first === undefined) throw new Error('Nothing is recorded')
  return first
}

describe('a lease', () => {
  it('grants all lanes to one instance, and half of them to a second one when it starts', async () => {
    const one = await appear()
    await openLanes(one)
    expect(await one.lanes.lease(network, signers)).toEqual(signers)
    const other = await appear()
    // The first instance releases its surplus first.
    expect(await other.lanes.lease(network, signers)).toEqual([])
    expect(await one.lanes.lease(network, signers)).toEqual(['0xa', '0xb'])
    expect(await other.lanes.lease(network, signers)).toEqual(['0xc', '0xd'])
    expect(await one.lanes.lease(network, signers)).toEqual(['0xa', '0xb'])
  })

  it('is never held by two instances, under concurrency', async () => {
    const processes = await Promise.all(Array.from({ length: 6 }, () => appear()))
    const [first] = processes
    if (first === undefined) throw new Error('There is no process')
    await openLanes(first)
    for (const _round of [1, 2, 3]) {
      const held = await Promise.all(processes.map(({ lanes }) => lanes.lease(network, signers)))
      const all = held.flat()
      expect(new Set(all).size).toBe(all.length)
    }
    const held = await Promise.all(processes.map(({ lanes }) => lanes.lease(network, signers)))
    expect(held.flat().sort()).toEqual(signers)
  })

  it('of a dead instance is taken over', async () => {
    const dead = await appear()
    await openLanes(dead)
    await dead.lanes.lease(network, signers)
    const heir = await appear()
    expect(await heir.lanes.lease(network, signers)).toEqual([])
    await killInstance(pool, dead.instance)
    expect(await heir.lanes.lease(network, signers)).toEqual(signers)
  })

  it('that a live instance does not renew is taken over when it expires', async () => {
    const idle = await appear()
    await openLanes(idle)
    await idle.lanes.lease(network, signers)
    const other = await appear()
    expect(await other.lanes.lease(network, signers)).toEqual([])
    await pool.query("update signer_lanes set lease_expires_at = now() - interval '1 second'")
    expect(await other.lanes.lease(network, signers)).toEqual(['0xa', '0xb'])
  })

  it('ends when its holder closes', async () => {
    const instance = await announceInstance(pool, silentLogger, { isOnly: false })
    const leaving = createSignerLanes(pool, instance)
    for (const signer of signers) await leaving.advance({ network, signer }, 0)
    expect(await leaving.lease(network, signers)).toEqual(signers)
    await instance.close()
    const { rows } = await pool.query('select 1 from signer_lanes where holder is not null')
    expect(rows).toEqual([])
    expect(await (await appear()).lanes.lease(network, signers)).toEqual(signers)
  })

  it('applies to one network', async () => {
    const one = await appear()
    await openLanes(one)
    await one.lanes.advance({ network: 'eip155:1', signer: '0xa' }, 0)
    expect(await one.lanes.lease('eip155:1', signers)).toEqual(['0xa'])
    const other = await appear()
    expect(await other.lanes.lease(network, signers)).toEqual(['0xa', '0xb'])
  })
})

describe('a replacement', () => {
  it('has the same nonce and settlements, and becomes their transaction', async () => {
    const holder = await appear()
    await openLanes(holder)
    await holder.lanes.lease(network, signers)
    const ids = await record(holder, 'cheap', 3)
    const replaced = await holder.lanes.replace(lane, await oldest(holder), sign('expensive'))
    expect(replaced).toEqual({ transaction: 'expensive/0', bytes: 'bytes of expensive 0' })
    expect(await listTransactions(holder)).toEqual([[0, 'expensive/0']])
    expect(await holder.lanes.readNext(lane)).toBe(1)
    for (const id of ids) {
      const found = await holder.journal.find(id)
      expect(found).toMatchObject({ state: 'pending', transaction: 'expensive/0' })
      expect(found?.broadcasts.map(({ transaction }) => transaction)).toEqual(['cheap/0', 'expensive/0'])
    }
    const byOld = await holder.journal.listByTransaction(network, 'cheap/0')
    expect(byOld.map(({ id }) => id).sort()).toEqual([...ids].sort())
  })

  it('can be replaced itself; only the newest transaction can be', async () => {
    const holder = await appear()
    await openLanes(holder)
    await holder.lanes.lease(network, signers)
    await record(holder, 'first')
    const first = await oldest(holder)
    await holder.lanes.replace(lane, first, sign('second'))
    expect(await holder.lanes.replace(lane, first, sign('beside'))).toBeNull()
    await holder.lanes.replace(lane, await oldest(holder), sign('third'))
    expect(await listTransactions(holder)).toEqual([[0, 'third/0']])
    expect((await oldest(holder)).replaced.toSorted()).toEqual(['first/0', 'second/0'])
  })

  it('is as urgent for the same accounts', async () => {
    const holder = await appear()
    await openLanes(holder)
    await holder.lanes.lease(network, signers)
    const urgentShares = [
      { account: 'ada', share: 0.25 },
      { account: 'bob', share: 0.5 },
    ]
    await holder.lanes.record(lane, [], sign('first'), urgentShares)
    for (const name of ['second', 'third']) {
      expect(await oldest(holder)).toMatchObject({ urgentShares })
      await holder.lanes.replace(lane, await oldest(holder), sign(name))
    }
    expect(await oldest(holder)).toMatchObject({ transaction: 'third/0', urgentShares })
  })

  it('does not change closed settlements', async () => {
    const holder = await appear()
    await openLanes(holder)
    await holder.lanes.lease(network, signers)
    const [closed, open] = await record(holder, 'cheap', 2)
    await holder.journal.close(closed ?? '', { state: 'failed', reason: 'insufficient_funds' })
    await holder.lanes.replace(lane, await oldest(holder), sign('expensive'))
    expect(await holder.journal.find(closed ?? '')).toMatchObject({ state: 'failed', transaction: 'cheap/0' })
    expect(await holder.journal.find(open ?? '')).toMatchObject({
      state: 'pending',
      transaction: 'expensive/0',
    })
  })

  it.each<[string, (holder: Process) => Promise<Process>]>([
    ['another instance', async () => await appear()],
    [
      'an instance whose lease has expired',
      async (holder) => {
        await pool.query("update signer_lanes set lease_expires_at = now() - interval '1 second'")
        return holder
      },
    ],
  ])('by %s is refused before it signs', async (_who, choose) => {
    const holder = await appear()
    await openLanes(holder)
    await holder.lanes.lease(network, signers)
    await record(holder, 'cheap')
    const stuck = await oldest(holder)
    const { lanes } = await choose(holder)
    let hasSigned = false
    const refused = await lanes.replace(lane, stuck, async (nonce) => {
      hasSigned = true
      return await sign('expensive')(nonce)
    })
    expect(refused).toBeNull()
    expect(hasSigned).toBe(false)
    expect(await listTransactions(holder)).toEqual([[0, 'cheap/0']])
  })
})

describe('a nonce gap', () => {
  it('is filled for an allocated nonce without a transaction', async () => {
    const one = await appear()
    await openLanes(one)
    await record(one, 'low')
    await one.lanes.advance(lane, 3)
    await record(one, 'high')
    expect(await one.lanes.fillNonceGap(lane, 1, sign('filling'))).toEqual({
      transaction: 'filling/1',
      bytes: 'bytes of filling 1',
    })
    expect(await one.lanes.fillNonceGap(lane, 1, sign('again'))).toBeNull()
    expect(await one.lanes.fillNonceGap(lane, 0, sign('low again'))).toBeNull()
    // Not allocated yet: the next payment takes it.
    expect(await one.lanes.fillNonceGap(lane, 4, sign('beyond'))).toBeNull()
    expect(await listTransactions(one)).toEqual([
      [0, 'low/0'],
      [1, 'filling/1'],
      [3, 'high/3'],
    ])
  })

  it('is filled once by two concurrent instances, and neither fails', async () => {
    const [one, other] = [await appear(), await appear(otherPool)]
    await openLanes(one)
    await one.lanes.advance(lane, 20)
    for (const nonce of Array.from({ length: 20 }, (_, index) => index)) {
      const filled = await Promise.all([
        one.lanes.fillNonceGap(lane, nonce, sign('one')),
        other.lanes.fillNonceGap(lane, nonce, sign('other')),
      ])
      expect(filled.filter((each) => each !== null)).toHaveLength(1)
    }
  })
})

describe('rewinding a lane', () => {
  it("sets the chain's nonce when nothing is recorded at or above it", async () => {
    const one = await appear()
    await openLanes(one)
    await record(one, 'real')
    await one.lanes.advance(lane, 1_000)
    expect(await one.lanes.rewindNonce(lane, 0)).toBe(false)
    expect(await one.lanes.rewindNonce(lane, 1)).toBe(true)
    await record(one, 'next')
    expect(await listTransactions(one)).toEqual([
      [0, 'real/0'],
      [1, 'next/1'],
    ])
    expect(await one.lanes.rewindNonce(lane, 2)).toBe(false)
  })

  it('includes what another instance records during the wait for the lane', async () => {
    const [one, other] = [await appear(), await appear(otherPool)]
    await openLanes(one)
    await one.lanes.advance(lane, 8)
    const id = await claim(other)
    let retreating: Promise<boolean> = Promise.resolve(false)
    await other.lanes.record(lane, [other.journal.recorderFor(id)], async (nonce) => {
      retreating = one.lanes.rewindNonce(lane, 5)
      await isWaitingForLock()
      return await sign('meanwhile')(nonce)
    })
    expect(await retreating).toBe(false)
    expect(await one.lanes.readNext(lane)).toBe(9)
    // A rewind would allocate this nonce a second time.
    await record(one, 'next')
    expect(await listTransactions(one)).toEqual([
      [8, 'meanwhile/8'],
      [9, 'next/9'],
    ])
  })

  const isWaitingForLock = (): Promise<unknown> =>
    pollUntil(async () => {
      const { rows } = await pool.query(
        "select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'",
      )
      return rows.length > 0
    }, 'the rewind to wait for the lane')
})

describe('a transaction with several settlements', () => {
  it('is recorded for all of them or for none', async () => {
    const one = await appear()
    const other = await appear()
    await openLanes(one)
    const ids = await Promise.all([claim(one), claim(one), claim(one)])
    await killInstance(pool, one.instance)
    await other.journal.abandon(ids[1] ?? '')
    await reviveInstance(pool, one.instance)

    const told: string[] = []
    const recorders = ids.map(
      (settlementId): Recorder => ({
        settlementId,
        record: async (signed, write) => {
          await one.journal.recorderFor(settlementId).record(signed, write)
          told.push(settlementId)
        },
      }),
    )
    expect(await one.lanes.record(lane, recorders, sign('batch'))).toEqual({ lost: [ids[1]] })
    expect(told).toEqual([])
    expect(await listTransactions(one)).toEqual([])
    expect(await one.journal.find(ids[0] ?? '')).toMatchObject({ state: 'claimed', transaction: null })

    const rest = recorders.filter(({ settlementId }) => settlementId !== ids[1])
    expect(await one.lanes.record(lane, rest, sign('batch'))).toMatchObject({
      recorded: { transaction: 'batch/0' },
    })
    expect(told).toEqual([ids[0], ids[2]])
    expect(await one.lanes.readNext(lane)).toBe(1)
  })
})
