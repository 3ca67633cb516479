import { createServer } from 'node:http'
import { afterEach, expect, it } from 'vitest'
import { fetchServed } from '../support/fetchServed.js'
import { type LoopbackServer, listenOnLoopback } from '../support/listenOnLoopback.js'

let server: LoopbackServer
afterEach(() => server.stop())

/** The statuses that it answers, in order; the last one is repeated. */
const answerWith = async (...statuses: readonly number[]) => {
  let requests = 0
  server = await listenOnLoopback(
    createServer((_request, response) => {
      const status = statuses[Math.min(requests, statuses.length - 1)] ?? 500
      requests += 1
      response.writeHead(status).end(`answer ${requests}`)
    }),
  )
  return { url: server.url, count: () => requests }
}

it('asks again while a service answers 503', async () => {
  const { url } = await answerWith(503, 503, 200)
  const response = await fetchServed(url)
  expect([response.status, await response.text()]).toEqual([200, 'answer 3'])
})

it.each([200, 400, 409, 429, 500])('takes %i for the answer', async (status) => {
  const { url, count } = await answerWith(status)
  expect((await fetchServed(url, { method: 'POST' })).status).toBe(status)
  expect(count()).toBe(1)
})
