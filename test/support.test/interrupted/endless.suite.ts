import { createServer } from 'node:http'
import { it } from 'vitest'
import { startAnvil } from '../../support/evm/anvil.js'
import { listenOnLoopback } from '../../support/listenOnLoopback.js'
import { startTestRedis } from '../../support/redis.js'
import { makeTemporaryFolder } from '../../support/temporaryFolder.js'

it('starts what tests start, and never ends', async () => {
  const anvil = await startAnvil({ chainId: 1 })
  const redis = await startTestRedis()
  const { url } = await listenOnLoopback(createServer())
  const report = {
    worker: process.pid,
    folder: await makeTemporaryFolder('interrupted-'),
    // Of a child, of another and of the worker itself.
    ports: [anvil.port, ...(redis?.isOwn ? [redis.port] : []), Number(new URL(url).port)],
  }
  process.stdout.write(`started ${JSON.stringify(report)}\n`)
  await new Promise(() => undefined)
})
