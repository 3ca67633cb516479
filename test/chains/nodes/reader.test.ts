import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { identifyEvm } from '../../../src/chains/evm/rpc/rpc.js'
import { createEndpointPool } from '../../../src/chains/nodes/endpointPool.js'
import { ResponseTooLargeError } from '../../../src/chains/nodes/httpClient.js'
import { createReader } from '../../../src/chains/nodes/reader.js'
import { createMemoryLogger } from '../../support/memoryLogger.js'
import { rejectionOf } from '../../support/rejectionOf.js'
import { createFakeEndpoint, type FakeEndpoint } from '../evm/rpc/fakeEndpoint.js'

const network = 'eip155:84532'

const openReader = async (endpoints: readonly FakeEndpoint[]) => {
  const logger = createMemoryLogger()
  const time = { monotonicMs: () => 1_000_000, unixSeconds: () => 1_000 }
  const pool = createEndpointPool(endpoints, { identity: identifyEvm(network), logger, time })
  await pool.probe()
  const read = createReader(pool, { network, logger, time })
  return {
    ask: () => read('eth_getBalance', ['0xpayer', 'latest'], z.string()),
    probe: pool.probe,
    listUp: () => pool.report().flatMap(({ host, isUp }) => (isUp ? [host] : [])),
    listReaders: async () => (await pool.findReaders()).map(({ name }) => name),
  }
}

/** The same at every endpoint, because it is about what a payer put on the chain. */
const unreadable = [
  ['of another form', () => 2 ** 60],
  ['too large', () => new ResponseTooLargeError('node')],
] as const

describe.each(unreadable)('an answer that is %s', (_what, answer) => {
  it('is a failed request, and takes no endpoint out of use', async () => {
    const endpoints = [createFakeEndpoint('first'), createFakeEndpoint('second')]
    const { ask, listUp, listReaders } = await openReader(endpoints)
    for (const endpoint of endpoints) endpoint.answer({ eth_getBalance: answer })
    for (let round = 0; round < 3; round++) {
      expect(await rejectionOf(ask())).toMatchObject({
        code: 'SERVICE_UNAVAILABLE',
        message: `What the endpoints of ${network} return cannot be read`,
      })
    }
    expect(listUp()).toEqual(['first', 'second'])
    expect(await listReaders()).toEqual(['first', 'second'])
  })

  it('is read from another endpoint that has a readable one, which is read from then', async () => {
    const [first, second] = [createFakeEndpoint('first'), createFakeEndpoint('second')]
    const { ask, listUp, listReaders } = await openReader([first, second])
    first.answer({ eth_getBalance: answer })
    expect(await ask()).toBe('0x1')
    expect(listUp()).toEqual(['first', 'second'])
    expect(await listReaders()).toEqual(['second', 'first'])
  })

  it('is a failure of the endpoint in a probe, which no payer controls', async () => {
    const [first, second] = [createFakeEndpoint('first'), createFakeEndpoint('second')]
    const { probe, listUp } = await openReader([first, second])
    first.answer({ eth_getBlockByNumber: answer })
    await probe()
    expect(listUp()).toEqual(['second'])
  })
})
