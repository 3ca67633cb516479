import { randomUUID } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { Agent, Pool } from 'undici'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { systemClock } from '../../src/platform/clock.js'
import { type FacilitatorProcess, startFacilitator } from '../support/facilitator.js'
import { listenOnLoopback } from '../support/listenOnLoopback.js'
import { pollUntil } from '../support/pollUntil.js'
import { useTestDatabase } from '../support/postgres.js'

const clientCount = 100
// Together 100 requests per second, of which an instance that failed between two checks would lose five.
const pauseMs = { ofClient: 1_000, ofCheck: 100 }

/** Limits of these clients would break requests on a machine that stands still, as would a connection that both ends give up. */
const patientConnections = {
  connections: clientCount,
  connect: { timeout: 0 },
  headersTimeout: 0,
  bodyTimeout: 0,
  // It is far below that of the service, after which it may close a connection on which a request is under way.
  keepAliveMaxTimeout: 4_000,
}

/** The `status` of the last answer to `/ready`, or why there was none. */
type Readiness = 'ready' | 'unready' | 'stopping' | { readonly error: unknown }

const readinessAnswer = z.object({ status: z.enum(['ready', 'unready', 'stopping']) })

interface Backend {
  readonly pool: Pool
  readiness: Readiness
  /** Requests that were sent to it. */
  count: number
  /** How many of these have no answer yet. */
  underWay: number
  readonly watched: Promise<void>
  stop(): void
}

/**
 * Sends each request to the next backend whose last answer to `/ready` was 200, on connections that it keeps open. While there
 * is none, it holds the requests: a service whose database is slow for a moment is unready, and so is one for which a check
 * has failed. What a ready backend breaks is answered with 502 and never sent again.
 */
const startBalancer = async () => {
  const backends = new Set<Backend>()
  let turn = 0

  const watch = async (backend: Backend, isStopped: () => boolean): Promise<void> => {
    while (!isStopped()) {
      backend.readiness = await backend.pool
        .request({ method: 'GET', path: '/ready' })
        .then(async ({ body }) => readinessAnswer.parse(await body.json()).status)
        .catch((error: unknown) => ({ error }))
      await systemClock.sleep(pauseMs.ofCheck)
    }
  }
  /** Counts the request in the same turn: what waits until nothing is under way must not miss it. */
  const takeReady = (): Backend | null => {
    const ready = [...backends].filter(({ readiness }) => readiness === 'ready')
    const backend = ready[turn++ % ready.length]
    if (backend === undefined) return null
    backend.count += 1
    backend.underWay += 1
    return backend
  }
  const forward = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const backend = await pollUntil(takeReady, 'a backend to be ready', () =>
      [...backends].map(({ readiness }) => readiness),
    )
    try {
      await forwardTo(backend, request, response)
    } finally {
      backend.underWay -= 1
    }
  }
  const forwardTo = async (
    { pool }: Backend,
    request: IncomingMessage,
    response: ServerResponse,
  ): Promise<void> => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(Buffer.from(chunk))
    const { headers } = request
    const answer = await pool.request({
      method: request.method === 'POST' ? 'POST' : 'GET',
      path: request.url ?? '/',
      headers: {
        'content-type': 'application/json',
        ...(headers['idempotency-key'] === undefined
          ? {}
          : { 'idempotency-key': headers['idempotency-key'] }),
      },
      body: request.method === 'POST' ? Buffer.concat(chunks) : null,
    })
    response.writeHead(answer.statusCode, { 'content-type': 'application/json' })
    response.end(await answer.body.text())
  }

  const server = createServer((request, response) => {
    forward(request, response).catch((error: unknown) => response.writeHead(502).end(String(error)))
  })
  // Idle connections of clients are not what is tested.
  server.keepAliveTimeout = 0
  const { url, stop } = await listenOnLoopback(server)
  return {
    url,
    add: (backendUrl: string): Backend => {
      let isStopped = false
      const backend: Backend = {
        pool: new Pool(backendUrl, patientConnections),
        readiness: 'unready',
        count: 0,
        underWay: 0,
        watched: Promise.resolve(),
        stop: () => {
          isStopped = true
        },
      }
      const watched = watch(backend, () => isStopped)
      backends.add(backend)
      return Object.assign(backend, { watched })
    },
    remove: async (backend: Backend): Promise<void> => {
      backend.stop()
      backends.delete(backend)
      await backend.watched
      await backend.pool.destroy()
    },
    close: stop,
  }
}

const settled = z.object({ success: z.boolean() })

const settleAt = async (url: string): Promise<boolean> => {
  const response = await fetch(`${url}/settle`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: await (await fetch(`${url}/sandbox/payments/CAFE11`)).text(),
  })
  return response.ok && settled.parse(await response.json()).success
}

/** A database that does not answer in time is refused for a moment, or leaves an outcome open. No restart may add to these. */
const isOfDatabase = (text: string): boolean =>
  /"(?:code|errorReason)":"(?:SERVICE_UNAVAILABLE|IDEMPOTENCY_UNAVAILABLE|settlement_pending)"/.test(text) &&
  !text.includes('The service is restarting')

describe('two instances behind a load balancer', () => {
  const database = useTestDatabase({ isSandbox: true })
  let balancer: Awaited<ReturnType<typeof startBalancer>>
  const running = new Set<FacilitatorProcess>()

  beforeAll(async () => {
    balancer = await startBalancer()
  })
  afterAll(async () => {
    await Promise.all([...running].map((instance) => instance.kill()))
    await balancer.close()
  })

  const start = async () => {
    const lines: string[] = []
    const instance = await startFacilitator(
      {
        HOST: '127.0.0.1',
        SANDBOX: 'true',
        VERIFY_DEADLINE_SECONDS: '60',
        SETTLE_WAIT_SECONDS: '60',
        DATABASE_URL: database.url,
        KEY_ENCRYPTION_SECRET: 'instances-of-a-test-share-this-secret',
        RATE_LIMITS: 'off',
        SETTLES_PER_PAYER_PER_HOUR: '0',
        // Longer than a busy machine takes to answer a check: tests end it.
        SHUTDOWN_DELAY_SECONDS: '300',
      },
      (line) => lines.push(line),
    )
    running.add(instance)
    const backend = balancer.add(instance.url)
    await pollUntil(
      () => backend.readiness === 'ready',
      'the balancer to use the instance',
      () => backend.readiness,
    )
    return { instance, backend, lines }
  }
  const end = async ({ instance, backend }: Awaited<ReturnType<typeof start>>) => {
    process.kill(instance.pid, 'SIGTERM')
    // It is unready also for a moment in which its database is slow, in which it may have had no signal yet.
    await pollUntil(
      () => backend.readiness === 'stopping' && backend.underWay === 0,
      'the balancer to leave the instance',
      () => backend,
    )
    // A second signal ends the delay.
    await instance.stop()
    running.delete(instance)
    await balancer.remove(backend)
    return await instance.ended
  }

  it('are restarted one after the other, and no client notices', async () => {
    const agent = new Agent(patientConnections)
    const outcomes = new Map<string, number>()
    const count = (outcome: string) => outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1)
    /** Null: the answer has been counted as an error, or is that of a slow database. */
    const ask = async (path: string, body?: string): Promise<string | null> => {
      const { statusCode, body: answer } = await agent.request({
        origin: balancer.url,
        path,
        method: body === undefined ? 'GET' : 'POST',
        headers: { 'content-type': 'application/json', 'idempotency-key': randomUUID() },
        body: body ?? null,
      })
      const text = await answer.text()
      if (isOfDatabase(text)) return null
      count(statusCode === 200 ? `${path} 200` : `${path} ${statusCode} ${text}`)
      return statusCode === 200 ? text : null
    }
    const pay = async () => {
      const payment = await ask('/sandbox/payments/CAFE11')
      const answer = payment === null ? null : await ask('/settle', payment)
      if (answer !== null) count(settled.parse(JSON.parse(answer)).success ? 'settled' : answer)
    }

    let instances = [await start(), await start()]
    let isOver = false
    const client = async (_: unknown, index: number) => {
      while (!isOver) {
        try {
          await (index % 10 === 0 ? pay() : ask('/supported'))
        } catch (error) {
          count(String(error))
        }
        await systemClock.sleep(pauseMs.ofClient)
      }
    }
    const clients = Array.from({ length: clientCount }, client)
    for (const old of instances) {
      const replaced = old.backend.count
      await pollUntil(() => old.backend.count > replaced + clientCount, 'requests to the instance')
      expect(await end(old)).toBe(0)
      expect(old.lines.join('\n').match(/service\.(?:draining|stopping|stopped)/g)).toEqual([
        'service.draining',
        'service.stopping',
        'service.stopped',
      ])
      instances = [...instances.filter((each) => each !== old), await start()]
    }
    isOver = true
    await Promise.all(clients)
    expect([...outcomes.keys()].toSorted()).toEqual([
      '/sandbox/payments/CAFE11 200',
      '/settle 200',
      '/supported 200',
      'settled',
    ])
    expect(await Promise.all(instances.map(end))).toEqual([0, 0])
    await agent.close()
    // The limit is above the sum of its waits, whose errors say what was last seen: four processes start and end beside a
    // hundred clients.
  }, 900_000)

  it('end at the second SIGTERM without the delay', async () => {
    const { instance, backend, lines } = await start()
    process.kill(instance.pid, 'SIGTERM')
    await pollUntil(
      () => backend.readiness === 'stopping',
      'the check to fail',
      () => backend.readiness,
    )
    expect((await fetch(`${instance.url}/supported`)).status).toBe(200)
    // Its database is open too.
    await pollUntil(() => settleAt(instance.url), 'a payment to be settled while it drains')
    expect(lines.join('\n')).not.toContain('service.stopping')
    process.kill(instance.pid, 'SIGTERM')
    expect(await instance.ended).toBe(0)
    running.delete(instance)
    await balancer.remove(backend)
  })
})
