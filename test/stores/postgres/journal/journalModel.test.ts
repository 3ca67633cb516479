import { randomUUID } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type {
  BlockReference,
  Closing,
  ConfirmedBlock,
  Lane,
  SettlementJournal,
} from '../../../../src/ports/settlementJournal.js'
import type { SignerLanes } from '../../../../src/ports/signerLanes.js'
import { createConfirmedBlocks } from '../../../../src/stores/postgres/journal/confirmedBlocks.js'
import { createSettlementJournal } from '../../../../src/stores/postgres/journal/settlementJournal.js'
import { createSignerLanes } from '../../../../src/stores/postgres/lanes/signerLanes.js'
import { claimOf } from '../../../support/claimOf.js'
import { emptyTables } from '../../../support/emptyTables.js'
import { addInstance, killInstance, reviveInstance } from '../../../support/instances.js'
import { countRuns } from '../../../support/longRun.js'
import { useTestDatabase } from '../../../support/postgres.js'
import { recordInLane } from '../../../support/recordInLane.js'
import { findWorkDifferences } from '../../../support/workTables.js'

const network = 'eip155:84532'
const lane: Lane = { network, signer: '0x1111111111111111111111111111111111111111' }

type InstanceName = 'ours' | 'theirs'

/** One action of an instance; `row` counts back from the newest row. */
type Step =
  | { readonly does: 'claim'; readonly by: InstanceName; readonly authorization: string }
  | { readonly does: 'record'; readonly by: InstanceName; readonly row: number; readonly inLane: boolean }
  | {
      readonly does: 'close'
      readonly by: InstanceName
      readonly row: number
      readonly as: 'confirmed' | 'failed'
      readonly consumer: string | undefined
      readonly block: bigint | undefined
    }
  | { readonly does: 'consume'; readonly by: InstanceName; readonly row: number; readonly consumer: string }
  | { readonly does: 'abandon' | 'release'; readonly by: InstanceName; readonly row: number }
  | { readonly does: 'takeBack'; readonly by: InstanceName; readonly block: bigint }
  | { readonly does: 'fallSilent'; readonly by: InstanceName }
  | { readonly does: 'comeBack'; readonly by: InstanceName }

/** Expected state of a row. */
interface ModelRow {
  readonly id: string
  readonly authorization: string
  state: 'claimed' | 'pending' | 'confirmed' | 'failed'
  owner: InstanceName | null
  readonly recorded: string[]
  transaction: string | null
  reason: string | null
  consumedBy: string | null
  block: bigint | null
}

const by = fc.constantFrom<InstanceName[]>('ours', 'theirs')
const authorization = fc.constantFrom('one', 'two')
const block = fc.constantFrom(1n, 2n)
const consumer = fc.constantFrom('request:1', 'request:2')
const row = fc.nat(2)
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ does: fc.constant('claim' as const), by, authorization }) },
  {
    weight: 4,
    arbitrary: fc.record({ does: fc.constant('record' as const), by, row, inLane: fc.boolean() }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      does: fc.constant('close' as const),
      by,
      row,
      as: fc.constantFrom('confirmed' as const, 'failed' as const),
      consumer: fc.option(consumer, { nil: undefined }),
      block: fc.option(block, { nil: undefined }),
    }),
  },
  { weight: 3, arbitrary: fc.record({ does: fc.constant('consume' as const), by, row, consumer }) },
  {
    weight: 4,
    arbitrary: fc.record({ does: fc.constantFrom('abandon' as const, 'release' as const), by, row }),
  },
  { weight: 2, arbitrary: fc.record({ does: fc.constant('takeBack' as const), by, block }) },
  {
    weight: 1,
    arbitrary: fc.record({ does: fc.constantFrom('fallSilent' as const, 'comeBack' as const), by }),
  },
)

/** The lanes of the journal's instance. */
const lanesOf = new Map<SettlementJournal, SignerLanes>()

const referTo = (number: bigint): BlockReference => ({ number, hash: `0x${number}` })
const paidIn = (number: bigint): ConfirmedBlock => ({ network, scheme: 'exact', block: referTo(number) })

const isOpen = ({ state }: Pick<ModelRow, 'state'>): boolean => state === 'claimed' || state === 'pending'

describe('the settlement journal under arbitrary action sequences', () => {
  const { pool, otherPool } = useTestDatabase()

  const blocks = createConfirmedBlocks(otherPool)

  /** Two instances on an empty database. */
  const start = async () => {
    await emptyTables(pool, 'consumed_authorizations', 'settlements', 'signer_lanes', 'instances')
    const instances = { ours: await appear(), theirs: await appear() }
    const ourLanes = createSignerLanes(pool, instances.ours)
    await ourLanes.advance(lane, 0)
    const journals: Readonly<Record<InstanceName, SettlementJournal>> = {
      ours: createSettlementJournal(pool, instances.ours),
      theirs: createSettlementJournal(otherPool, instances.theirs),
    }
    lanesOf.set(journals.ours, ourLanes)
    lanesOf.set(journals.theirs, createSignerLanes(otherPool, instances.theirs))
    const setAlive = (name: InstanceName, isAlive: boolean) =>
      (isAlive ? reviveInstance : killInstance)(pool, instances[name])
    return { journals, setAlive }
  }
  const appear = () => addInstance(pool)
  const claim = (journal: SettlementJournal, authorizationId: string) =>
    journal.claim(claimOf({ network, authorizationId }))
  /** Whether the recorder succeeded. */
  const record = async (journal: SettlementJournal, id: string, inLane: boolean): Promise<string | null> => {
    const signed = { transaction: randomUUID(), bytes: 'bytes' }
    const lanes = lanesOf.get(journal)
    if (lanes === undefined) throw new Error('The journal has no lanes')
    try {
      if (inLane) await recordInLane({ journal, lanes }, id, { lane, sign: async () => signed })
      else await journal.recorderFor(id).record(signed)
      return signed.transaction
    } catch (error) {
      expect(error).toMatchObject({ message: expect.stringContaining('taken over') })
      return null
    }
  }
  const closingFor = ({ as, block: number }: Step & { readonly does: 'close' }): Closing =>
    as === 'confirmed'
      ? {
          state: as,
          transaction: `paid ${randomUUID()}`,
          ...(number === undefined ? {} : { block: referTo(number) }),
        }
      : { state: as, reason: 'insufficient_funds' }
  const countLaneRecords = async () => {
    const { rows } = await pool.query<{ next: string; used: string; orphans: string }>(
      `select (select next_nonce from signer_lanes) as next,
         (select count(*) from broadcasts where signer is not null) as used,
         (select count(*) from broadcasts b
           where not exists (select 1 from settlements s where b.transaction = any(s.transactions))) as orphans`,
    )
    return rows[0]
  }

  it('matches a reference model when actions are sequential', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 40 }), async (steps) => {
        const { journals, setAlive } = await start()
        const model: ModelRow[] = []
        const isAlive: Record<InstanceName, boolean> = { ours: true, theirs: true }
        const consumed = new Set<string>()
        let laneRecords = 0
        const isOwned = ({ owner }: ModelRow): boolean => owner !== null && isAlive[owner]

        const noteConsumed = () => {
          for (const each of model) {
            const isForGood = each.consumedBy !== null || (each.state === 'confirmed' && each.block === null)
            if (isForGood) consumed.add(each.authorization)
          }
        }

        for (const next of steps) {
          noteConsumed()
          const journal = journals[next.by]
          if (next.does === 'claim') {
            const holder = model.find(
              (each) =>
                each.authorization === next.authorization &&
                (each.state !== 'failed' || each.consumedBy !== null),
            )
            const granted = await claim(journal, next.authorization)
            expect(granted === null).toBe(holder !== undefined)
            if (granted === null) continue
            model.push({
              id: granted.id,
              authorization: next.authorization,
              state: 'claimed',
              owner: next.by,
              recorded: [],
              transaction: null,
              reason: null,
              consumedBy: null,
              block: null,
            })
            continue
          }
          if (next.does === 'takeBack') {
            const gone = model.filter((each) => each.block === next.block)
            const reopened = await blocks.reopen(paidIn(next.block))
            expect(reopened.map(({ id }) => id).sort()).toEqual(gone.map(({ id }) => id).sort())
            for (const each of gone) Object.assign(each, { state: 'pending', owner: null, block: null })
            continue
          }
          if (next.does === 'fallSilent' || next.does === 'comeBack') {
            isAlive[next.by] = next.does === 'comeBack'
            await setAlive(next.by, isAlive[next.by])
            continue
          }

          const target = model.at(-1 - next.row)
          if (target === undefined) continue
          switch (next.does) {
            case 'record': {
              const transaction = await record(journal, target.id, next.inLane)
              expect(transaction !== null).toBe(isOpen(target) && target.owner === next.by)
              if (transaction === null) break
              target.state = 'pending'
              target.transaction = transaction
              target.recorded.push(transaction)
              if (next.inLane) laneRecords += 1
              break
            }
            case 'close': {
              const closing = closingFor(next)
              const isClosed = await journal.close(target.id, closing, next.consumer)
              const { consumedBy: told } = target
              const mayTell = next.as === 'confirmed' && told === next.consumer
              expect(isClosed).toBe(
                isOpen(target) && (told === null || next.consumer === undefined || mayTell),
              )
              if (!isClosed) break
              target.state = closing.state
              target.owner = null
              target.transaction = closing.transaction ?? target.transaction
              target.reason = closing.state === 'failed' ? closing.reason : null
              target.consumedBy ??= closing.state === 'confirmed' ? (next.consumer ?? null) : null
              target.block = closing.state === 'confirmed' ? (closing.block?.number ?? null) : null
              break
            }
            case 'consume': {
              const mayConsume =
                target.state === 'confirmed' &&
                (target.consumedBy === null || target.consumedBy === next.consumer)
              expect(await journal.consume(target.id, next.consumer)).toBe(mayConsume)
              if (mayConsume) target.consumedBy = next.consumer
              break
            }
            case 'abandon': {
              const mayAbandon = target.state === 'claimed' && (target.owner === next.by || !isOwned(target))
              expect(await journal.abandon(target.id)).toBe(mayAbandon)
              if (!mayAbandon) break
              target.state = 'failed'
              target.owner = null
              target.reason = 'settlement_abandoned'
              break
            }
            case 'release':
              await journal.release(target.id)
              if (isOpen(target) && target.owner === next.by) target.owner = null
              break
          }
        }

        noteConsumed()
        for (const each of ['one', 'two']) {
          expect(await journals.theirs.isConsumed(each)).toBe(consumed.has(each))
        }
        for (const each of model) {
          expect(await journals.ours.find(each.id)).toMatchObject({
            state: each.state,
            transaction: each.transaction,
            reason: each.reason,
            consumedBy: each.consumedBy,
            block: each.block === null ? null : referTo(each.block),
            isOwned: isOwned(each),
            broadcasts: each.recorded.map((transaction) => ({ transaction, bytes: 'bytes' })),
          })
        }
        const unattended = await journals.theirs.listOrphaned(1_000)
        const expected = model.filter((each) => isOpen(each) && !isOwned(each))
        expect(unattended.map(({ id }) => id).sort()).toEqual(expected.map(({ id }) => id).sort())
        expect(await countLaneRecords()).toEqual({
          next: `${laneRecords}`,
          used: `${laneRecords}`,
          orphans: '0',
        })
        expect(await findWorkDifferences(pool)).toEqual([])
      }),
      { numRuns: countRuns(20, 50) },
    )
  })

  it('keeps its guarantees when the actions of a round are concurrent', async () => {
    const round = fc.array(step, { minLength: 2, maxLength: 6 })
    await fc.assert(
      fc.asyncProperty(fc.array(round, { minLength: 3, maxLength: 8 }), async (rounds) => {
        const { journals, setAlive } = await start()
        const opened: string[] = []
        /** Granted consumers, and closed rows with their outcome. */
        const consumers = new Map<string, Set<string>>()
        const closed = new Map<string, string>()
        /** Settlements with a recorded broadcast, which may be in flight. */
        const sent = new Set<string>()

        const perform = async (next: Step, rows: readonly string[]): Promise<void> => {
          const journal = journals[next.by]
          if (next.does === 'claim') {
            const granted = await claim(journal, next.authorization)
            if (granted !== null) opened.push(granted.id)
            return
          }
          if (next.does === 'takeBack') {
            for (const { id } of await blocks.reopen(paidIn(next.block))) closed.delete(id)
            return
          }
          if (next.does === 'fallSilent' || next.does === 'comeBack') {
            await setAlive(next.by, next.does === 'comeBack')
            return
          }
          const id = rows.at(-1 - next.row)
          if (id === undefined) return
          switch (next.does) {
            case 'record':
              if ((await record(journal, id, next.inLane)) !== null) sent.add(id)
              return
            case 'close': {
              const isClosed = await journal.close(id, closingFor(next), next.consumer)
              if (isClosed && next.as === 'confirmed' && next.consumer !== undefined)
                tell(consumers, id, next.consumer)
              return
            }
            case 'consume':
              if (await journal.consume(id, next.consumer)) tell(consumers, id, next.consumer)
              return
            case 'abandon':
              await journal.abandon(id)
              return
            case 'release':
              await journal.release(id)
              return
          }
        }

        for (const steps of rounds) {
          const rows = [...opened]
          await Promise.all(steps.map((next) => perform(next, rows)))

          const open = new Map<string, number>()
          for (const id of opened) {
            const settlement = await journals.ours.find(id)
            if (settlement === null) throw new Error('A row disappeared')
            const { authorizationId, state, reason } = settlement
            if (state !== 'failed' || settlement.consumedBy !== null)
              open.set(authorizationId, (open.get(authorizationId) ?? 0) + 1)
            // A recorded settlement is never abandoned.
            if (reason === 'settlement_abandoned') expect(sent.has(id)).toBe(false)
            if (sent.has(id)) expect(state).not.toBe('claimed')
            // A closed row stays closed, unless its block is orphaned.
            const ending = `${state} ${settlement.transaction} ${reason} ${settlement.closedAt?.getTime()}`
            if (closed.has(id)) expect(ending).toBe(closed.get(id))
            else if (!isOpen(settlement)) closed.set(id, ending)
            // At most one consumer ever, and only of a confirmed settlement.
            const told = [...(consumers.get(id) ?? [])]
            expect(told.length).toBeLessThanOrEqual(1)
            if (told.length > 0) expect(settlement.consumedBy).toBe(told[0])
            if (settlement.consumedBy !== null) expect(settlement.state).not.toBe('claimed')
          }
          // At most one non-failed row per authorization.
          for (const rowsOfOne of open.values()) expect(rowsOfOne).toBe(1)
          const lanes = await countLaneRecords()
          expect(lanes?.next).toBe(lanes?.used)
          expect(lanes?.orphans).toBe('0')
          expect(await findWorkDifferences(pool)).toEqual([])
        }
      }),
      { numRuns: countRuns(20, 40) },
    )
  })
})

const tell = (consumers: Map<string, Set<string>>, id: string, consumer: string): void => {
  consumers.set(id, (consumers.get(id) ?? new Set()).add(consumer))
}
