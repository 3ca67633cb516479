import { randomUUID } from 'node:crypto'
import { describe, expect, it, vi } from 'vitest'
import { createRecipientStatements } from '../../../../src/stores/postgres/recipients/recipients.js'
import { useTestDatabase } from '../../../support/postgres.js'

const { pool } = useTestDatabase()

describe('statements that many requests ask for at once', () => {
  it('are read in few statements, each for its own recipient', async () => {
    const accountId = randomUUID()
    await pool.query(
      `insert into recipient_statements (network, pay_to, account_id, memo, signed_claim, own_key)
       select 'aptos:1', 'wallet ' || n, $1, n % 2 = 0, false, false from generate_series(0, 9) n`,
      [accountId],
    )
    const { find } = createRecipientStatements(pool)
    const query = vi.spyOn(pool, 'query')
    const asked = Array.from({ length: 40 }, (_, at) => ({ network: 'aptos:1', payTo: `wallet ${at % 12}` }))
    const found = await Promise.all([
      ...asked.map(find),
      find({ network: 'near:mainnet', payTo: 'wallet 0' }),
    ])
    for (const [at, { payTo }] of asked.entries()) {
      const number = at % 12
      if (number > 9) expect(found[at]).toBeNull()
      else expect(found[at]).toMatchObject({ payTo, accountId, demands: { memo: number % 2 === 0 } })
    }
    expect(found[40]).toBeNull()
    expect(query.mock.calls.length).toBeLessThan(5)
  })
})
