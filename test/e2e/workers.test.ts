import { once } from 'node:events'
import { readFile, rm } from 'node:fs/promises'
import { createServer } from 'node:net'
import { request } from 'undici'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { type Started, startProcess } from '../start/support.js'
import { randomAddress } from '../support/evm/authorization.js'
import { type LocalChain, startLocalChain } from '../support/evm/localChain.js'
import { exactPayment } from '../support/evm/payment.js'
import { createEoa } from '../support/evm/wallets.js'
import { trustedTest } from '../support/facilitator.js'
import { pollUntil } from '../support/pollUntil.js'
import { findProgram } from '../support/program.js'
import { patientTimeoutMs, type RpcProxy, startRpcProxy } from '../support/rpcProxy.js'
import { makeTemporaryFolder } from '../support/temporaryFolder.js'

const workers = 2
const limit = 6
const settled = z.object({ success: z.boolean(), transaction: z.string() })

let chain: LocalChain
let proxy: RpcProxy
let folder: string
let service: Started
let url: string

const start = (environment: Readonly<Record<string, string>>): Started => {
  const { flags, file } = findProgram(new URL('../../src/main.ts', import.meta.url))
  return startProcess([process.execPath, ...flags, file], {
    environment: {
      SANDBOX: 'false',
      HOST: '127.0.0.1',
      PORT: '0',
      WORKERS: String(workers),
      DATA_FOLDER: folder,
      EVM_RPC_URL_84532: proxy.url,
      EVM_PRIVATE_KEY: chain.facilitators[0]?.privateKey ?? '',
      EVM_RPC_TIMEOUT_MS: patientTimeoutMs,
      SETTLE_WAIT_SECONDS: '60',
      ...trustedTest,
      ...environment,
    },
  })
}

/** Process ids of all workers that have listened, oldest first. */
const listListening = (): readonly number[] =>
  [...service.text().matchAll(/"worker":(\d+),"msg":"service\.listening"/g)].map(([, pid]) => Number(pid))

const waitForListening = (count: number) =>
  pollUntil(
    () => listListening().length === count,
    `${count} workers that listen`,
    // What each did meanwhile.
    () => service.text().slice(-4_000),
  )

/** On a connection of its own, which the supervisor gives to the workers in turn. */
const get = async (path: string) => {
  const { statusCode, body } = await request(`${url}${path}`, { reset: true })
  return { status: statusCode, text: await body.text() }
}

/** Returns the answers to as many registrations as the limit allows, and some more. */
const registerFrom = async (address: string): Promise<readonly number[]> => {
  const statuses: number[] = []
  for (let sent = 0; sent < limit + 2 * workers; sent += 1) {
    const { statusCode, body } = await request(`${url}/register`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-forwarded-for': address },
      body: JSON.stringify({ email: `grace-${sent}@${address}.example.com`, projectName: 'Weather' }),
      reset: true,
    })
    await body.dump()
    statuses.push(statusCode)
  }
  return statuses
}

const settle = async (body: unknown, key: string) => {
  const headers = { 'content-type': 'application/json', 'idempotency-key': key }
  const answer = await fetch(`${url}/settle`, { method: 'POST', headers, body: JSON.stringify(body) })
  return settled.parse(await answer.json())
}

beforeAll(async () => {
  chain = await startLocalChain({ facilitatorCount: 1 })
  proxy = await startRpcProxy(chain.url)
  folder = await makeTemporaryFolder('workers-', { onDisk: true })
  service = start({ REGISTRATIONS_PER_ADDRESS_PER_HOUR: String(limit) })
  // Before the first one listens it makes the database and its schema, which takes a busy machine about a minute.
  const [, port] = await service.waitFor(/"port":(\d+),"worker"/)
  await waitForListening(workers)
  url = `http://127.0.0.1:${port}`
})
afterAll(async () => {
  service.child.kill('SIGKILL')
  await service.ended
  await proxy.stop()
  await chain.stop()
  await rm(folder, { recursive: true, force: true })
})

describe('two workers on the embedded database', () => {
  it('lose nothing of a settle when each is killed in the middle of it, and are replaced', async () => {
    const wallet = createEoa()
    await chain.mint([wallet.address], 1_000_000n)
    const payTo = randomAddress()
    const body = await exactPayment({ chain, wallet, payTo, amount: 25_000n })
    const release = proxy.hold('eth_sendRawTransaction')
    const lost = settle(body, 'payment-1').catch(() => 'no answer')
    await pollUntil(() => proxy.count('eth_sendRawTransaction') > 0, 'the transaction to be sent')
    // One after the other, so that one always listens.
    for (const [index, pid] of listListening().entries()) {
      process.kill(pid, 'SIGKILL')
      await waitForListening(workers + index + 1)
    }
    expect(await lost).toBe('no answer')
    release()
    await pollUntil(
      async () => (await settle(body, 'payment-1').catch(() => null))?.success,
      'the retry to succeed',
    )
    expect(await chain.balanceOf(payTo)).toBe(25_000n)
    expect(await settle(body, 'payment-2')).toMatchObject({ success: false })
    expect(service.text().match(/"msg":"worker\.ended"/g)).toHaveLength(workers)
  })

  it('answer a scrape of either with what both counted', async () => {
    for (let sent = 0; sent < 6; sent += 1) expect((await get('/health')).status).toBe(200)
    const counted = async () =>
      /facilitator_requests_total\{method="GET",endpoint="\/health",status="200"\} (\d+)/.exec(
        (await get('/metrics')).text,
      )?.[1]
    // Both are asked, each of which keeps its last answer for a second.
    for (let asked = 0; asked < workers; asked += 1) {
      await pollUntil(async () => (await counted()) === '6', 'the six requests to be counted', counted)
    }
    const areReady = async () => (await get('/metrics')).text.includes('quittance_ready 1\n')
    await pollUntil(areReady, 'both to be ready')
  })

  it('count one limit together', async () => {
    let statuses: readonly number[] = []
    // A worker whose supervisor stood still answers 503, and counts alone: the next round has an address of its own.
    for (let round = 1; round <= 5; round += 1) {
      statuses = await registerFrom(`198.51.100.${round}`)
      if (!statuses.includes(503)) break
    }
    expect(statuses).toEqual([...Array(limit).fill(statuses[0]), ...Array(2 * workers).fill(429)])
    expect(statuses[0]).toBeLessThan(300)
  })

  it('have glibc give freed blocks of 128 KiB back to the system', async () => {
    for (const pid of listListening().slice(-workers)) {
      const variables = (await readFile(`/proc/${pid}/environ`, 'utf8')).split('\0')
      expect(variables).toContain('MALLOC_MMAP_THRESHOLD_=131072')
    }
  })

  it('keep other processes from their data folder', async () => {
    const { code, output } = await start({}).ended
    expect(code).toBe(1)
    expect(output).toMatch(/DATA_FOLDER.*another process/i)
  })

  it('end on SIGTERM with their supervisor, after the last answer', async () => {
    service.child.kill('SIGTERM')
    const { code, output } = await service.ended
    expect(code).toBe(0)
    expect(output.match(/"msg":"service\.stopped"/g)).toHaveLength(workers)
    await expect(get('/health')).rejects.toThrow()
  })
})

it('a start whose first worker fails says why once, and ends', async () => {
  const taken = createServer().listen(0, '127.0.0.1')
  await once(taken, 'listening')
  try {
    const address = z.object({ port: z.number() }).parse(taken.address())
    const { code, output } = await start({ PORT: String(address.port) }).ended
    expect(code).toBe(1)
    expect(output.match(/"msg":"start\.failed"/g)).toHaveLength(1)
    expect(output).toContain(`port ${address.port} is in use by another program`)
  } finally {
    taken.close()
  }
})
