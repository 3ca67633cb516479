import { randomUUID } from 'node:crypto'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type {
  ConfirmedBlocks,
  Settlement,
  SettlementClaim,
  SettlementJournal,
} from '../../src/ports/settlementJournal.js'
import { claimOf } from '../support/claimOf.js'

interface JournalHarness {
  readonly journal: SettlementJournal
  /** The same journal as another instance has it, where instances can share one. */
  readonly theirs?: SettlementJournal
  readonly blocks: ConfirmedBlocks
  close(): Promise<void>
}

const block = { number: 7n, hash: '0xb10c' }
const signedAs = (transaction: string) => ({ transaction, bytes: `bytes of ${transaction}` })
const failed = { state: 'failed', reason: 'insufficient_funds' } as const
const twentyAtOnce = <T>(ask: (index: number) => Promise<T>): Promise<readonly T[]> =>
  Promise.all(Array.from({ length: 20 }, (_, index) => ask(index)))

export const describeSettlementJournal = (name: string, open: () => Promise<JournalHarness>): void => {
  describe(name, () => {
    let harness: JournalHarness
    let journal: SettlementJournal
    let theirs: SettlementJournal
    beforeEach(async () => {
      harness = await open()
      journal = harness.journal
      theirs = harness.theirs ?? journal
    })
    afterEach(() => harness.close())

    const claim = async (changes: Partial<SettlementClaim> = {}): Promise<Settlement> => {
      const settlement = await journal.claim(claimOf(changes))
      if (settlement === null) throw new Error('The authorization has a row already')
      return settlement
    }
    const record = async (transaction: string, changes: Partial<SettlementClaim> = {}) => {
      const settlement = await claim(changes)
      await journal.recorderFor(settlement.id).record(signedAs(transaction))
      return settlement
    }
    const confirm = async (transaction: string, consumer?: string) => {
      const settlement = await record(transaction)
      await journal.close(settlement.id, { state: 'confirmed', transaction, block }, consumer)
      return settlement
    }
    const either = (index: number) => (index % 2 === 0 ? journal : theirs)
    const idsOf = (settlements: readonly Settlement[]) => settlements.map(({ id }) => id)

    describe('a consumed authorization', () => {
      const isConsumed = async ({ authorizationId }: Settlement) => await journal.isConsumed(authorizationId)

      it('is consumed by the answer, whatever becomes of its block', async () => {
        const settlement = await confirm('0x1', 'request:1')
        expect(await isConsumed(settlement)).toBe(true)
        await harness.blocks.reopen({ network: settlement.network, scheme: settlement.scheme, block })
        expect(await journal.find(settlement.id)).toMatchObject({ state: 'pending' })
        await journal.close(settlement.id, failed)
        expect(await isConsumed(settlement)).toBe(true)
      })

      it('is consumed once its block is final, or by a payment without one', async () => {
        const settlement = await confirm('0x1')
        expect(await isConsumed(settlement)).toBe(false)
        await harness.blocks.markFinal({ network: settlement.network, scheme: settlement.scheme, block })
        expect(await isConsumed(settlement)).toBe(true)
        const direct = await claim()
        await journal.close(direct.id, { state: 'confirmed', transaction: '0x2' })
        expect(await isConsumed(direct)).toBe(true)
      })

      it('is not consumed by what failed, nor by a payment that a reorg took back: it is settled again', async () => {
        const open = await record('0x1')
        expect(await isConsumed(open)).toBe(false)
        await journal.close(open.id, failed)
        const settlement = await confirm('0x2')
        await harness.blocks.reopen({ network: settlement.network, scheme: settlement.scheme, block })
        await journal.close(settlement.id, failed)
        for (const each of [open, settlement]) {
          expect(await isConsumed(each)).toBe(false)
          await claim({ authorizationId: each.authorizationId })
        }
      })
    })

    describe('claim', () => {
      it('opens a row with the claimed data', async () => {
        const claimed = claimOf({
          resource: 'https://shop.example/',
          amount: 2n ** 200n,
          authorizedAmount: 2n ** 256n - 1n,
          details: { nonce: '0x1', nested: { list: [1, null, true, 'ü'] } },
        })
        const settlement = await journal.claim(claimed)
        expect(settlement).toEqual({
          ...claimed,
          id: expect.any(String),
          state: 'claimed',
          transaction: null,
          broadcasts: [],
          reason: null,
          settledAmount: null,
          gasUsed: null,
          consumedBy: null,
          isOwned: true,
          createdAt: expect.any(Date),
          closedAt: null,
          block: null,
          isFinal: false,
        })
        expect(await journal.find(settlement?.id ?? '')).toEqual(settlement)
      })

      it.each([
        { state: 'claimed', reach: () => claim() },
        { state: 'pending', reach: () => record('0x1') },
        { state: 'confirmed', reach: () => confirm('0x1') },
      ])('returns null while the authorization has a row that is $state', async ({ reach }) => {
        const { id, authorizationId } = await reach()
        expect(await journal.claim(claimOf({ authorizationId }))).toBeNull()
        expect(await theirs.claim(claimOf({ authorizationId, caller: 'other' }))).toBeNull()
        expect((await journal.findOpen(authorizationId))?.id).toBe(id)
      })

      it('opens a new row after the earlier one failed, and keeps the earlier one', async () => {
        const first = await claim()
        await journal.close(first.id, failed)
        expect(await journal.findOpen(first.authorizationId)).toBeNull()
        const second = await theirs.claim(claimOf({ authorizationId: first.authorizationId }))
        expect(second?.id).not.toBe(first.id)
        expect((await journal.find(first.id))?.state).toBe('failed')
        expect((await journal.findOpen(first.authorizationId))?.id).toBe(second?.id)
      })

      it('gives an authorization to exactly one of 20 concurrent claims', async () => {
        const answers = await twentyAtOnce((at) => either(at).claim(claimOf({ authorizationId: 'one' })))
        expect(answers.filter((settlement) => settlement !== null)).toHaveLength(1)
      })

      it('gives a failed authorization to exactly one of 20 concurrent retries', async () => {
        const { id, authorizationId } = await claim()
        const answers = await twentyAtOnce(async (at) => {
          if (at === 7) await journal.abandon(id)
          return await either(at).claim(claimOf({ authorizationId }))
        })
        expect(answers.filter((settlement) => settlement !== null)).toHaveLength(1)
      })
    })

    describe('find', () => {
      it('returns nothing for unknown ids and transactions', async () => {
        expect(await journal.find(randomUUID())).toBeNull()
        expect(await journal.findOpen('unknown')).toBeNull()
        expect(await journal.listByTransaction('eip155:84532', '0xunknown')).toEqual([])
      })

      it('finds settlements by every recorded transaction, on its network only', async () => {
        const { id, network } = await record('0x1')
        await journal.recorderFor(id).record(signedAs('0x2'))
        await journal.close(id, { state: 'confirmed', transaction: '0xsomeone' })
        for (const transaction of ['0x1', '0x2', '0xsomeone']) {
          expect(idsOf(await journal.listByTransaction(network, transaction))).toEqual([id])
          expect(await journal.listByTransaction('eip155:1', transaction)).toEqual([])
        }
      })
    })

    describe('record', () => {
      it('makes the row pending, sets the newest transaction, and keeps all bytes in order', async () => {
        // Neither in alphabetical order nor in order of the first letters.
        const { id } = await record('0xb')
        for (const transaction of ['0xc', '0xa']) await journal.recorderFor(id).record(signedAs(transaction))
        expect(await journal.find(id)).toMatchObject({
          state: 'pending',
          transaction: '0xa',
          broadcasts: [signedAs('0xb'), signedAs('0xc'), signedAs('0xa')],
        })
      })

      it.each([
        {
          what: 'confirmed',
          lose: (id: string) => journal.close(id, { state: 'confirmed', transaction: '0x9' }),
        },
        { what: 'failed', lose: (id: string) => journal.close(id, failed) },
        { what: 'abandoned', lose: (id: string) => journal.abandon(id) },
        { what: 'left to the reconciler', lose: (id: string) => journal.release(id) },
      ])('throws and changes nothing if the row is $what', async ({ lose }) => {
        const { id } = await claim()
        await lose(id)
        const before = await journal.find(id)
        await expect(journal.recorderFor(id).record(signedAs('0x1'))).rejects.toThrow('taken over')
        expect(await journal.find(id)).toEqual(before)
      })

      it('throws for an unknown row', async () => {
        await expect(journal.recorderFor(randomUUID()).record(signedAs('0x1'))).rejects.toThrow('taken over')
      })

      it('throws and changes nothing if the transaction is recorded for another settlement', async () => {
        const first = await record('0x1')
        const second = await claim()
        await expect(journal.recorderFor(second.id).record(signedAs('0x1'))).rejects.toThrow()
        expect(await journal.find(second.id)).toMatchObject({ state: 'claimed', transaction: null })
        expect(idsOf(await journal.listByTransaction(first.network, '0x1'))).toEqual([first.id])
      })
    })

    describe('close', () => {
      it('confirms a row, and stores consumer and block', async () => {
        const { id } = await confirm('0x1', 'request:1')
        expect(await journal.find(id)).toMatchObject({
          state: 'confirmed',
          transaction: '0x1',
          reason: null,
          consumedBy: 'request:1',
          isOwned: false,
          closedAt: expect.any(Date),
          block,
        })
      })

      it('stores the authorized and the settled amount, by default the claimed one', async () => {
        const amounts = { amount: 7n, authorizedAmount: 10n }
        const gasUsed = 10n ** 24n
        const whole = await claim(amounts)
        await journal.close(whole.id, { state: 'confirmed', transaction: '0x1', gasUsed })
        const part = await claim(amounts)
        await journal.close(part.id, { state: 'confirmed', transaction: '0x2', settledAmount: 5n })
        const lost = await claim(amounts)
        await journal.close(lost.id, failed)
        expect(await journal.find(whole.id)).toMatchObject({ ...amounts, settledAmount: 7n, gasUsed })
        expect(await journal.find(part.id)).toMatchObject({ ...amounts, settledAmount: 5n, gasUsed: null })
        const nothing = { settledAmount: null, gasUsed: null, transaction: null }
        expect(await journal.find(lost.id)).toMatchObject({ ...amounts, ...nothing })
      })

      it('confirms a row without moved funds and without transaction', async () => {
        const { id } = await claim({ amount: 0n, authorizedAmount: 10n })
        const nothing = { state: 'confirmed', transaction: '', settledAmount: 0n } as const
        expect(await journal.close(id, nothing, 'request:1')).toBe(true)
        expect(await journal.find(id)).toMatchObject({
          state: 'confirmed',
          transaction: null,
          settledAmount: 0n,
          consumedBy: 'request:1',
        })
      })

      it("confirms a claim with the payer's own transaction, without a recording", async () => {
        const { id, network } = await claim()
        await journal.close(id, { state: 'confirmed', transaction: '0x1', block })
        expect(await journal.find(id)).toMatchObject({ transaction: '0x1', broadcasts: [], block })
        expect(idsOf(await journal.listByTransaction(network, '0x1'))).toEqual([id])
      })

      it('fails a row with its reason, without a consumer', async () => {
        const { id } = await record('0x1')
        expect(await journal.close(id, failed, 'request:1')).toBe(true)
        expect(await journal.find(id)).toMatchObject({ ...failed, transaction: '0x1', consumedBy: null })
      })

      it.each([failed, { state: 'confirmed', transaction: '0x2' } as const])(
        'is for good: nothing becomes $state afterwards, and what is not there is not closed',
        async (later) => {
          for (const earlier of [failed, { state: 'confirmed', transaction: '0x1' } as const]) {
            const { id } = await claim()
            expect(await journal.close(id, earlier, 'request:1')).toBe(true)
            const closed = await journal.find(id)
            expect(await theirs.close(id, later, 'request:2')).toBe(false)
            expect(await journal.find(id)).toEqual(closed)
          }
          expect(await journal.close(randomUUID(), later)).toBe(false)
        },
      )

      it('succeeds for exactly one of 20 concurrent calls, whose outcome and consumer are stored', async () => {
        const { id } = await record('0x1')
        const outcome = (at: number) =>
          at % 3 === 0 ? failed : ({ state: 'confirmed', transaction: '0x1' } as const)
        const answers = await twentyAtOnce((at) => either(at).close(id, outcome(at), `request:${at}`))
        expect(answers.filter((isClosed) => isClosed)).toHaveLength(1)
        const winner = answers.indexOf(true)
        const consumedBy = winner % 3 === 0 ? null : `request:${winner}`
        expect(await journal.find(id)).toMatchObject({ ...outcome(winner), consumedBy })
      })
    })

    describe('consume', () => {
      it('grants one consumer, repeatedly, and no other', async () => {
        const { id } = await confirm('0x1')
        const answers = await twentyAtOnce((at) => either(at).consume(id, `request:${at}`))
        expect(answers.filter((isGranted) => isGranted)).toHaveLength(1)
        const consumer = `request:${answers.indexOf(true)}`
        for (const by of [journal, theirs]) {
          expect(await by.consume(id, consumer)).toBe(true)
          expect(await by.consume(id, 'request:other')).toBe(false)
        }
        expect((await journal.find(id))?.consumedBy).toBe(consumer)
      })

      it('refuses before confirmation, after failure, and to all but the consumer that closed the row', async () => {
        const { id } = await claim()
        expect(await journal.consume(id, 'request:1')).toBe(false)
        await journal.recorderFor(id).record(signedAs('0x1'))
        expect(await journal.consume(id, 'request:1')).toBe(false)
        await journal.close(id, failed, 'request:1')
        expect(await journal.consume(id, 'request:1')).toBe(false)
        const consumed = await confirm('0x2', 'request:1')
        expect(await journal.consume(consumed.id, 'request:2')).toBe(false)
        expect(await journal.consume(randomUUID(), 'request:1')).toBe(false)
      })
    })

    describe('abandon and release', () => {
      it('abandons an own claim, and never a recorded or closed row', async () => {
        const { id } = await claim()
        expect(await journal.abandon(id)).toBe(true)
        expect(await journal.find(id)).toMatchObject({
          state: 'failed',
          reason: 'settlement_abandoned',
          isOwned: false,
          closedAt: expect.any(Date),
        })
        const recorded = await record('0x1')
        await journal.release(recorded.id)
        expect(await journal.abandon(recorded.id)).toBe(false)
        expect((await journal.find(recorded.id))?.state).toBe('pending')
        expect(await journal.abandon((await confirm('0x2')).id)).toBe(false)
        expect(await journal.abandon(randomUUID())).toBe(false)
      })

      it('lists released rows up to the limit, and no owned or closed rows', async () => {
        await record('0x1')
        await confirm('0x2')
        expect(await journal.listOrphaned(9)).toEqual([])
        const released = [await record('0x3'), await claim()]
        for (const { id } of released) await journal.release(id)
        expect(idsOf(await journal.listOrphaned(9)).sort()).toEqual(idsOf(released).sort())
        expect(await journal.listOrphaned(1)).toHaveLength(1)
        expect((await journal.find(released[0]?.id ?? ''))?.isOwned).toBe(false)
      })
    })

    describe('takeOver', () => {
      it('and a record make a failure void that was proven before', async () => {
        const { id } = await record('0x1')
        await journal.release(id)
        const recorder = await journal.takeOver({ id, transaction: '0x1' })
        await recorder?.record(signedAs('0x2'))
        expect(await journal.close(id, failed, undefined, '0x1')).toBe(false)
        expect(await journal.find(id)).toMatchObject({ state: 'pending', transaction: '0x2' })
        expect(await journal.close(id, failed, undefined, '0x2')).toBe(true)
      })

      it('takes a released row for one caller, which can then record for it', async () => {
        const { id } = await record('0x1')
        await journal.release(id)
        const recorders = await Promise.all([1, 2, 3].map(() => journal.takeOver({ id, transaction: '0x1' })))
        const [recorder, ...others] = recorders.filter((each) => each !== null)
        expect(others).toEqual([])
        expect(await journal.find(id)).toMatchObject({ isOwned: true })
        await recorder?.record(signedAs('0x2'))
        expect(await journal.find(id)).toMatchObject({ transaction: '0x2' })
      })

      it('takes no owned, unrecorded or closed row, and none with a newer transaction', async () => {
        const owned = await record('0x1')
        expect(await journal.takeOver({ id: owned.id, transaction: '0x1' })).toBeNull()
        const unrecorded = await claim()
        await journal.release(unrecorded.id)
        expect(await journal.takeOver({ id: unrecorded.id, transaction: null })).toBeNull()
        const { id } = await confirm('0x2')
        expect(await journal.takeOver({ id, transaction: '0x2' })).toBeNull()
        const newer = await record('0x3')
        await journal.recorderFor(newer.id).record(signedAs('0x4'))
        await journal.release(newer.id)
        expect(await journal.takeOver({ id: newer.id, transaction: '0x3' })).toBeNull()
      })
    })

    describe('a payment whose block was orphaned', () => {
      const takeBack = async (consumer?: string): Promise<Settlement> => {
        const settlement = await confirm('0x1', consumer)
        const [paid] = await harness.blocks.list(9)
        if (paid === undefined) throw new Error('The block of the payment is not listed')
        expect(idsOf(await harness.blocks.reopen(paid))).toEqual([settlement.id])
        return settlement
      }
      const confirmed = { state: 'confirmed', transaction: '0x1', block } as const

      it('is pending again without an owner, and keeps its consumer', async () => {
        const { id } = await takeBack('request:1')
        expect(await journal.find(id)).toMatchObject({
          state: 'pending',
          consumedBy: 'request:1',
          isOwned: false,
          closedAt: null,
          block: null,
          settledAmount: null,
          gasUsed: null,
        })
        expect(idsOf(await journal.listOrphaned(9))).toEqual([id])
      })

      it.each(['request:1', undefined])(
        'can be consumed again only by the same consumer, also where %s confirms it in another block',
        async (closer) => {
          const { id } = await takeBack('request:1')
          const again = { ...confirmed, transaction: '0x2', block: { number: 9n, hash: '0xb9' } }
          expect(await journal.consume(id, 'request:1')).toBe(false)
          expect(await journal.close(id, again, 'request:2')).toBe(false)
          expect(await journal.close(id, again, closer)).toBe(true)
          expect(await journal.consume(id, 'request:2')).toBe(false)
          expect(await journal.consume(id, 'request:1')).toBe(true)
          expect(await journal.find(id)).toMatchObject({ ...again, consumedBy: 'request:1' })
        },
      )

      it('can be failed only without a consumer (the reconciler), and then remains the authorization’s row', async () => {
        const { id, authorizationId } = await takeBack('request:1')
        for (const consumer of ['request:1', 'request:2']) {
          expect(await journal.close(id, failed, consumer)).toBe(false)
        }
        expect(await journal.claim(claimOf({ authorizationId }))).toBeNull()
        expect(await journal.close(id, failed)).toBe(true)
        expect(await journal.find(id)).toMatchObject({ ...failed, consumedBy: 'request:1', block: null })
        expect(await journal.consume(id, 'request:1')).toBe(false)
        expect((await journal.findOpen(authorizationId))?.id).toBe(id)
        expect(await journal.claim(claimOf({ authorizationId }))).toBeNull()
      })

      it('without a consumer releases its authorization after a failure', async () => {
        const { id, authorizationId } = await takeBack()
        await journal.close(id, failed)
        expect(await journal.findOpen(authorizationId)).toBeNull()
        expect(await journal.claim(claimOf({ authorizationId }))).not.toBeNull()
      })

      it('can be consumed by any first consumer, if there was none', async () => {
        const { id } = await takeBack()
        expect(await journal.close(id, confirmed, 'request:2')).toBe(true)
        expect((await journal.find(id))?.consumedBy).toBe('request:2')
        expect(await journal.consume(id, 'request:1')).toBe(false)
      })

      it('cannot be reopened once it is final', async () => {
        await confirm('0x1')
        const [paid] = await harness.blocks.list(9)
        if (paid === undefined) throw new Error('The block of the payment is not listed')
        await harness.blocks.markFinal(paid)
        expect(await harness.blocks.list(9)).toEqual([])
        expect(await harness.blocks.reopen(paid)).toEqual([])
      })
    })
  })
}
