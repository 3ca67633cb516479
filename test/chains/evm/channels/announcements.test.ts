import { numberToHex } from 'viem'
import { describe, expect, it } from 'vitest'
import { createAnnouncements } from '../../../../src/chains/evm/channels/announcements.js'
import { topics } from '../../../../src/chains/evm/channels/contract.js'
import { createRpc } from '../../../../src/chains/evm/rpc/rpc.js'
import { RpcError } from '../../../../src/chains/nodes/endpoint.js'
import { silentLogger } from '../../../../src/platform/logger.js'
import { createFakeEndpoint, type FakeEndpoint, hashOf } from '../rpc/fakeEndpoint.js'

/* Which node is asked for announced withdrawals, and for which blocks its answer counts. */

const network = 'eip155:84532'
const channel = hashOf(7)
const announcement = {
  address: `0x${'11'.repeat(20)}`,
  topics: [topics.withdrawInitiated, channel],
  data: '0x',
}

/** Lists every announcement that it has, of which there is one in the block. */
const holding = (block: number, endpoint: FakeEndpoint, head: () => number): FakeEndpoint => {
  endpoint.answer({
    eth_getLogs: (params) => {
      const [{ fromBlock, toBlock }] = params as [{ fromBlock: string; toBlock: string }]
      const isHeld = block <= head() && Number(fromBlock) <= block && block <= Number(toBlock)
      return isHeld ? [announcement] : []
    },
  })
  return endpoint
}

const open = async (...endpoints: readonly FakeEndpoint[]) => {
  const rpc = createRpc(network, endpoints, silentLogger)
  await rpc.probe()
  return createAnnouncements(network, rpc)
}

const ask = { from: 90n, to: 100n, turn: 0 }
const whole = { channelIds: [channel], nextBlock: 101n }

describe('a query for announced withdrawals', () => {
  it('counts up to the newest block of the node that answers it', async () => {
    let head = 100
    const behind = holding(98, createFakeEndpoint('behind'), () => head)
    const log = await open(behind)
    head = 95
    behind.setHead(head)
    expect(await log.listAnnounced(ask)).toEqual({ channelIds: [], nextBlock: 96n })
    expect(await log.listAnnounced({ ...ask, from: 96n })).toEqual({ channelIds: [], nextBlock: 96n })
    head = 100
    behind.setHead(head)
    expect(await log.listAnnounced({ ...ask, from: 96n })).toEqual(whole)
  })

  it.each([
    ['has none of its blocks', (endpoint: FakeEndpoint) => endpoint.setHead(80)],
    [
      'does not answer',
      (endpoint: FakeEndpoint) =>
        endpoint.answer({ '*': () => new Error('connection reset'), eth_getLogs: () => [] }),
    ],
    [
      'refuses it',
      (endpoint: FakeEndpoint) =>
        endpoint.answer({ eth_getLogs: () => new RpcError(-32_000, 'too many blocks') }),
    ],
  ])('is answered by another node where the first one %s', async (_how, spoil) => {
    const [first, second] = ['one', 'other'].map((host) => holding(98, createFakeEndpoint(host), () => 100))
    if (first === undefined || second === undefined) throw new Error('There are two')
    const log = await open(first, second)
    spoil(first)
    for (const turn of [0, 1]) expect(await log.listAnnounced({ ...ask, turn })).toEqual(whole)
  })

  it('is put to another node in the next turn, since a gateway may answer that there are none', async () => {
    const emptying = holding(0, createFakeEndpoint('emptying'), () => 100)
    const log = await open(
      emptying,
      holding(98, createFakeEndpoint('honest'), () => 100),
    )
    const answers = [await log.listAnnounced(ask), await log.listAnnounced({ ...ask, turn: 1 })]
    expect(answers).toContainEqual(whole)
    expect(emptying.count('eth_getLogs')).toBe(1)
  })

  it('asks for fewer blocks where each node refuses them, or one does and the others are behind', async () => {
    const narrow = createFakeEndpoint('narrow')
    const log = await open(narrow, createFakeEndpoint('behind'))
    narrow.answer({
      eth_getLogs: (params) => {
        const [{ fromBlock, toBlock }] = params as [{ fromBlock: string; toBlock: string }]
        return Number(toBlock) - Number(fromBlock) > 4 ? new RpcError(-32_000, 'too many blocks') : []
      },
    })
    let answer = await log.listAnnounced(ask)
    for (let query = 0; answer === null && query < 20; query += 1) answer = await log.listAnnounced(ask)
    expect(answer?.nextBlock).toBeLessThan(96n)
    expect(answer?.nextBlock).toBeGreaterThan(90n)
  })

  it('fails where no node answers', async () => {
    const dead = createFakeEndpoint('dead')
    const log = await open(dead)
    dead.answer({ eth_getLogs: () => new Error('connection reset') })
    await expect(log.listAnnounced(ask)).rejects.toThrow('connection reset')
  })
})

it.each([
  { pace: 'four blocks a second', seconds: (block: number) => block / 4, recent: 1_200n },
  { pace: 'a block each two seconds', seconds: (block: number) => block * 2, recent: 150n },
  { pace: 'a block each twelve seconds', seconds: (block: number) => block * 12, recent: 64n },
  { pace: 'ten blocks a second', seconds: (block: number) => block / 10, recent: 1_500n },
  { pace: 'blocks of one time', seconds: () => 5, recent: 1_500n },
])('five minutes are $recent blocks of a chain with $pace', async ({ seconds, recent }) => {
  const node = createFakeEndpoint('node')
  const head = 20_000
  node.answer({
    eth_getBlockByNumber: (params) => {
      const [at] = params as [string]
      const number = at === 'latest' ? head : Number(at)
      return {
        number: numberToHex(number),
        hash: hashOf(number),
        timestamp: numberToHex(1_700_000_000 + Math.floor(seconds(number))),
      }
    },
  })
  const log = await open(node)
  expect(await log.readHead(300)).toEqual({ number: 20_000n, recent })
})
