import { privateKeyToAccount } from 'viem/accounts'
import { beforeEach, describe, expect, it } from 'vitest'
import { AppError } from '../../../../src/errors.js'
import { writeX402Message } from '../../../../src/extensions/siwx/messages.js'
import { createSignInNonces } from '../../../../src/stores/postgres/siwx/signInNonces.js'
import { emptyTables } from '../../../support/emptyTables.js'
import { useTestDatabase } from '../../../support/postgres.js'
import { newNonce, openSiwx, signInFields, signInUri, toProof } from '../../../support/siwx.js'

const database = useTestDatabase()
beforeEach(() => emptyTables(database.pool, 'siwx_nonces'))

const inAnHour = () => new Date(Date.now() + 3_600_000)
const count = async () => (await database.pool.query('select count(*)::int as n from siwx_nonces')).rows[0].n

describe('a nonce', () => {
  it('is used once per domain, in any letter case of the domain', async () => {
    const nonces = createSignInNonces(database.pool)
    const nonce = newNonce()
    const expiresAt = inAnHour()
    expect(await nonces.use({ domain: 'a.example', nonce, expiresAt })).toBe(true)
    expect(await nonces.use({ domain: 'A.example', nonce, expiresAt })).toBe(false)
    expect(await nonces.use({ domain: 'b.example', nonce, expiresAt })).toBe(true)
  })

  it('is used by exactly one of 20 verifications of one proof at once by two instances', async () => {
    const account = privateKeyToAccount(`0x${'1'.repeat(64)}`)
    const fields = signInFields({ address: account.address })
    const proof = toProof(fields, await account.signMessage({ message: writeX402Message(fields) ?? '' }))
    const instances = [database.pool, database.otherPool].map((pool) =>
      openSiwx({ usedNonces: createSignInNonces(pool) }),
    )
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, index) =>
        instances[index % 2]?.useCases.verifySignIn({ proof, uri: signInUri }).then(
          ({ isValid }) => isValid,
          (error: unknown) => (error instanceof AppError ? error.signInReason : error),
        ),
      ),
    )
    expect(answers.filter((answer) => answer === true)).toHaveLength(1)
    expect(answers.filter((answer) => answer === 'siwx_nonce_used')).toHaveLength(19)
    expect(await count()).toBe(1)
  })

  it('is deleted after it has expired, and not before', async () => {
    const nonces = createSignInNonces(database.pool)
    await nonces.use({ domain: 'a.example', nonce: newNonce(), expiresAt: inAnHour() })
    await nonces.use({ domain: 'a.example', nonce: newNonce(), expiresAt: new Date(Date.now() - 1_000) })
    await nonces.purge()
    expect(await count()).toBe(1)
  })
})
