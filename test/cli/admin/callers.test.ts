import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { callerReport } from '../../../src/protocol/operatorOverview.js'
import { runAdminCommand } from '../../support/adminCommand.js'
import { useTestDatabase } from '../../support/postgres.js'
import { startService, type TestService } from '../../support/service.js'

describe('npm run admin -- callers', () => {
  const database = useTestDatabase()
  const token: string = randomUUID()
  let service: TestService
  beforeAll(async () => {
    service = await startService({ databaseUrl: database.url, environment: { OPERATOR_TOKEN: token } })
  })
  afterAll(() => service.close())

  const run = (words: readonly string[], operatorToken = token) =>
    runAdminCommand(['callers', ...words], {
      DATABASE_URL: database.url,
      SANDBOX: 'false',
      ...(operatorToken === '' ? {} : { OPERATOR_TOKEN: operatorToken }),
    })

  it('ranks who asks and is refused most, as tables and as JSON', async () => {
    await fetch(`${service.url}/supported`)
    await fetch(`${service.url}/settle`, { method: 'POST' })
    const { code, output } = await run(['--url', service.url])
    expect(code).toBe(0)
    expect(output).toMatch(
      /^Most requests\nCALLER +REQUESTS +REFUSED +SETTLES +BUSY S +REASONS\n127\.0\.0\.1 /m,
    )
    expect(output).toMatch(/^Most refused\nCALLER .+\n127\.0\.0\.1 +\d+ +1 +1 /m)
    expect(output).toContain('Most time of the instance')
    expect(output).not.toContain(token)
    const asJson = await run(['--url', `${service.url}/`, '--json'])
    const report = callerReport.parse(JSON.parse(asJson.output))
    expect(report.mostRefused).toMatchObject([{ network: '127.0.0.1', refused: 1, settles: 1 }])
  })

  it('says what is missing', async () => {
    expect(await run(['--url', service.url], '')).toMatchObject({
      code: 1,
      output: expect.stringContaining('OPERATOR_TOKEN: is required'),
    })
    const refused = await run(['--url', service.url], randomUUID())
    expect(refused).toMatchObject({ code: 1, output: expect.stringContaining('refuses this OPERATOR_TOKEN') })
    const nowhere = await run(['--url', 'http://127.0.0.1:1'])
    expect(nowhere).toMatchObject({
      code: 1,
      output: expect.stringContaining('No instance answers at 127.0.0.1:1'),
    })
    expect(await run(['--url', 'file:///etc'])).toMatchObject({ code: 1 })
    for (const remote of [
      'http://facilitator.example',
      'http://8.8.8.8:8080',
      'http://[2606:4700::1111]',
      'http://[::ffff:8.8.8.8]',
      'http://[64:ff9b::808:808]',
    ]) {
      expect(await run(['--url', remote])).toMatchObject({
        code: 1,
        output: expect.stringContaining('must be https beyond this machine and its network'),
      })
    }
  })
})
