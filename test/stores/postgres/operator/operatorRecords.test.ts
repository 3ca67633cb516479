import { randomUUID } from 'node:crypto'
import { beforeEach, describe, expect, it } from 'vitest'
import { createAccountStore } from '../../../../src/stores/postgres/accounts/accountStore.js'
import { createOperatorRecords } from '../../../../src/stores/postgres/operator/operatorRecords.js'
import { emptyTables } from '../../../support/emptyTables.js'
import { useTestDatabase } from '../../../support/postgres.js'

const database = useTestDatabase()
const { pool } = database
const accounts = createAccountStore(pool)
const records = createOperatorRecords(pool, pool)
const by = { actor: 'operator', address: null }

beforeEach(async () => {
  await emptyTables(pool, 'accounts', 'api_keys', 'audit_log', 'operator_actions', 'webhook_deliveries')
})

const register = async (email: string, project = 'shop') => {
  const key = { fingerprint: Buffer.from(randomUUID()), sealed: Buffer.from('sealed') }
  return (await accounts.register({ email, project }, key)).account.id
}

const search = async (emailPrefix: string, limit = 10, after?: string) =>
  (await records.searchAccounts({ emailPrefix, limit, after })).map(
    ({ email, project }) => `${email} ${project}`,
  )

describe('a search for accounts', () => {
  it('finds the beginning of an address in any case, and no pattern', async () => {
    for (const email of ['Ada@example.com', 'adam@example.com', 'bob@example.com', 'a%@example.com']) {
      await register(email)
    }
    expect(await search('ADA')).toEqual(['Ada@example.com shop', 'adam@example.com shop'])
    expect(await search('a%')).toEqual(['a%@example.com shop'])
    expect(await search('da')).toEqual([])
    expect(await search('')).toHaveLength(4)
    expect(await search('a\0')).toEqual([])
  })

  it('has pages, also within one address', async () => {
    const first = await register('ada@example.com', 'a')
    await register('ada@example.com', 'b')
    await register('bob@example.com', 'a')
    expect(await search('', 1)).toEqual(['ada@example.com a'])
    expect(await search('', 5, first)).toEqual(['ada@example.com b', 'bob@example.com a'])
    expect(await search('', 5, randomUUID())).toEqual([])
  })

  it('says when a key was last used, and what was revoked', async () => {
    const id = await register('ada@example.com')
    expect(await records.findAccount(id)).toMatchObject({ lastUsedAt: null, keys: 1, status: 'active' })
    const { rows } = await pool.query('select public_id from api_keys where account_id = $1', [id])
    const usedAt = new Date('2026-01-02T00:00:00Z')
    await accounts.recordKeyUses(new Map([[rows[0].public_id, usedAt]]))
    await accounts.revoke(id, { by })
    expect(await records.findAccount(id)).toMatchObject({ lastUsedAt: usedAt, keys: 0, status: 'revoked' })
    expect(await records.findAccount(randomUUID())).toBeNull()
  })
})

describe('the audit trail of operators', () => {
  const record = (action: string) =>
    records.recordAction({
      action,
      target: { kind: 'delivery', deliveryId: action },
      by: 'Ada',
      address: '203.0.113.7',
      before: null,
      after: null,
    })
  const actionsOf = async (limit: number, before?: string) =>
    (await records.listActions({ limit, before })).map(({ action }) => action)

  it('has what operators did to accounts as well, in the order of time and in pages', async () => {
    const id = await register('ada@example.com')
    await record('first')
    await accounts.setTier(id, 'scale', { by })
    await record('second')
    await accounts.setRestrictions(id, { allowedIPs: null }, { by: { actor: 'key Default', address: null } })
    await accounts.revoke(id, { by })
    expect(await actionsOf(10)).toEqual(['account.revoked', 'second', 'tier.changed', 'first'])
    const [revoked, second, tier] = await records.listActions({ limit: 10 })
    expect(revoked).toMatchObject({ before: { status: 'active' }, after: { status: 'revoked' } })
    expect(tier).toMatchObject({
      target: { kind: 'account', accountId: id },
      before: { tier: 'free' },
      after: { tier: 'scale' },
      address: null,
    })
    expect(await actionsOf(1)).toEqual(['account.revoked'])
    expect(await actionsOf(10, revoked?.id)).toEqual(['second', 'tier.changed', 'first'])
    expect(await actionsOf(10, second?.id)).toEqual(['tier.changed', 'first'])
    expect(await actionsOf(10, randomUUID())).toEqual([])
  })

  it('is kept for 90 days', async () => {
    const id = await register('ada@example.com')
    await accounts.setTier(id, 'scale', { by })
    await record('old')
    await pool.query("update operator_actions set created_at = now() - interval '91 days'")
    await pool.query("update audit_log set created_at = now() - interval '91 days'")
    await record('new')
    expect(await actionsOf(10)).toEqual(['new'])
    await records.purgeActions()
    const { rows } = await pool.query('select action from operator_actions')
    expect(rows).toEqual([{ action: 'new' }])
  })
})

describe('a webhook delivery', () => {
  it('is found with its account', async () => {
    const id = await register('ada@example.com')
    const { rows } = await pool.query(
      "insert into webhook_deliveries (account_id, type, data) values ($1, 'settlement.confirmed', '{}') returning id",
      [id],
    )
    expect(await records.findDeliveryAccount(rows[0].id)).toBe(id)
    expect(await records.findDeliveryAccount(randomUUID())).toBeNull()
  })
})
