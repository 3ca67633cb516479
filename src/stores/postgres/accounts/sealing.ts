import type { Pool } from 'pg'
import { z } from 'zod'
import { AppError } from '../../../errors.js'
import type { Sealer } from '../../../ports/accountStore.js'
import { inTransaction } from '../database/statements.js'

/** Prevents instances with different secrets from encrypting keys that the others cannot decrypt. */
interface SealingKeyCheck {
  /** Throws an operator-facing error when the database's keys are encrypted with another secret. */
  check(): Promise<void>
  /** Registers our secret if the database has none. Throws SERVICE_UNAVAILABLE when it has another. */
  claim(): Promise<void>
}

const row = z.object({ is_ours: z.boolean() })

export const createSealingKeyCheck = (
  pool: Pool,
  keyCheckValue: Uint8Array,
  previousKeyCheckValue: Uint8Array | null = null,
): SealingKeyCheck => {
  let isClaimed = false
  const isOurs = async (): Promise<boolean | null> => {
    const { rows } = await pool.query('select mark = any($1) as is_ours from sealing_secret', [
      previousKeyCheckValue === null ? [keyCheckValue] : [keyCheckValue, previousKeyCheckValue],
    ])
    return rows[0] === undefined ? null : row.parse(rows[0]).is_ours
  }
  return {
    check: async () => {
      if ((await isOurs()) !== false) return
      throw new Error(
        'The API keys in this database are encrypted with another secret. Set KEY_ENCRYPTION_SECRET to the one that all instances share, or restore the file key-encryption-secret of the data folder that made them.',
      )
    },
    claim: async () => {
      if (isClaimed) return
      await pool.query('insert into sealing_secret (mark) values ($1) on conflict do nothing', [
        keyCheckValue,
      ])
      isClaimed = (await isOurs()) === true
      if (!isClaimed)
        throw new AppError('SERVICE_UNAVAILABLE', 'This instance cannot issue keys at the moment')
    },
  }
}

interface Resealing {
  readonly keys: Sealer
  readonly webhookSecrets: Sealer
  readonly keyCheckValue: Uint8Array
  readonly previousKeyCheckValue: Uint8Array | null
}

export interface ResealResult {
  readonly keys: number
  readonly webhooks: number
  /** Rows that no known secret opens, or whose key is not the one of its fingerprint. They are left as they are. */
  readonly failed: number
}

const batchSize = 200
const bytes = z.instanceof(Uint8Array)
const markRow = z.object({ mark: bytes })
const keyRow = z.object({ id: z.string(), account_id: z.string(), fingerprint: bytes, sealed: bytes })
const endpointRow = z.object({
  account_id: z.string(),
  sealed_secret: bytes,
  previous_sealed_secret: bytes.nullable(),
})

/**
 * Seals every stored secret with the current one and in the current format; keys get their new fingerprints. Each row
 * changes by compare-and-swap, so that instances may rotate keys meanwhile. May be repeated after an interruption.
 */
export const resealSecrets = async (pool: Pool, resealing: Resealing): Promise<ResealResult> => {
  await takeMark(pool, resealing)
  const keys = await resealKeys(pool, resealing.keys)
  const webhooks = await resealEndpoints(pool, resealing.webhookSecrets)
  return { keys: keys.done, webhooks: webhooks.done, failed: keys.failed + webhooks.failed }
}

/** From here on only instances with the current secret may add keys. */
const takeMark = (pool: Pool, { keyCheckValue, previousKeyCheckValue }: Resealing): Promise<void> =>
  inTransaction(pool, async (client) => {
    const { rows } = await client.query('select mark from sealing_secret for update')
    if (rows[0] === undefined) return
    const { mark } = markRow.parse(rows[0])
    const isKnown = [keyCheckValue, previousKeyCheckValue].some(
      (value) => value !== null && Buffer.from(value).equals(mark),
    )
    if (!isKnown) {
      throw new Error(
        'The keys in this database are sealed with a third secret: set it as KEY_ENCRYPTION_PREVIOUS_SECRET.',
      )
    }
    await client.query('update sealing_secret set mark = $1', [keyCheckValue])
  })

interface Counts {
  readonly done: number
  readonly failed: number
}

const resealKeys = async (pool: Pool, sealer: Sealer): Promise<Counts> => {
  let [done, failed, last] = [0, 0, '0']
  for (;;) {
    const { rows } = await pool.query(
      `select id::text, account_id::text, fingerprint, sealed from api_keys where id > $1
       order by id limit ${batchSize}`,
      [last],
    )
    if (rows.length === 0) return { done, failed }
    for (const { id, account_id: owner, fingerprint, sealed } of rows.map((row) => keyRow.parse(row))) {
      last = id
      if (!sealer.isOutdated(sealed)) continue
      const text = tryOpen(() => sealer.open(sealed, owner))
      const isOwn =
        text !== null && sealer.fingerprints(text).some((each) => Buffer.from(each).equals(fingerprint))
      if (!isOwn) {
        failed += 1
        continue
      }
      const { rowCount } = await pool.query(
        'update api_keys set sealed = $2, fingerprint = $3 where id = $1 and sealed = $4',
        [id, sealer.seal(text, owner), sealer.fingerprint(text), sealed],
      )
      done += rowCount ?? 0
    }
  }
}

const resealEndpoints = async (pool: Pool, sealer: Sealer): Promise<Counts> => {
  let [done, failed, last] = [0, 0, '']
  for (;;) {
    const { rows } = await pool.query(
      `select account_id, sealed_secret, previous_sealed_secret from webhook_endpoints where account_id > $1
       order by account_id limit ${batchSize}`,
      [last],
    )
    if (rows.length === 0) return { done, failed }
    for (const row of rows.map((value) => endpointRow.parse(value))) {
      const { account_id: owner, sealed_secret: current, previous_sealed_secret: previous } = row
      last = owner
      const reseal = (sealed: Uint8Array) => sealer.seal(sealer.open(sealed, owner), owner)
      const isOutdated = [current, previous].some((each) => each !== null && sealer.isOutdated(each))
      if (!isOutdated) continue
      const resealed = tryOpen(() => [reseal(current), previous === null ? null : reseal(previous)])
      if (resealed === null) {
        failed += 1
        continue
      }
      const { rowCount } = await pool.query(
        `update webhook_endpoints set sealed_secret = $2, previous_sealed_secret = $3
         where account_id = $1 and sealed_secret = $4`,
        [owner, ...resealed, current],
      )
      done += rowCount ?? 0
    }
  }
}

const tryOpen = <T>(open: () => T): T | null => {
  try {
    return open()
  } catch {
    return null
  }
}
