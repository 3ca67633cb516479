import { beforeEach, describe, expect, it } from 'vitest'
import type { AppError } from '../../../../src/errors.js'
import { silentLogger } from '../../../../src/platform/logger.js'
import { createSchemeRegistry } from '../../../../src/schemes/registry.js'
import type { Outcome } from '../../../../src/schemes/scheme.js'
import { createIdempotencyStore } from '../../../../src/stores/postgres/journal/idempotencyStore.js'
import { createSettlementJournal } from '../../../../src/stores/postgres/journal/settlementJournal.js'
import { createSettlePayment } from '../../../../src/usecases/core/settle/settlePayment.js'
import { emptyTables } from '../../../support/emptyTables.js'
import { addInstance, killInstance } from '../../../support/instances.js'
import { pollUntil } from '../../../support/pollUntil.js'
import { useTestDatabase } from '../../../support/postgres.js'
import { createUnlimitedSettle } from '../../../support/settleAuthorization.js'
import { createToyScheme, toyBody } from '../../../support/toyScheme.js'

const database = useTestDatabase()
beforeEach(async () => {
  await emptyTables(
    database.pool,
    'consumed_authorizations',
    'settlements',
    'instances',
    'idempotent_requests',
  )
})

const openInstance = async (pool = database.pool, confirmation = Promise.resolve()) => {
  const instance = await addInstance(pool)
  const scheme = createToyScheme({
    settle: async (_payment, recorder): Promise<Outcome> => {
      const transaction = `transaction of ${recorder.settlementId}`
      await recorder.record({ transaction, bytes: 'bytes' })
      await confirmation
      return { state: 'confirmed', transaction }
    },
  })
  const settlePayment = createSettlePayment({
    idempotency: createIdempotencyStore(pool, instance),
    settleAuthorization: createUnlimitedSettle({
      registry: createSchemeRegistry([scheme]),
      journal: createSettlementJournal(pool, instance),
      holdFunds: async (_payment, verdict) => verdict,
      logger: silentLogger,
    }),
    logger: silentLogger,
  })
  return {
    instance,
    settle: (nonce: string, caller = 'anonymous') =>
      settlePayment({ body: toyBody(nonce), caller, quota: null, idempotencyKey: 'order-1' }).then(
        ({ result, isReplayed }) => (isReplayed ? 'replayed' : (result.errorReason ?? 'charged')),
        (error: AppError) => error.code,
      ),
  }
}

const countCharged = async (): Promise<number> => {
  const { rows } = await database.pool.query("select 1 from settlements where state <> 'failed'")
  return rows.length
}

describe('one Idempotency-Key without an API key, at two instances,', () => {
  it('charges once for many payloads at the same time', async () => {
    const [ours, theirs] = [await openInstance(), await openInstance(database.otherPool)]
    const nonces = Array.from({ length: 10 }, (_, index) => `nonce-${index}`)
    const outcomes = await Promise.all(
      nonces.map((nonce, index) => (index % 2 === 0 ? ours : theirs).settle(nonce)),
    )
    expect(outcomes.filter((outcome) => outcome === 'charged')).toHaveLength(1)
    // In progress: the key was being inserted, so its body was not known yet.
    expect(new Set(outcomes)).toSatisfy((seen: Set<string>) =>
      [...seen].every((code) => ['charged', 'PAYLOAD_MISMATCH', 'REQUEST_IN_PROGRESS'].includes(code)),
    )
    expect(await countCharged()).toBe(1)
    for (const nonce of nonces.filter((_, index) => outcomes[index] !== 'charged')) {
      expect(await ours.settle(nonce)).toBe('PAYLOAD_MISMATCH')
    }
    const [paid = ''] = nonces.filter((_, index) => outcomes[index] === 'charged')
    expect(await theirs.settle(paid)).toBe('replayed')
  })

  it('stays bound to what an instance has sent that died', async () => {
    const dying = await openInstance(database.pool, new Promise(() => undefined))
    const theirs = await openInstance(database.otherPool)
    void dying.settle('nonce-1')
    await pollUntil(async () => (await countRecorded()) === 1, 'the first settlement to be recorded')
    await killInstance(database.pool, dying.instance)
    expect(await theirs.settle('nonce-2')).toBe('PAYLOAD_MISMATCH')
    expect(await countCharged()).toBe(1)
  })

  it('that an older version stored still replays', async () => {
    const { settle } = await openInstance()
    await settle('nonce-3')
    // Older versions bind a key to its body alone.
    await database.pool.query("delete from idempotent_requests where caller like 'payee:%'")
    expect(await settle('nonce-3')).toBe('replayed')
  })
})

const countRecorded = async (): Promise<number> => {
  const { rows } = await database.pool.query('select 1 from broadcasts')
  return rows.length
}
