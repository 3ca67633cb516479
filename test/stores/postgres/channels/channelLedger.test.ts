import { randomBytes, randomUUID } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import type { SeenChannel, VerifiedVoucher } from '../../../../src/ports/channelLedger.js'
import { createChannelLedger } from '../../../../src/stores/postgres/channels/channelLedger.js'
import { useTestDatabase } from '../../../support/postgres.js'

const { pool } = useTestDatabase()
const ledger = createChannelLedger(pool)
const at = new Date('2026-11-28T12:00:00Z')
const later = (seconds: number) => new Date(at.getTime() + seconds * 1_000)

const randomId = () => `0x${randomBytes(32).toString('hex')}`

/** Networks of their own, so that no test sees the rows of another. */
const planVoucher = (changes: Partial<VerifiedVoucher> = {}): VerifiedVoucher => ({
  network: `eip155:${randomUUID()}`,
  channelId: randomId(),
  accountId: randomUUID(),
  config: { payer: '0xaa', withdrawDelay: 900, receiverAuthorizer: '0xDD' },
  receiver: '0xbb',
  token: '0xcc',
  ceiling: 3_000n,
  signature: '0x01',
  price: 1_000n,
  ...changes,
})

const see = (
  { channelId }: Pick<VerifiedVoucher, 'channelId'>,
  changes: Partial<SeenChannel> = {},
): SeenChannel => ({
  channelId,
  balance: 100_000n,
  totalClaimed: 0n,
  withdrawal: 0n,
  withdrawRequestedAt: 0,
  ...changes,
})

const listEvents = async (accountId: string) => {
  const { rows } = await pool.query(
    'select type, data from webhook_deliveries where account_id = $1 order by created_at, type',
    [accountId],
  )
  return rows
}

const page = { limit: 10, after: '', seenBefore: at, emptySeenBefore: at }

describe('the highest voucher of a channel', () => {
  it('is kept, with what was charged before it', async () => {
    const voucher = planVoucher()
    await ledger.keep(voucher, at)
    expect(await ledger.find(voucher)).toMatchObject({
      ...voucher,
      charged: 2_000n,
      claimed: 0n,
      unclaimedSince: at,
      balance: null,
    })
  })

  it('is not changed by lower, repeated and reordered ones, alone and in one statement', async () => {
    const voucher = planVoucher()
    const others = [5_000n, 9_000n, 4_000n, 9_000n, 7_000n].map((ceiling) => ({
      ...voucher,
      ceiling,
      signature: `0x${ceiling}`,
    }))
    await Promise.all(others.map((each) => ledger.keep(each, at)))
    for (const each of others) await ledger.keep(each, later(60))
    expect(await ledger.find(voucher)).toMatchObject({
      ceiling: 9_000n,
      signature: '0x9000',
      charged: 8_000n,
      verifiedAt: at,
    })
  })

  it('charges what the cheapest request shows, also where a dearer one had the higher ceiling', async () => {
    const voucher = planVoucher({ ceiling: 10_000n, price: 10_000n })
    await ledger.keep(voucher, at)
    expect(await ledger.find(voucher)).toMatchObject({ charged: 0n, unclaimedSince: null })
    await ledger.keep({ ...voucher, ceiling: 700n, price: 100n, signature: '0x02' }, later(1))
    expect(await ledger.find(voucher)).toMatchObject({
      ceiling: 10_000n,
      signature: '0x01',
      charged: 600n,
      unclaimedSince: later(1),
    })
    await ledger.keep({ ...voucher, ceiling: 20_000n, price: 20_000n }, later(2))
    expect(await ledger.find(voucher)).toMatchObject({ ceiling: 20_000n, charged: 600n })
  })

  it('is never that of another account, or of another network', async () => {
    const voucher = planVoucher()
    await ledger.keep(voucher, at)
    await ledger.keep({ ...voucher, accountId: randomUUID(), ceiling: 90_000n }, at)
    await ledger.keep({ ...voucher, network: `${voucher.network}0`, ceiling: 80_000n }, at)
    expect(await ledger.find(voucher)).toMatchObject({ ceiling: 3_000n, accountId: voucher.accountId })
  })
})

describe('what is seen on chain', () => {
  it('decides what is due: unclaimed value in each round, mere ceilings seldom', async () => {
    const unclaimed = planVoucher()
    const { network } = unclaimed
    const promised = planVoucher({ network, ceiling: 1_000n })
    await ledger.keep(unclaimed, at)
    await ledger.keep(promised, at)
    const due = async (limits = page) =>
      (await ledger.listDue(network, limits)).map(({ channelId }) => channelId).sort()
    expect(await due()).toEqual([unclaimed.channelId, promised.channelId].sort())
    await ledger.observe(network, [see(unclaimed), see(promised)], later(1))
    expect(await due()).toEqual([unclaimed.channelId])
    expect(await due({ ...page, seenBefore: later(2) })).toHaveLength(2)
    await ledger.observe(network, [see(unclaimed, { totalClaimed: 2_000n })], later(2))
    expect(await due()).toEqual([])
    await ledger.keep({ ...promised, ceiling: 2_000n }, later(3))
    expect(await due()).toEqual([promised.channelId])
  })

  it('names the channels that are about to be withdrawn, and of announcements those that are not known yet', async () => {
    const [first, second] = [planVoucher(), planVoucher()]
    const { network } = first
    const foreign = planVoucher({ network: `${network}0` })
    for (const each of [first, { ...second, network }, foreign]) await ledger.keep(each, at)
    const announced = [first, second, foreign].map(({ channelId }) => channelId)
    const list = async () =>
      (await ledger.listUnnoticed(network, [...announced, '0x00'])).map(({ channelId }) => channelId).sort()
    const listDue = async () =>
      (await ledger.listDue(network, { ...page, onlyWithdrawn: true })).map(({ channelId }) => channelId)
    expect(await list()).toEqual([first.channelId, second.channelId].sort())
    expect(await listDue()).toEqual([])
    await ledger.observe(network, [see(first, { withdrawal: 1_000n, withdrawRequestedAt: 5 })], later(1))
    expect(await list()).toEqual([second.channelId])
    expect(await listDue()).toEqual([first.channelId])
  })

  it('is read from where the last round of any instance has ended, and anew once channels come again', async () => {
    const voucher = planVoucher()
    const { network } = voucher
    const other = createChannelLedger(pool)
    expect(await ledger.findWatch(network)).toBeNull()
    await ledger.keep(voucher, at)
    expect(await ledger.findWatch(network)).toEqual({ nextBlock: null })
    for (const nextBlock of [7n, 2n ** 60n, 9n]) {
      await ledger.moveWatch(network, nextBlock)
      expect(await other.findWatch(network)).toEqual({ nextBlock })
    }
    expect(await ledger.findWatch(`${network}0`)).toBeNull()
    await pool.query('update channel_vouchers set is_live = false where network = $1', [network])
    expect(await ledger.findWatch(network)).toBeNull()
    await pool.query('update channel_vouchers set is_live = true where network = $1', [network])
    expect(await ledger.findWatch(network)).toEqual({ nextBlock: null })
  })

  it('credits the receiver once for each claim, until it was paid', async () => {
    const voucher = planVoucher()
    const { network } = voucher
    await ledger.keep(voucher, at)
    const list = () =>
      ledger.listUnswept(network, { limit: 10, after: null, dueAmount: 1n, dueBefore: later(0) })
    await ledger.observe(network, [see(voucher)], at)
    expect(await list()).toEqual([])
    await ledger.observe(network, [see(voucher, { totalClaimed: 1_000n })], later(1))
    const [first] = await list()
    expect(first).toMatchObject({ receiver: '0xbb', token: '0xcc', unsweptSince: later(1) })
    await ledger.observe(network, [see(voucher, { totalClaimed: 2_000n })], later(2))
    if (first === undefined) throw new Error('Nothing was credited')
    // It was credited since it was listed.
    await ledger.markSwept(first)
    const [second] = await list()
    expect(second).toMatchObject({ unsweptSince: later(1), credits: 2n })
    if (second === undefined) throw new Error('Nothing was credited')
    await ledger.markSwept(second)
    expect(await list()).toEqual([])
  })

  it('names for each payout the account that was credited last, then those whose own part is due', async () => {
    const network = planVoucher().network
    const credit = async (accountId: string, amount: bigint, seconds: number) => {
      const voucher = { ...planVoucher(), network, receiver: '0xdd', accountId }
      await ledger.keep(voucher, at)
      await ledger.observe(network, [see(voucher, { totalClaimed: amount })], later(seconds))
    }
    const choose = async (dueSeconds = 0) => {
      const terms = { limit: 10, after: null, dueAmount: 1_000n, dueBefore: later(dueSeconds) }
      const found = (await ledger.listUnswept(network, terms)).find(({ receiver }) => receiver === '0xdd')
      if (found === undefined) throw new Error('Nothing is owed')
      return found
    }
    let passes = 0
    const passOver = async (dueSeconds = 0) => {
      const chosen = await choose(dueSeconds)
      passes += 1
      await ledger.passOver(chosen, later(60 + passes))
      return chosen.accountId
    }
    await credit('small', 900n, 1)
    await credit('large', 2_000n, 2)
    await credit('larger', 3_000n, 3)
    await credit('rival', 1n, 4)
    expect(await passOver()).toBe('rival')
    expect(await passOver()).toBe('larger')
    expect(await passOver()).toBe('large')
    // The one that was passed over first is asked again before the others; a part that is too small waits for its time.
    expect((await choose()).accountId).toBe('rival')
    expect((await choose(1)).accountId).toBe('small')
    // Being credited again does not bring it to the front.
    await credit('rival', 5_000n, 5)
    expect((await choose(1)).accountId).toBe('small')
    const listed = await choose()
    await credit('large', 10n, 6)
    await credit('late', 10n, 7)
    await ledger.endShares(listed, randomUUID())
    // What was paid out is a part of none; what came since is.
    expect(await passOver(10)).toBe('late')
    expect(await passOver(10)).toBe('large')
    expect(await passOver(10)).toBe('late')
    await ledger.markSwept(await choose())
    await expect(choose()).rejects.toThrow('Nothing is owed')
    const { rows } = await pool.query("select from channel_sweep_shares where receiver = '0xdd'")
    expect(rows).toEqual([])
  })

  it('asks each account again for what it was credited, where the sweep that paid it fails', async () => {
    const network = planVoucher().network
    const receiver = '0xee'
    const credit = async (accountId: string, amount: bigint, seconds: number) => {
      const voucher = { ...planVoucher(), network, receiver, accountId }
      await ledger.keep(voucher, at)
      await ledger.observe(network, [see(voucher, { totalClaimed: amount })], later(seconds))
    }
    const list = async () => {
      const terms = { limit: 10, after: null, dueAmount: 1_000n, dueBefore: later(1) }
      return (await ledger.listUnswept(network, terms)).filter((each) => each.receiver === receiver)
    }
    let passes = 0
    /** Each that is asked is passed over. */
    const listAsked = async (count: number) => {
      const asked: string[] = []
      for (let time = 0; time < count; time += 1) {
        const [chosen] = await list()
        if (chosen === undefined) throw new Error('Nothing is owed')
        asked.push(chosen.accountId)
        passes += 1
        await ledger.passOver(chosen, later(passes))
      }
      return asked
    }
    const insertSweep = async () => {
      const { rows } = await pool.query(
        `insert into settlements (id, authorization_id, caller, fingerprint, scheme, network, asset, payer, pay_to, amount,
           authorized_amount, state, transaction, closed_at, block_number, block_hash)
         values (gen_random_uuid(), $1, 'rival', 'f', 'batch-settlement', $2, 'a', 'p', 'p', 1, 1, 'confirmed', '0x2', now() - interval '2 hours', 1,
           '0x1')
         returning id`,
        [randomUUID(), network],
      )
      return rows[0].id as string
    }
    await credit('large', 2_000n, 2)
    await credit('old', 10n, 1)
    await credit('rival', 1n, 3)
    const [listed] = await list()
    if (listed === undefined) throw new Error('Nothing was credited')
    const sweep = await insertSweep()
    await ledger.endShares(listed, sweep)
    await ledger.endShares(listed, sweep)
    expect(await listAsked(3)).toEqual(['rival', 'rival', 'rival'])
    // Until the sweep is final it can fail.
    await ledger.markSwept(listed)
    expect(await list()).toHaveLength(1)
    await pool.query(
      `update settlements set state = 'failed', reason = 'transaction_failed', closed_at = now(), block_number = null,
         block_hash = null where id = $1`,
      [sweep],
    )
    expect((await listAsked(3)).toSorted()).toEqual(['large', 'old', 'rival'])
    // A claim that the same reorg took back may be made again.
    await ledger.markSwept(listed)
    expect(await list()).toHaveLength(1)
    const second = await insertSweep()
    await ledger.endShares(listed, second)
    expect(await listAsked(3)).toEqual(['rival', 'rival', 'rival'])
    await pool.query('update settlements set is_final = true where id = $1', [second])
    await ledger.markSwept(listed)
    expect(await list()).toEqual([])
    const { rows } = await pool.query('select from channel_sweep_shares where receiver = $1', [receiver])
    expect(rows).toEqual([])
  })

  it('credits once what a reorg undoes and makes again, and gives no part in what is undone', async () => {
    const [voucher, other] = [planVoucher(), planVoucher()]
    const { network, accountId } = voucher
    const beside = { ...other, network, accountId, receiver: voucher.receiver }
    await ledger.keep(voucher, at)
    await ledger.keep(beside, at)
    const observe = async (...totals: readonly [bigint, bigint]) => {
      const seen = [voucher, beside].map((each, index) => see(each, { totalClaimed: totals[index] ?? 0n }))
      await ledger.observe(network, seen, later(1))
      const { rows } = await pool.query('select amount from channel_sweep_shares where network = $1', [
        network,
      ])
      return rows
    }
    expect(await observe(2_000n, 500n)).toEqual([{ amount: '2500' }])
    expect(await observe(0n, 500n)).toEqual([{ amount: '500' }])
    expect(await observe(2_000n, 500n)).toEqual([{ amount: '2500' }])
    expect(await observe(0n, 700n)).toEqual([{ amount: '700' }])
    expect(await observe(0n, 0n)).toEqual([])
  })

  it('notifies once of each withdrawal, also where two instances see it at once', async () => {
    const voucher = planVoucher()
    await ledger.keep(voucher, at)
    const seen = see(voucher, { withdrawal: 500n, withdrawRequestedAt: 1_000 })
    await Promise.all([1, 2, 3].map(() => ledger.observe(voucher.network, [seen], later(1))))
    const events = await listEvents(voucher.accountId)
    expect(events).toEqual([
      {
        type: 'channel.withdrawal_requested',
        data: {
          network: voucher.network,
          channelId: voucher.channelId,
          config: voucher.config,
          payer: '0xaa',
          receiver: '0xbb',
          asset: '0xcc',
          ceiling: '3000',
          charged: '2000',
          balance: '100000',
          totalClaimed: '0',
          claimable: '2000',
          withdrawal: '500',
          withdrawRequestedAt: 1_000,
          withdrawableAt: 1_900,
          isUnclaimable: false,
          boundAt: at.toISOString(),
          verifiedAt: at.toISOString(),
          seenAt: later(1).toISOString(),
        },
      },
    ])
    await ledger.observe(voucher.network, [{ ...seen, withdrawRequestedAt: 5_000 }], later(2))
    expect(await listEvents(voucher.accountId)).toHaveLength(2)
  })

  it('notifies once of a ceiling near the end of each balance', async () => {
    const voucher = planVoucher({ ceiling: 8_999n })
    await ledger.keep(voucher, at)
    const look = (balance: bigint, withdrawal = 0n) =>
      ledger.observe(voucher.network, [see(voucher, { balance, withdrawal })], later(1))
    const count = async () =>
      (await listEvents(voucher.accountId)).filter(({ type }) => type === 'channel.near_cap').length
    await look(10_000n)
    expect(await count()).toBe(0)
    await ledger.keep({ ...voucher, ceiling: 9_000n }, later(2))
    await look(10_000n)
    await look(10_000n)
    expect(await count()).toBe(1)
    await look(20_000n)
    expect(await count()).toBe(1)
    await look(20_000n, 10_000n)
    expect(await count()).toBe(2)
  })

  it('measures what can be claimed, by network and token', async () => {
    const voucher = planVoucher()
    const { network } = voucher
    await ledger.keep(voucher, at)
    await ledger.keep({ ...voucher, channelId: randomId(), ceiling: 90_000n }, at)
    const rows = await ledger.listDue(network, page)
    await ledger.observe(
      network,
      rows.map((row) => see(row, { balance: 50_000n, totalClaimed: 500n })),
      at,
    )
    const measured = (await ledger.measureUnclaimed([])).filter((each) => each.network === network)
    expect(measured).toMatchObject([{ token: '0xcc', amount: 1_500n + 49_500n, withdrawing: 0n }])
  })

  it('measures apart what is worth its row, since when, and what of it is withdrawn', async () => {
    const [small, large, voided] = [planVoucher(), planVoucher({ ceiling: 6_000n }), planVoucher()]
    const { network } = small
    const [second, third] = [large, voided].map((each) => ({ ...each, network })) as [
      VerifiedVoucher,
      VerifiedVoucher,
    ]
    const now = new Date()
    const ago = (seconds: number) => new Date(now.getTime() - seconds * 1_000)
    await ledger.keep(small, ago(9_000))
    await ledger.keep(second, ago(600))
    await ledger.keep({ ...third, ceiling: 9_000n }, ago(8_000))
    await ledger.countRefusal({ ...third, ceiling: 9_000n }, { reason: 'voucher_signature', limit: 1 })
    const withdrawn = { withdrawal: 1_000n, withdrawRequestedAt: 1_000 }
    await ledger.observe(
      network,
      [small, second, third].map((each) => see(each, withdrawn)),
      now,
    )
    const measure = async (cost: bigint) =>
      (await ledger.measureUnclaimed([{ network, token: '0xcc', cost }])).filter(
        (each) => each.network === network,
      )
    const [total] = await measure(2_001n)
    expect(total).toMatchObject({ amount: 2_000n + 5_000n + 8_000n, withdrawing: 5_000n })
    expect(total?.oldestSeconds).toBeGreaterThanOrEqual(600)
    expect(total?.oldestSeconds).toBeLessThan(8_000)
    expect(await measure(5_001n)).toMatchObject([{ amount: 15_000n, oldestSeconds: 0, withdrawing: 0n }])
    const measureSigners = async (cost: bigint) =>
      (await ledger.measureSigners([{ network, token: '0xcc', cost }])).filter(
        (each) => each.network === network,
      )
    expect(await measureSigners(2_001n)).toEqual([
      {
        network,
        token: '0xcc',
        receiverAuthorizer: '0xdd',
        channels: 1,
        amount: 5_000n,
        withdrawing: 5_000n,
      },
    ])
    expect(await measureSigners(5_001n)).toEqual([])
  })

  it('retires what owes nothing that is backed, a day after its last voucher, until the next one', async () => {
    const drained = planVoucher()
    const { network } = drained
    const plan = () => planVoucher({ network })
    const [promised, unclaimed, unbacked, unseen] = [plan(), plan(), plan(), plan()]
    for (const each of [drained, promised, unclaimed, unbacked, unseen]) await ledger.keep(each, at)
    await ledger.observe(
      network,
      [
        see(drained, { balance: 2_000n, totalClaimed: 2_000n }),
        see(promised, { balance: 2_001n, totalClaimed: 2_000n }),
        see(unclaimed, { balance: 3_000n, totalClaimed: 1_000n }),
        see(unbacked, { balance: 0n }),
      ],
      later(1),
    )
    const listLive = async () => {
      const { rows } = await pool.query(
        'select channel_id from channel_vouchers where network = $1 and is_live',
        [network],
      )
      return rows.map(({ channel_id: id }) => id).sort()
    }
    const idsOf = (...vouchers: readonly VerifiedVoucher[]) =>
      vouchers.map(({ channelId }) => channelId).sort()
    const day = 86_400
    await ledger.retire(later(day), 1_000)
    expect(await listLive()).toEqual(idsOf(drained, promised, unclaimed, unbacked, unseen))
    await ledger.retire(later(day + 1), 1_000)
    expect(await listLive()).toEqual(idsOf(promised, unclaimed, unbacked, unseen))
    await ledger.retire(later(30 * day + 1), 1_000)
    expect(await listLive()).toEqual(idsOf(promised, unclaimed, unseen))
    const all = { ...page, seenBefore: later(31 * day), emptySeenBefore: later(31 * day) }
    expect((await ledger.listDue(network, all)).map(({ channelId }) => channelId)).toEqual(
      idsOf(promised, unclaimed, unseen),
    )
    // The voucher of a deposit may be the same again.
    await ledger.keep(drained, later(31 * day))
    await ledger.keep({ ...unbacked, ceiling: 5_000n }, later(31 * day))
    expect(await listLive()).toEqual(idsOf(drained, promised, unclaimed, unbacked, unseen))
  })

  it('retires none whose voucher came again before the deposit that backs it, of the same ceiling or a lower one', async () => {
    const repeated = planVoucher()
    const { network } = repeated
    const [lower, live] = [planVoucher({ network }), planVoucher({ network })]
    const all = [repeated, lower, live]
    const observe = (balance: bigint, seenAt: Date) =>
      ledger.observe(
        network,
        all.map((each) => see(each, { balance })),
        seenAt,
      )
    const month = 31 * 86_400
    for (const each of all) await ledger.keep(each, at)
    await observe(0n, later(month))
    await ledger.retire(later(month), 1_000)
    await pool.query('update channel_vouchers set is_live = true where network = $1 and channel_id = $2', [
      network,
      live.channelId,
    ])
    await ledger.keep(repeated, later(month + 10))
    await ledger.keep({ ...lower, ceiling: 2_500n }, later(month + 10))
    await ledger.keep(live, later(month + 10))
    // The deposit is not mined yet.
    await observe(0n, later(month + 20))
    await ledger.retire(later(month + 30), 1_000)
    const idle = { ...page, seenBefore: later(month + 400), emptySeenBefore: at }
    expect(await ledger.listDue(network, idle)).toHaveLength(3)
    await observe(3_000n, later(month + 400))
    expect(await ledger.listDue(network, page)).toHaveLength(3)
  })

  it('has a retired channel looked at again also where a version before this one keeps its voucher', async () => {
    const voucher = planVoucher()
    await ledger.keep(voucher, at)
    await pool.query('update channel_vouchers set is_live = false where network = $1', [voucher.network])
    const raise = (ceiling: number) =>
      pool.query('update channel_vouchers set ceiling = greatest(ceiling, $2) where network = $1', [
        voucher.network,
        ceiling,
      ])
    await raise(3_000)
    expect(await ledger.listDue(voucher.network, page)).toEqual([])
    await raise(3_001)
    expect(await ledger.listDue(voucher.network, page)).toMatchObject([{ ceiling: 3_001n }])
  })
})

describe('a claim', () => {
  it('is bound to its channels once: of two at the same time one is sent', async () => {
    const voucher = planVoucher()
    await ledger.keep(voucher, at)
    const channel = { channelId: voucher.channelId, settlementId: null }
    const ids = [randomUUID(), randomUUID()]
    const bound = await Promise.all(ids.map((id) => ledger.bindClaim(voucher.network, [channel], id)))
    expect(bound.filter(Boolean)).toHaveLength(1)
    const settlementId = (await ledger.find(voucher))?.settlementId ?? null
    expect(await ledger.bindClaim(voucher.network, [{ ...channel, settlementId }], randomUUID())).toBe(true)
  })

  it('that is refused too often sets its voucher aside, notifies once, and is due again with a higher one', async () => {
    const voucher = planVoucher()
    await ledger.keep(voucher, at)
    await ledger.observe(voucher.network, [see(voucher)], later(1))
    for (let count = 0; count < 4; count++)
      await ledger.countRefusal(voucher, { reason: 'voucher_signature', limit: 3 })
    expect(await listEvents(voucher.accountId)).toMatchObject([
      {
        type: 'channel.unclaimable',
        data: { ceiling: '3000', isUnclaimable: true, errorReason: 'voucher_signature' },
      },
    ])
    expect(await ledger.listDue(voucher.network, page)).toEqual([])
    await ledger.keep({ ...voucher, ceiling: 4_000n }, later(2))
    expect(await ledger.listDue(voucher.network, page)).toMatchObject([{ unclaimable: 3_000n }])
  })
})

it('lists the channels of one account, the newest first', async () => {
  const voucher = planVoucher()
  const rows = [0, 1, 2].map((second) => ({ ...voucher, channelId: randomId(), at: later(second) }))
  for (const { at: boundAt, ...each } of rows) await ledger.keep(each, boundAt)
  await ledger.keep(planVoucher(), at)
  const ids = rows.map(({ channelId }) => channelId).reverse()
  const first = await ledger.list(voucher.accountId, { limit: 2, after: null })
  expect(first.map(({ channelId }) => channelId)).toEqual(ids.slice(0, 2))
  const second = await ledger.list(voucher.accountId, { limit: 2, after: first[1] ?? null })
  expect(second.map(({ channelId }) => channelId)).toEqual(ids.slice(2))
  expect(await ledger.list(randomUUID(), { limit: 2, after: first[0] ?? null })).toEqual([])
})
