import { createCipheriv, hkdfSync, randomBytes, randomUUID } from 'node:crypto'
import { beforeEach, describe, expect, it } from 'vitest'
import { createSealers } from '../../../../src/platform/sealer.js'
import { Secret } from '../../../../src/platform/secret.js'
import { createAccountStore } from '../../../../src/stores/postgres/accounts/accountStore.js'
import { createSealingKeyCheck, resealSecrets } from '../../../../src/stores/postgres/accounts/sealing.js'
import { createWebhookOutbox } from '../../../../src/stores/postgres/webhooks/webhookOutbox.js'
import { openKey } from '../../../../src/usecases/dashboard/apiKey.js'
import { emptyTables } from '../../../support/emptyTables.js'
import { useTestDatabase } from '../../../support/postgres.js'

const oldSecret = new Secret('o'.repeat(32))
const newSecret = new Secret('n'.repeat(32))
const apiKey = `qtn_sk_${'a'.repeat(43)}`

/** As the first version sealed: no owner, no key id. */
const sealAsBefore = (secret: Secret, text: string): Uint8Array => {
  const key = Buffer.from(hkdfSync('sha256', secret.reveal(), '', 'quittance seal', 32))
  const iv = randomBytes(12)
  const cipher = createCipheriv('aes-256-gcm', key, iv, { authTagLength: 16 })
  cipher.setAAD(Buffer.from('quittance api-key v1'))
  const encrypted = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()])
  return Buffer.concat([Buffer.of(1), iv, cipher.getAuthTag(), encrypted])
}

describe('stored secrets', () => {
  const database = useTestDatabase()
  beforeEach(() => emptyTables(database.pool, 'accounts', 'api_keys', 'sealing_secret', 'webhook_endpoints'))

  const register = async (sealers = createSealers(oldSecret), text = apiKey, seal?: Uint8Array) => {
    const id = randomUUID()
    const sealer = sealers.sealerFor('api-key')
    const key = { fingerprint: sealer.fingerprint(text), sealed: seal ?? sealer.seal(text, id) }
    await createAccountStore(database.pool).register(
      { id, email: `${id}@example.com`, project: 'engine' },
      key,
    )
    return id
  }
  const reseal = (sealers: ReturnType<typeof createSealers>) =>
    resealSecrets(database.pool, {
      ...sealers,
      keys: sealers.sealerFor('api-key'),
      webhookSecrets: sealers.sealerFor('webhook-secret'),
    })
  const open = async (sealers: ReturnType<typeof createSealers>, id: string) => {
    const [keyed] = await createAccountStore(database.pool).listByEmail(`${id}@example.com`)
    if (keyed === undefined) throw new Error('The account was not found')
    return openKey(sealers.sealerFor('api-key'), keyed)
  }
  const find = async (sealers: ReturnType<typeof createSealers>) => {
    for (const fingerprint of sealers.sealerFor('api-key').fingerprints(apiKey)) {
      const use = await createAccountStore(database.pool).findByKey(fingerprint)
      if (use !== null) return use.account.id
    }
    return null
  }

  it('are readable with the previous secret until they are sealed again, then without it', async () => {
    const [before, during, after] = [
      createSealers(oldSecret),
      createSealers(newSecret, oldSecret),
      createSealers(newSecret),
    ]
    const { pool } = database
    await createSealingKeyCheck(pool, before.keyCheckValue).claim()
    const id = await register(before)
    const outbox = createWebhookOutbox(pool)
    const webhook = before.sealerFor('webhook-secret')
    await outbox.setEndpoint(id, { url: 'https://a.example/', sealedSecret: webhook.seal('whsec_one', id) })
    await outbox.rotateSecret(id, webhook.seal('whsec_two', id), 60_000)

    const check = createSealingKeyCheck(pool, during.keyCheckValue, during.previousKeyCheckValue)
    await expect(check.check()).resolves.toBeUndefined()
    await expect(check.claim()).resolves.toBeUndefined()
    expect(await find(during)).toBe(id)
    expect(await open(during, id)).toBe(apiKey)
    await expect(open(after, id)).rejects.toThrow()

    expect(await reseal(during)).toEqual({ keys: 1, webhooks: 1, failed: 0 })
    expect(await reseal(during)).toEqual({ keys: 0, webhooks: 0, failed: 0 })

    await expect(createSealingKeyCheck(pool, after.keyCheckValue).check()).resolves.toBeUndefined()
    await expect(createSealingKeyCheck(pool, before.keyCheckValue).check()).rejects.toThrow('another secret')
    expect(await find(after)).toBe(id)
    expect(await open(after, id)).toBe(apiKey)
    const sealed = (await outbox.findEndpoint(id))?.sealedSecrets ?? []
    const opener = after.sealerFor('webhook-secret')
    expect(sealed.map((each) => opener.open(each, id))).toEqual(['whsec_two', 'whsec_one'])
  })

  it('of the first version open with both secrets, and are bound to their account when sealed again', async () => {
    const during = createSealers(newSecret, oldSecret)
    const id = await register(createSealers(oldSecret), apiKey, sealAsBefore(oldSecret, apiKey))
    expect(await open(during, id)).toBe(apiKey)
    expect(await reseal(during)).toEqual({ keys: 1, webhooks: 0, failed: 0 })
    expect(await open(createSealers(newSecret), id)).toBe(apiKey)
  })

  it('exchanged between the rows of two accounts do not open (A56)', async () => {
    const sealers = createSealers(oldSecret)
    const victim = await register(sealers)
    const thief = await register(sealers, `qtn_sk_${'b'.repeat(43)}`)
    await database.pool.query(
      'update api_keys set sealed = (select sealed from api_keys where account_id = $1) where account_id = $2',
      [victim, thief],
    )
    await expect(open(sealers, thief)).rejects.toThrow()
    expect(await open(sealers, victim)).toBe(apiKey)
  })

  it('of the first version, exchanged, do not match their fingerprint (A56)', async () => {
    const sealers = createSealers(oldSecret)
    await register(sealers)
    const thief = await register(sealers, `qtn_sk_${'b'.repeat(43)}`, sealAsBefore(oldSecret, apiKey))
    await expect(open(sealers, thief)).rejects.toThrow('does not match its fingerprint')
    expect(await reseal(createSealers(newSecret, oldSecret))).toEqual({ keys: 1, webhooks: 0, failed: 1 })
  })

  it('of a third secret are not touched', async () => {
    const { pool } = database
    const third = createSealers(new Secret('t'.repeat(32)))
    await createSealingKeyCheck(pool, third.keyCheckValue).claim()
    const id = await register(third)
    await expect(reseal(createSealers(newSecret, oldSecret))).rejects.toThrow(
      'KEY_ENCRYPTION_PREVIOUS_SECRET',
    )
    expect(await open(third, id)).toBe(apiKey)
  })
})
