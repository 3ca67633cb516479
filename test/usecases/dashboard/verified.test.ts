import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createMailer } from '../../../src/platform/mailer.js'
import { Secret } from '../../../src/platform/secret.js'
import type { Mailer } from '../../../src/ports/accountStore.js'
import { createAccountStore } from '../../../src/stores/postgres/accounts/accountStore.js'
import type { DashboardUseCases } from '../../../src/usecases/dashboard/useCases.js'
import { emptyTables } from '../../support/emptyTables.js'
import { drainEventLoop } from '../../support/manualClock.js'
import { createMemoryLogger, type MemoryLogger } from '../../support/memoryLogger.js'
import { useTestDatabase } from '../../support/postgres.js'
import { startSmtpServer, type TestSmtpServer } from '../../support/smtpServer.js'
import { openDashboard, useKey } from './scene.js'

const keyForm = /qtn_sk_live_[0-9A-Za-z]{49}/g

describe('the dashboard with REGISTRATION=verified', () => {
  const database = useTestDatabase()
  let server: TestSmtpServer
  let logger: MemoryLogger
  let mailer: Mailer
  let dashboard: DashboardUseCases
  beforeEach(async () => {
    await emptyTables(database.pool, 'accounts', 'api_keys')
    server = await startSmtpServer()
    logger = createMemoryLogger()
    mailer = await createMailer({ url: new Secret(server.url), from: 'keys@quittance.example' }, logger)
    dashboard = openDashboard(database, { registration: { mode: 'verified', mailer }, logger, used: 42 })
  })
  afterEach(async () => {
    await mailer.close()
    await server.close()
  })

  const register = (email = 'ada@example.com', projectName = 'engine') =>
    dashboard.register({ email, projectName }, 'stranger')
  /** The keys in the last e-mail, once `count` were sent. */
  const readKeys = async (letters: number): Promise<readonly string[]> =>
    (await server.receive(letters)).at(-1)?.source.match(keyForm) ?? []

  it('sends the key to the address and never shows it in a response', async () => {
    const answer = await register()
    const [apiKey = ''] = await readKeys(1)
    expect(server.mails[0]?.to).toEqual(['ada@example.com'])
    expect(await useKey(dashboard, apiKey)).toMatchObject({ email: 'ada@example.com', project: 'engine' })
    expect(answer.apiKey).toBe('qtn_sk_********')
    expect(JSON.stringify(logger.lines)).not.toMatch(keyForm)
  })

  it('responds identically to a first, a second and a revoked registration', async () => {
    const first = await register()
    const [apiKey = ''] = await readKeys(1)
    const account = await useKey(dashboard, apiKey)
    await createAccountStore(database.pool).setTier(account.id, 'scale')
    expect(await register()).toEqual(first)
    expect(await readKeys(2)).toEqual([apiKey])
    await createAccountStore(database.pool).revoke(account.id)
    expect(await register()).toEqual(first)
    await mailer.close()
    expect(server.mails).toHaveLength(2)
    expect(first.quota).toMatchObject({ tier: 'free', used: 0 })
  })

  it('responds identically to a lookup of a known and an unknown address, and mails only the known one', async () => {
    await register('ada@example.com', 'one')
    await register('ada@example.com', 'two')
    await server.receive(2)
    const known = await dashboard.lookUp('ada@example.com', 'stranger')
    const unknown = await dashboard.lookUp('eve@example.com', 'stranger')
    expect({ ...known, email: '' }).toEqual({ ...unknown, email: '' })
    expect(known.keys).toEqual([])
    expect(await readKeys(3)).toHaveLength(2)
    await mailer.close()
    expect(server.mails).toHaveLength(3)
  })

  it('mails keys to the address as registered, not as spelled in the request', async () => {
    await register('Ada@example.com')
    await register('ada@EXAMPLE.com')
    await dashboard.lookUp('ADA@example.com', 'stranger')
    const mails = await server.receive(3)
    expect(new Set(mails.flatMap(({ to }) => to))).toEqual(new Set(['Ada@example.com']))
  })

  it('sends at most five e-mails per hour and address, whoever requests them', async () => {
    for (let turn = 0; turn < 12; turn += 1) await register('ada@example.com', `project ${turn % 3}`)
    await register('eve@example.com')
    await server.receive(6)
    await drainEventLoop()
    await mailer.close()
    expect(server.mails.filter(({ to }) => to.includes('ada@example.com'))).toHaveLength(5)
  })

  it('sends project names that mail clients cannot turn into links', async () => {
    await register('ada@example.com', 'Win at https://evil.example/x now')
    const [mail] = await server.receive(1)
    expect(mail?.source).not.toMatch(/evil\.example|https:|Win at|now/)
  })

  it('shows the key of the request in full, and keys of other projects masked', async () => {
    await register('ada@example.com', 'one')
    await register('ada@example.com', 'two')
    const keys = (await server.receive(2)).flatMap(({ source }) => source.match(keyForm) ?? [])
    for (const apiKey of keys) {
      const list = await dashboard.listKeys(await useKey(dashboard, apiKey), 'stranger')
      expect(list.keys.filter(({ current }) => current).map((key) => key.apiKey)).toEqual([apiKey])
      expect(list.keys.filter(({ current }) => !current).map((key) => key.apiKey)).toEqual([
        'qtn_sk_********',
      ])
    }
  })

  it('responds while the mail server is down, and logs the failure', async () => {
    server.refuse()
    expect(await register()).toMatchObject({ apiKey: 'qtn_sk_********' })
    await drainEventLoop()
    await mailer.close()
    expect(logger.messages()).toContain('mail.failed')
  })
})
