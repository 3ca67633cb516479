import { createHash } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { createUniqueAmounts } from '../../../../src/stores/postgres/recipients/recipients.js'
import { emptyTables } from '../../../support/emptyTables.js'
import { useTestDatabase } from '../../../support/postgres.js'

const { pool, otherPool } = useTestDatabase()

const purseOf = (payTo: string) => ({ network: 'aptos:1', payTo, asset: 'usdt' })
const digest = createHash('sha256').update('secret').digest()
const at = (seconds: number) => new Date(Date.UTC(2030, 0, 1) + seconds * 1_000)

interface Request {
  readonly payTo: string
  readonly second?: number
  readonly maxTail?: number
}

const issueFrom =
  (by = pool) =>
  ({ payTo, second = 0, maxTail = 9_999 }: Request) =>
    createUniqueAmounts(by).issue({
      purse: purseOf(payTo),
      base: 10_000n,
      maxTail,
      digest,
      issuedAt: at(second),
      expiresAt: at(second + 60),
    })

describe('a unique amount', () => {
  it('is issued once of many requests at once to two instances, until none is left', async () => {
    const pools = [pool, otherPool]
    const issued = await Promise.all(
      Array.from({ length: 12 }, (_, index) => issueFrom(pools[index % 2])({ payTo: 'busy', maxTail: 40 })),
    )
    expect(issued.every((amount) => amount !== null && amount > 10_000n && amount <= 10_040n)).toBe(true)
    expect(new Set(issued).size).toBe(12)
  })

  it('is null once none is free, and free again when its offer has expired', async () => {
    const issue = issueFrom()
    const request = { payTo: 'small', maxTail: 1 }
    expect(await issue(request)).toBe(10_001n)
    expect(await issue({ ...request, second: 59 })).toBeNull()
    expect(await issue({ ...request, second: 60 })).toBe(10_001n)
  })

  it('is found by the secret of its offer only, until it is issued again', async () => {
    const { find } = createUniqueAmounts(pool)
    const amount = await issueFrom()({ payTo: 'shop', maxTail: 1, second: 1 })
    const offer = { purse: purseOf('shop'), amount: amount ?? 0n, digest }
    expect(await find(offer)).toMatchObject({ issuedAt: at(1) })
    expect(await find({ ...offer, digest: createHash('sha256').update('guess').digest() })).toBeNull()
    expect(await find({ ...offer, amount: offer.amount + 1n })).toBeNull()
    expect(await find({ ...offer, purse: purseOf('other') })).toBeNull()
  })

  it('is deleted when its offer has expired', async () => {
    await emptyTables(pool, 'unique_amounts')
    await issueFrom()({ payTo: 'shop' })
    await pool.query("update unique_amounts set expires_at = now() - interval '1 second'")
    await issueFrom()({ payTo: 'other' })
    await createUniqueAmounts(pool).purge()
    expect((await pool.query('select pay_to from unique_amounts')).rows).toEqual([{ pay_to: 'other' }])
  })
})
