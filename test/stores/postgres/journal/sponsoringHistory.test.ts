import { beforeEach, describe, expect, it } from 'vitest'
import type { SettlementClaim, SettlementJournal } from '../../../../src/ports/settlementJournal.js'
import type { SponsoringQuery } from '../../../../src/ports/settlementOverview.js'
import type { Reason } from '../../../../src/protocol/reasons.js'
import { createSettlementJournal } from '../../../../src/stores/postgres/journal/settlementJournal.js'
import {
  createSponsoringHistory,
  readSponsoringHistory,
} from '../../../../src/stores/postgres/journal/settlementOverview.js'
import { claimOf } from '../../../support/claimOf.js'
import { emptyTables } from '../../../support/emptyTables.js'
import { addInstance } from '../../../support/instances.js'
import { useTestDatabase } from '../../../support/postgres.js'

const network = 'ton:testnet'
const wallets = { payer: '0:payer', payee: '0:payee' }
const neither = { hasRecipientSettled: false, hasPayerFailed: false }

describe('the history of sponsored payments', () => {
  const { pool } = useTestDatabase()
  let journal: SettlementJournal

  const history = createSponsoringHistory(pool)
  beforeEach(async () => {
    await emptyTables(pool, 'settlements', 'signer_lanes', 'instances')
    journal = createSettlementJournal(pool, await addInstance(pool))
  })

  const claim = async (changes: Partial<SettlementClaim> = {}) => {
    const settlement = await journal.claim(
      claimOf({ network, wallets, details: { sponsored: true }, ...changes }),
    )
    if (settlement === null) throw new Error('It is claimed')
    return settlement.id
  }
  const send = async (changes?: Partial<SettlementClaim>) => {
    const id = await claim(changes)
    await journal.recorderFor(id).record({ transaction: `tx ${id}`, bytes: 'bytes' })
    return id
  }
  const confirm = async (changes?: Partial<SettlementClaim>) => {
    const id = await send(changes)
    await journal.close(id, { state: 'confirmed', transaction: `tx ${id}` })
  }
  const fail = async (changes?: Partial<SettlementClaim>, reason: Reason = 'transaction_failed') => {
    await journal.close(await send(changes), { state: 'failed', reason })
  }
  const read = (changes: Partial<SponsoringQuery> = {}) =>
    history.read({
      network,
      payer: wallets.payer,
      payTo: wallets.payee,
      reasons: ['transaction_failed'],
      since: new Date(Date.now() - 86_400_000),
      ...changes,
    })

  it('knows nothing of new parties', async () => {
    await claim()
    await send()
    expect(await read()).toEqual(neither)
  })

  it.each(['ton:mainnet', 'tron:nile'])('knows a recipient that was paid on %s', async (paidOn) => {
    await confirm({ network: paidOn, details: {} })
    expect(await read({ network: paidOn })).toEqual({ ...neither, hasRecipientSettled: true })
    expect(await read({ network: paidOn, payTo: null })).toEqual(neither)
    expect(await read({ network: paidOn, payTo: '0:other' })).toEqual(neither)
    expect(await read({ network: 'ton:testnet' })).toEqual(neither)
  })

  it('knows a payer whose sponsored payment failed after it was sent', async () => {
    await fail()
    expect(await read()).toEqual({ ...neither, hasPayerFailed: true })
    expect(await read({ payTo: null })).toEqual({ ...neither, hasPayerFailed: true })
    expect(await read({ payer: '0:other' })).toEqual(neither)
    expect(await read({ network: 'ton:mainnet' })).toEqual(neither)
    expect(await read({ since: new Date(Date.now() + 3_600_000) })).toEqual(neither)
    expect(await read({ reasons: ['transfer_event_mismatch'] })).toEqual(neither)
  })

  it('excuses as many failures as payments that were made, up to 19', async () => {
    const count = async (payments: number, failures: number) => {
      await emptyTables(pool, 'settlements')
      for (let paid = 0; paid < payments; paid += 1) await confirm()
      for (let failed = 0; failed < failures; failed += 1) await fail()
      return (await read()).hasPayerFailed
    }
    expect(await count(1, 1)).toBe(false)
    expect(await count(1, 2)).toBe(true)
    expect(await count(19, 19)).toBe(false)
    expect(await count(25, 20)).toBe(true)
    await pool.query("update settlements set details = '{}' where state = 'confirmed'")
    expect((await read()).hasPayerFailed).toBe(true)
  })

  it('does not count a failure that was not sponsored, or of which nothing was sent', async () => {
    await fail({ details: {} })
    await journal.close(await claim(), { state: 'failed', reason: 'transaction_failed' })
    expect(await read()).toEqual(neither)
  })

  it('reads one entry of each index in a large journal', async () => {
    await pool.query(
      `insert into settlements (id, authorization_id, caller, fingerprint, scheme, network, asset, payer, pay_to, amount,
         authorized_amount, settled_amount, state, transaction, reason, details, closed_at, payer_wallet, payee_wallet)
       select gen_random_uuid(), 'a ' || n, 'anonymous', 'f', 'exact', $1, 'a', 'p', 'p', 1, 1,
         case when n % 2 = 0 then 1 end, case when n % 2 = 0 then 'confirmed' else 'failed' end, 'tx ' || n,
         case when n % 2 = 1 then 'transaction_failed' end, '{"sponsored": true}', now(), 'payer ' || n, 'payee ' || n
       from generate_series(1, 20000) n`,
      [network],
    )
    await pool.query('analyze settlements')
    const { rows } = await pool.query<{ 'QUERY PLAN': string }>(
      `explain (costs off) ${readSponsoringHistory}`,
      [network, 'payee 2', 'payer 1', new Date(0), ['transaction_failed']],
    )
    const plan = rows.map((row) => row['QUERY PLAN']).join('\n')
    expect(plan).toMatch(/settlements_to_sponsored_payee[\s\S]+Index Cond: .+payee_wallet/)
    expect(plan).toMatch(/settlements_sponsored_failed[\s\S]+Index Cond: .+payer_wallet/)
    const parties = { payer: 'payer 1', payTo: 'payee 2' }
    expect(await read(parties)).toEqual({ hasRecipientSettled: true, hasPayerFailed: true })
  })
})
