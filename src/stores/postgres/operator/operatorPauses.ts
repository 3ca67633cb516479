import type { Pool, PoolClient } from 'pg'
import { z } from 'zod'
import type { Pause, PauseStore, PauseTarget } from '../../../ports/operatorPauses.js'
import type { Heartbeat } from '../database/instance.js'
import { inTransaction, withoutNul } from '../database/statements.js'
import { insertAction } from './operatorRecords.js'

const row = z
  .object({
    kind: z.enum(['network', 'scheme', 'recipient', 'account']),
    network: z.string(),
    scheme: z.string(),
    subject: z.string(),
    reason: z.string(),
    set_by: z.string().nullable(),
    since: z.coerce.date(),
  })
  .transform(
    ({ kind, network, scheme, subject, reason, set_by: by, since }): Pause => ({
      target: readTarget(kind, { network, scheme, subject }),
      reason,
      by,
      since,
    }),
  )

type Key = Readonly<Record<'network' | 'scheme' | 'subject', string>>

const readTarget = (kind: PauseTarget['kind'], { network, scheme, subject }: Key): PauseTarget => {
  switch (kind) {
    case 'network':
      return { kind, network }
    case 'scheme':
      return { kind, network, scheme }
    case 'recipient':
      return { kind, network, payTo: subject }
    case 'account':
      return { kind, accountId: subject }
  }
}

const keyOf = (target: PauseTarget): readonly string[] => {
  switch (target.kind) {
    case 'network':
      return [target.kind, target.network, '', '']
    case 'scheme':
      return [target.kind, target.network, target.scheme, '']
    case 'recipient':
      return [target.kind, target.network, '', target.payTo]
    case 'account':
      return [target.kind, '', '', target.accountId]
  }
}

const columns = 'kind, network, scheme, subject, reason, set_by, since'

// Asked where a heartbeat is missing: an answer that is late is asked for again.
const listAll = { text: `select ${columns} from operator_pauses order by since, kind`, query_timeout: 3_000 }

const isKeyed = 'kind = $1 and network = $2 and scheme = $3 and subject = $4'

const findRow = async (client: PoolClient, target: PauseTarget): Promise<Pause | null> => {
  // One change after the other, so that neither the bound nor the audit trail misses one. Readers do not wait.
  await client.query('lock table operator_pauses in share row exclusive mode')
  const { rows } = await client.query(`select ${columns} from operator_pauses where ${isKeyed}`, [
    ...keyOf(target),
  ])
  return rows[0] === undefined ? null : row.parse(rows[0])
}

const viewOf = ({ reason, by, since }: Pause) => ({ reason, by, since: since.toISOString() })

const counted = z.tuple([z.object({ count: z.number() })])

export const createPauseStore = (
  pool: Pool,
  heartbeat?: Pick<Heartbeat, 'onBeat' | 'isResting'>,
): PauseStore => ({
  isResting: () => heartbeat?.isResting() === true,

  watch: (listener) =>
    heartbeat?.onBeat(({ pauses, sentAt }) => {
      // What a newer version wrote is no failure of the heartbeat; `list` reports it.
      const known = z.array(row).safeParse(pauses)
      if (known.success) listener(known.data, sentAt)
    }),

  list: async () => {
    const { rows } = await pool.query(listAll)
    return rows.map((value) => row.parse(value))
  },

  set: ({ target, ...given }, { address, maxPauses }) =>
    inTransaction(pool, async (client) => {
      const reason = withoutNul(given.reason)
      const by = given.by === null ? null : withoutNul(given.by)
      const existing = await findRow(client, target)
      if (existing?.reason === reason && existing.by === by) return { state: 'unchanged', pause: existing }
      const count = await client.query('select count(*)::int as count from operator_pauses')
      if (existing === null && counted.parse(count.rows)[0].count >= maxPauses) return { state: 'full' }
      const { rows } = await client.query(
        `insert into operator_pauses (kind, network, scheme, subject, reason, set_by) values ($1, $2, $3, $4, $5, $6)
         on conflict (kind, network, scheme, subject) do update
           set reason = excluded.reason, set_by = excluded.set_by
         returning ${columns}`,
        [...keyOf(target), reason, by],
      )
      const pause = row.parse(rows[0])
      await insertAction(client, {
        action: 'pause.set',
        target: { ...target },
        by,
        address,
        before: existing === null ? null : viewOf(existing),
        after: viewOf(pause),
      })
      return { state: 'set', pause }
    }),

  clear: (target, { name, address }) =>
    inTransaction(pool, async (client) => {
      const existing = await findRow(client, target)
      if (existing === null) return false
      await client.query(`delete from operator_pauses where ${isKeyed}`, [...keyOf(target)])
      await insertAction(client, {
        action: 'pause.cleared',
        target: { ...target },
        by: name,
        address,
        before: viewOf(existing),
        after: null,
      })
      return true
    }),
})
