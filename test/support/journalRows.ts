import type { Pool } from 'pg'

interface JournalRows {
  readonly count: number
  /** Column values, by name; SQL over `n`, the number of the row from 1. */
  readonly columns?: Readonly<Record<string, string>>
}

/** Confirmed and final payments, one second apart, as after a long time of service. */
export const insertJournalRows = async (pool: Pool, { count, columns = {} }: JournalRows): Promise<void> => {
  const values: Readonly<Record<string, string>> = {
    id: 'gen_random_uuid()',
    authorization_id: 'gen_random_uuid()::text',
    caller: `'anonymous'`,
    fingerprint: `repeat('f', 64)`,
    scheme: `'exact'`,
    network: `'eip155:84532'`,
    asset: `'0xasset'`,
    payer: `'0xpayer'`,
    pay_to: `'0xpayee'`,
    amount: '1',
    authorized_amount: '1',
    settled_amount: '1',
    state: `'confirmed'`,
    transaction: `'0x' || n`,
    closed_at: 'now()',
    block_number: 'n / 20',
    block_hash: `'0x' || lpad((n / 20)::text, 64, '0')`,
    is_final: 'true',
    created_at: `now() - n * interval '1 second'`,
    ...columns,
  }
  await pool.query(
    `insert into settlements (${Object.keys(values).join()})
     select ${Object.values(values).join()} from generate_series(1, ${count}) n`,
  )
}

/** A row that is open, as columns for `insertJournalRows`. */
export const openColumns = {
  state: `'pending'`,
  settled_amount: 'null',
  closed_at: 'null',
  block_number: 'null',
  block_hash: 'null',
  is_final: 'false',
} as const

/** A row that failed after its transaction was sent. */
export const failedColumns = {
  state: `'failed'`,
  reason: `'insufficient_funds'`,
  settled_amount: 'null',
  block_number: 'null',
  block_hash: 'null',
  is_final: 'false',
} as const
