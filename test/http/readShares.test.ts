import { afterEach, describe, expect, it, vi } from 'vitest'
import type { DiscoveryUseCases } from '../../src/usecases/discovery/useCases.js'
import { pollUntil } from '../support/pollUntil.js'
import { testApp } from './support/app.js'

type Search = DiscoveryUseCases['searchResources']
type Page = Awaited<ReturnType<Search>>

const page: Page = {
  x402Version: 2,
  t402Version: 2,
  resources: [],
  partialResults: false,
  pagination: { limit: 20, cursor: null },
}
const queries: { readonly query: string; readonly end: (error?: Error) => void }[] = []
afterEach(() => {
  vi.useRealTimers()
  queries.length = 0
})

const open = async () => {
  const searchResources: Search = ({ query }) =>
    new Promise((resolve, reject) => {
      queries.push({ query, end: (error) => (error === undefined ? resolve(page) : reject(error)) })
    })
  const app = testApp({ discovery: { searchResources } })
  await app.ready()
  const search = (query: string, remoteAddress: string) =>
    app.inject({ url: `/discovery/search?query=${query}`, remoteAddress })
  const running = () => queries.map(({ query }) => query)
  return { app, search, running }
}
const waitFor = (count: number) => pollUntil(() => queries.length === count, `${count} searches`)

describe('long reads', () => {
  it('of one address run one at a time, and those of others at once', async () => {
    const { search, running } = await open()
    const hostile = [search('a1', '192.0.2.1'), search('a2', '192.0.2.1'), search('a3', '192.0.2.1')]
    await waitFor(1)
    const good = search('b1', '198.51.100.7')
    await waitFor(2)
    expect(running()).toEqual(['a1', 'b1'])
    queries[1]?.end()
    expect((await good).statusCode).toBe(200)
    expect(running()).toEqual(['a1', 'b1'])
    queries[0]?.end()
    await waitFor(3)
    queries[2]?.end()
    await waitFor(4)
    queries[3]?.end()
    const answers = await Promise.all(hostile)
    expect(answers.map(({ statusCode }) => statusCode)).toEqual([200, 200, 200])
  })

  it('of one IPv6 /48 are those of one address', async () => {
    const { search, running } = await open()
    const hostile = [search('a1', '2001:db8:1:1::1'), search('a2', '2001:db8:1:2::1')]
    const good = search('b1', '2001:db8:2::1')
    await waitFor(2)
    expect(running()).toEqual(['a1', 'b1'])
    queries[0]?.end()
    await waitFor(3)
    for (const { end } of queries) end()
    await Promise.all([...hostile, good])
  })

  it('that fail free their place', async () => {
    const { search } = await open()
    const [failing, next] = [search('a1', '192.0.2.1'), search('a2', '192.0.2.1')]
    await waitFor(1)
    queries[0]?.end(new Error('the database is down'))
    expect((await failing).statusCode).toBe(500)
    await waitFor(2)
    queries[1]?.end()
    expect((await next).statusCode).toBe(200)
  })

  it('of callers that left keep their place while they run, and none otherwise', async () => {
    const { app, search } = await open()
    const address = await app.listen({ port: 0, host: '127.0.0.1' })
    const leave = new AbortController()
    const left = Promise.allSettled(
      ['a1', 'a2', 'a3'].map((query) =>
        fetch(`${address}/discovery/search?query=${query}`, { signal: leave.signal }),
      ),
    )
    await waitFor(1)
    leave.abort()
    await left
    const next = search('a4', '127.0.0.1')
    for (let turn = 0; turn < 20; turn += 1) await new Promise(setImmediate)
    expect(queries).toHaveLength(1)
    queries[0]?.end()
    // Those that left may be begun before the service knows it.
    await pollUntil(() => {
      for (const { query, end } of queries) if (query !== 'a4') end()
      return queries.some(({ query }) => query === 'a4')
    }, 'the search of the caller that stayed')
    queries.at(-1)?.end()
    expect((await next).statusCode).toBe(200)
    await app.close()
  })

  it('beyond 32 that wait are refused, and others are not', async () => {
    const { search } = await open()
    const seen: { readonly statusCode: number; readonly body: string; readonly retryAfter: unknown }[] = []
    const asked = Array.from({ length: 40 }, async (_, index) => {
      const { statusCode, body, headers } = await search(`a${index}`, '192.0.2.1')
      seen.push({ statusCode, body, retryAfter: headers['retry-after'] })
    })
    await pollUntil(() => seen.length === 7, 'seven refusals')
    for (const { statusCode, body, retryAfter } of seen) {
      expect({ statusCode, retryAfter }).toEqual({ statusCode: 429, retryAfter: '1' })
      expect(JSON.parse(body)).toMatchObject({ code: 'RATE_LIMITED', operationalCode: 'SVC-2005' })
    }
    const good = search('b1', '198.51.100.7')
    await waitFor(2)
    queries[1]?.end()
    expect((await good).statusCode).toBe(200)
    queries[0]?.end()
    for (let count = 3; count <= 34; count += 1) {
      await waitFor(count)
      queries[count - 1]?.end()
    }
    await Promise.all(asked)
    expect(seen.slice(7).map(({ statusCode }) => statusCode)).toEqual(Array(33).fill(200))
  })

  it('that have waited for five seconds are refused', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    const { search, running } = await open()
    const [first, late] = [search('a1', '192.0.2.1'), search('a2', '192.0.2.1')]
    for (let turn = 0; queries.length < 1 && turn < 100_000; turn += 1) await new Promise(setImmediate)
    for (let turn = 0; turn < 20; turn += 1) await new Promise(setImmediate)
    vi.advanceTimersByTime(5_000)
    expect((await late).statusCode).toBe(429)
    queries[0]?.end()
    expect((await first).statusCode).toBe(200)
    expect(running()).toEqual(['a1'])
  })
})
