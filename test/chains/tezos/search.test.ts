import { afterEach, describe, expect, it } from 'vitest'
import { createBlockCache, findPosition, maxLoadedBlocks } from '../../../src/chains/tezos/blockSearch.js'
import type { Read } from '../../../src/chains/tezos/source.js'
import { hashText } from '../../support/tezos/base58.js'
import { batchOf, createTezosAccount, pay, usdt } from '../../support/tezos/payment.js'
import { startTezosChain, type TezosChain } from '../../support/tezos/tezosChain.js'
import { octezAt, openTezos, tzktAt } from './openChain.js'

const closers: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close()
})

const readFrom =
  (chain: TezosChain): Read =>
  async (path, shape) => {
    const response = await fetch(`${chain.url}${path}`)
    if (!response.ok) throw new Error(`HTTP ${response.status}`)
    return shape.parse(await response.json())
  }

const start = async (options: Parameters<typeof startTezosChain>[0]) => {
  const chain = await startTezosChain({ blockTimeMs: null, ...options })
  closers.push(() => chain.stop())
  return chain
}

const unknown = hashText('operation', 'unknown')
const secondsAgo = (seconds: number) => new Date(Date.now() - seconds * 1_000)

describe('the search of an operation in recent blocks', () => {
  it('ends at the age limit, and asks no block twice', async () => {
    const chain = await start({ history: 100 })
    const cache = createBlockCache(readFrom(chain))
    const search = () =>
      findPosition(cache, { head: chain.ledger.head(), operation: unknown, notBefore: secondsAgo(60) })
    expect(await search()).toBe('missing')
    const cold = chain.requests.length
    // 11 blocks of six seconds, and what was read ahead.
    expect(cold).toBeLessThanOrEqual(2 * 32)
    expect(await search()).toBe('missing')
    expect(chain.requests.length).toBe(cold)
    chain.mine()
    expect(await search()).toBe('missing')
    expect(chain.requests.length).toBe(cold + 2)
  })

  it('continues in the next look-up when the age limit is far away', async () => {
    const chain = await start({ history: 400 })
    const cache = createBlockCache(readFrom(chain))
    const search = () =>
      findPosition(cache, { head: chain.ledger.head(), operation: unknown, notBefore: secondsAgo(3_600) })
    expect(await search()).toBe('unfinished')
    expect(chain.requests.length).toBeLessThanOrEqual(2 * (maxLoadedBlocks + 16))
    expect(await search()).toBe('missing')
  })

  it('shares requests among concurrent look-ups', async () => {
    const chain = await start({ history: 30 })
    const cache = createBlockCache(readFrom(chain))
    const search = () =>
      findPosition(cache, { head: chain.ledger.head(), operation: unknown, notBefore: secondsAgo(60) })
    await Promise.all([search(), search(), search(), search()])
    expect(new Set(chain.requests).size).toBe(chain.requests.length)
  })

  it('forgets the oldest blocks when it remembers enough', async () => {
    const chain = await start({ history: 60 })
    const cache = createBlockCache(readFrom(chain), { blocks: 20, operations: 1_000 })
    const head = chain.ledger.head()
    await findPosition(cache, { head, operation: unknown, notBefore: secondsAgo(3_600) })
    const kept = chain.ledger.blocks().filter(({ hash }) => cache.find(hash) !== null)
    expect(kept.length).toBeLessThanOrEqual(20)
    expect(kept.length).toBeGreaterThan(10)
    expect(cache.find(head.hash)).not.toBeNull()
  })

  it('rejects a block that is not the one that was asked for', async () => {
    const chain = await start({ history: 10 })
    const [other] = chain.ledger.blocks()
    const read = readFrom(chain)
    const cache = createBlockCache((path, shape) =>
      path.endsWith('/header') ? read(`/chains/main/blocks/${other?.hash}/header`, shape) : read(path, shape),
    )
    const search = findPosition(cache, {
      head: chain.ledger.head(),
      operation: unknown,
      notBefore: secondsAgo(60),
    })
    await expect(search).rejects.toThrow('returned another block')
  })

  it('finds a payment in one request more when the block is known', async () => {
    const chain = await start({ blockTimeMs: 20 })
    chain.createToken(usdt)
    const [payer, merchant] = await Promise.all([createTezosAccount(chain), createTezosAccount(chain)])
    chain.mint(usdt, payer.address, 10_000n)
    const transaction = await pay(chain, payer, [
      batchOf(payer.address, { to: merchant.address, amount: 10_000 }),
    ])
    chain.pause()
    const requestsOf = async (sources: Readonly<Record<string, string>>) => {
      const { chain: reader, close } = await openTezos(sources)
      closers.push(close)
      const query = { transaction, asset: `${usdt}:0`, from: payer.address, to: merchant.address }
      const lookUp = () => reader.lookUp({ ...query, amount: 1n, notBefore: secondsAgo(60), hints: {} })
      await lookUp()
      const before = chain.requests.length
      expect(await lookUp()).toMatchObject({ state: 'successful' })
      return chain.requests.slice(before).map((path) => path.replace(/[Bo][1-9A-HJ-NP-Za-km-z]{50}/, '…'))
    }
    expect(await requestsOf(octezAt(chain.url))).toEqual([
      '/chains/main/blocks/head/header',
      '/chains/main/blocks/…/operations/3/0',
    ])
    expect(await requestsOf(tzktAt(chain.tzktUrl))).toEqual(['/v1/head', '/v1/operations/transactions/…'])
  })
})
