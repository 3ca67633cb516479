import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders } from 'node:http'
import { createInterface } from 'node:readline'
import { Webhook } from 'standardwebhooks'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { systemClock } from '../../src/platform/clock.js'
import { createSettlementJournal } from '../../src/stores/postgres/journal/settlementJournal.js'
import { claimOf } from '../support/claimOf.js'
import { addInstance } from '../support/instances.js'
import { pollUntil } from '../support/pollUntil.js'
import { useTestDatabase } from '../support/postgres.js'
import { findProgram } from '../support/program.js'
import { readHeaders } from '../support/readHeaders.js'
import { startService, type TestService } from '../support/service.js'
import { spawnChild } from '../support/spawnChild.js'

const page = z.object({
  events: z.array(z.object({ id: z.string(), type: z.string(), data: z.looseObject({ id: z.string() }) })),
  cursor: z.string(),
  hasMore: z.boolean(),
})

describe('events of an account', () => {
  const database = useTestDatabase()
  let service: TestService
  /** What the service takes for the time; null: the time. */
  let stoppedAt: Date | null = null
  beforeAll(async () => {
    service = await startService({
      databaseUrl: database.url,
      environment: { WEBHOOK_ALLOW: 'loopback' },
      clock: { ...systemClock, now: () => stoppedAt ?? systemClock.now() },
    })
  })
  afterEach(() => {
    stoppedAt = null
  })
  afterAll(() => service.close())

  const ask = (path: string, apiKey: string, body?: object) =>
    fetch(`${service.url}${path}`, {
      headers: { 'content-type': 'application/json', ...(apiKey === '' ? {} : { 'x-api-key': apiKey }) },
      ...(body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) }),
    })
  const read = async (apiKey: string, query = '') =>
    page.parse(await (await ask(`/v1/events?${query}`, apiKey)).json())
  const register = async (projectName: string) => {
    const body = { email: `${projectName}@example.com`, projectName }
    const { apiKey } = z.object({ apiKey: z.string() }).parse(await (await ask('/register', '', body)).json())
    const { rows } = await database.pool.query('select id from accounts where project = $1', [projectName])
    return { apiKey, accountId: z.object({ id: z.string() }).parse(rows[0]).id }
  }
  const settle = async (caller: string): Promise<string> => {
    const { pool } = database
    const journal = createSettlementJournal(pool, await addInstance(pool))
    const claimed = await journal.claim(claimOf({ caller }))
    if (claimed === null) throw new Error('Claimed by another')
    await journal.recorderFor(claimed.id).record({ transaction: claimed.id, bytes: 'bytes' })
    await journal.close(claimed.id, { state: 'confirmed', transaction: claimed.id })
    return claimed.id
  }
  const countIdleTransactions = async (): Promise<number> => {
    const { rows } = await database.pool.query(
      `select count(*)::int as count from pg_stat_activity
       where datname = current_database() and state like 'idle in transaction%'`,
    )
    return z.object({ count: z.number() }).parse(rows[0]).count
  }
  const idsOf = ({ events }: z.infer<typeof page>) => events.map(({ data }) => data.id)

  it('are read in pages without a webhook, again from the same cursor, and by no other account', async () => {
    const [ada, eve] = [await register('anvil'), await register('easel')]
    const settled = [await settle(ada.accountId), await settle(ada.accountId), await settle(ada.accountId)]
    const first = await read(ada.apiKey, 'limit=2')
    expect(first).toMatchObject({ hasMore: true, events: [{ type: 'settlement.confirmed' }, {}] })
    const second = await read(ada.apiKey, `cursor=${first.cursor}`)
    expect([...idsOf(first), ...idsOf(second)]).toEqual(settled)
    expect(second.hasMore).toBe(false)
    expect(await read(ada.apiKey, `cursor=${first.cursor}`)).toEqual(second)
    expect(await read(ada.apiKey, 'cursor=latest')).toEqual({
      events: [],
      cursor: second.cursor,
      hasMore: false,
    })
    expect(idsOf(await read(eve.apiKey))).toEqual([])
    expect((await ask(`/v1/events?cursor=${second.cursor}`, eve.apiKey)).status).toBe(400)
    expect((await fetch(`${service.url}/v1/events`)).status).toBe(401)
  })

  it.each(['cursor=-1', 'cursor=x', 'limit=0', 'wait=31', 'wait=-1', 'after=1'])(
    'are refused for %s',
    async (query) => {
      const { apiKey } = await register('axle')
      expect((await ask(`/v1/events?${query}`, apiKey)).status).toBe(400)
    },
  )

  it('end the wait of a request, which holds no transaction of the database', async () => {
    const { apiKey, accountId } = await register('awl')
    // No wait ends by itself, however long this test takes.
    stoppedAt = new Date()
    let answered = 0
    const asked = Array.from({ length: 5 }, async () => {
      const response = await ask('/v1/events?wait=30', apiKey)
      answered += 1
      return response
    })
    // Four of an account may wait: the refusal of the fifth says that they do.
    expect((await Promise.race(asked)).status).toBe(429)
    // Jobs of the service have transactions too, but short ones.
    await pollUntil(async () => (await countIdleTransactions()) === 0, 'a moment without a transaction')
    expect(answered).toBe(1)
    const id = await settle(accountId)
    const pages = (await Promise.all(asked)).filter(({ status }) => status === 200)
    expect(pages).toHaveLength(4)
    for (const response of pages) expect(idsOf(page.parse(await response.json()))).toEqual([id])
  })

  it('are waited for no longer than asked', async () => {
    const { apiKey } = await register('adze')
    expect(await read(apiKey, 'wait=1')).toEqual({ events: [], cursor: '0', hasMore: false })
  })

  describe('npm run listen', () => {
    const children: ChildProcess[] = []
    afterEach(async () => {
      for (const child of children.splice(0)) {
        const ended = once(child, 'exit')
        child.kill('SIGTERM')
        await ended
      }
    })
    const start = (...args: string[]) => {
      const { flags, file } = findProgram(new URL('../../src/main.ts', import.meta.url))
      const child = spawnChild(
        [process.execPath, ...flags, file, 'listen', '--url', service.url, ...args],
        {},
      )
      children.push(child)
      const [printed, notes]: [string[], string[]] = [[], []]
      createInterface({ input: child.stdout }).on('line', (line) => printed.push(line))
      createInterface({ input: child.stderr }).on('line', (line) => notes.push(line))
      return { child, printed, notes }
    }

    it('prints events as they happen, and forwards them as signed webhook messages', async () => {
      const received: { readonly headers: IncomingHttpHeaders; readonly body: string }[] = []
      const hook = createServer(async (request, response) => {
        const chunks: Buffer[] = []
        for await (const chunk of request) chunks.push(Buffer.from(chunk))
        received.push({ headers: request.headers, body: Buffer.concat(chunks).toString('utf8') })
        response.writeHead(204).end()
      })
      await new Promise<void>((resolve) => hook.listen(0, '127.0.0.1', resolve))
      const address = hook.address()
      const port = typeof address === 'object' && address !== null ? address.port : 0

      const { apiKey, accountId } = await register('arch')
      await settle(accountId)
      const { printed, notes } = start(
        '--key',
        apiKey,
        '--forward',
        `http://127.0.0.1:${port}/hook`,
        '--cursor',
        '0',
      )
      await pollUntil(
        () => printed.length === 1,
        'the first event',
        () => notes,
      )
      const id = await settle(accountId)
      const isSecond = () => received.length === 2 && printed.length === 2
      await pollUntil(isSecond, 'the second event', () => ({ received, printed, notes }))
      expect(printed[1]).toContain('settlement.confirmed')
      expect(printed[1]).toContain(id)
      const secret = notes.find((line) => line.startsWith('Signed with '))?.slice('Signed with '.length) ?? ''
      const { headers = {}, body = '' } = received[1] ?? {}
      const signed = readHeaders(headers)
      expect(new Webhook(secret).verify(body, signed)).toMatchObject({
        type: 'settlement.confirmed',
        data: { id },
      })
      hook.close()
      hook.closeAllConnections()
    })

    it('ends with a sentence for an invalid key, and with its usage for an unknown option', async () => {
      const wrong = start('--key', 'qtn_sk_wrong')
      expect(await once(wrong.child, 'close')).toEqual([1, null])
      expect(wrong.notes.join()).toContain('The service answered 401')
      const unknown = start('--keys', 'x')
      expect(await once(unknown.child, 'close')).toEqual([1, null])
      expect(unknown.notes.join()).toMatch(/Usage: node \S+main\.\w+ listen/)
      children.splice(0)
    })
  })

  it('are posted to a plain HTTP webhook of a network that the operator allows', async () => {
    const received: string[] = []
    const hook = createServer((request, response) => {
      received.push(String(request.headers['webhook-signature']))
      response.writeHead(204).end()
    })
    await new Promise<void>((resolve) => hook.listen(0, '127.0.0.1', resolve))
    const address = hook.address()
    const port = typeof address === 'object' && address !== null ? address.port : 0
    const { apiKey, accountId } = await register('apse')
    const set = await ask('/dashboard/webhook', apiKey, { webhookUrl: `http://localhost:${port}/hook` })
    expect(set.status).toBe(200)
    expect(await (await ask('/dashboard/webhook/test', apiKey, {})).json()).toMatchObject({ success: true })
    await settle(accountId)
    await pollUntil(
      () => received.length === 2,
      'the event',
      () => received,
    )
    const refused = await ask('/dashboard/webhook', apiKey, { webhookUrl: 'http://10.0.0.1/hook' })
    expect(refused.status).toBe(400)
    const list = async (query: string) =>
      z
        .object({ deliveries: z.array(z.object({ status: z.string() })) })
        .parse(await (await ask(`/dashboard/webhook/deliveries?${query}`, apiKey)).json()).deliveries
    await pollUntil(async () => (await list('status=delivered')).length === 1, 'the delivery to be noted')
    expect(await list('status=failed')).toEqual([])
    hook.close()
    hook.closeAllConnections()
  })
})
