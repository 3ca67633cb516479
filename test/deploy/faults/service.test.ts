import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import type { Core } from '../../../src/compose.js'
import { openCore } from '../../support/core.js'
import { pollUntil } from '../../support/pollUntil.js'
import { useTestDatabase } from '../../support/postgres.js'
import { findPromtool } from '../../support/promtool.js'
import { startTestRedis, type TestRedis } from '../../support/redis.js'
import { overTcp, startTcpProxy, type TcpProxy } from '../../support/tcpProxy.js'
import { expectAlert } from '../expectAlert.js'
import { type Observed, observe } from '../observe.js'

/* What happens to the stores of an instance. */

const promtool = (await findPromtool()) ?? ''
const redis: TestRedis | null = await startTestRedis()
afterAll(() => redis?.stop())

describe.skipIf(promtool === '' || redis === null)('the alert', () => {
  const database = useTestDatabase({ isSandbox: true })
  let databaseNetwork: TcpProxy
  let redisNetwork: TcpProxy
  let core: Core
  let databaseUrl: string
  let service: Observed

  beforeAll(async () => {
    databaseNetwork = await startTcpProxy(Number(new URL(database.url).port))
    redisNetwork = await startTcpProxy(redis?.port ?? 0)
    const redisUrl = new URL(redis?.url ?? 'redis://127.0.0.1')
    redisUrl.port = String(redisNetwork.port)
    databaseUrl = overTcp(database.url, databaseNetwork.port)
    core = await openCore({
      databaseUrl,
      environment: { SANDBOX: 'true', REDIS_URL: redisUrl.href },
    })
    service = await observe(core, databaseUrl)
  })
  afterAll(async () => {
    await core.close()
    await databaseNetwork.close()
    await redisNetwork.close()
  })

  afterEach(async () => {
    await databaseNetwork.pass()
    await redisNetwork.pass()
  })

  it.each([
    { fault: 'refuses connections', inject: () => databaseNetwork.refuse() },
    { fault: 'does not answer', inject: async () => databaseNetwork.hang() },
  ])('QuittanceNotReady fires when the database $fault', async ({ inject }) => {
    const before = await service.scrapeUntil(['quittance_ready'], 1)
    await pollUntil(async () => (await service.app.inject('/ready')).statusCode === 200, 'a ready service')
    await inject()
    const during = await service.scrapeUntil(['quittance_ready'], 0)
    expect((await service.app.inject('/ready')).statusCode).toBe(503)
    await expectAlert(promtool, 'QuittanceNotReady', { before: [before], during: [during] })
  })

  it('QuittanceRedisDown fires when Redis does not answer', async () => {
    const before = await service.scrapeUntil(['quittance_limiter_degraded'], 0)
    redisNetwork.hang()
    const during = await service.scrapeUntil(['quittance_limiter_degraded'], 1)
    await expectAlert(promtool, 'QuittanceRedisDown', { before: [before], during: [during] })
  })
})
