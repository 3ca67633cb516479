import fc from 'fast-check'
import { numberToHex } from 'viem'
import { describe, expect, it } from 'vitest'
import { findUseBlock, readAllReceipts } from '../../../../src/chains/evm/permit2/findUse.js'
import { createLogMemory } from '../../../../src/chains/evm/rpc/logMemory.js'
import { createRpc, type Rpc } from '../../../../src/chains/evm/rpc/rpc.js'
import type { Receipt } from '../../../../src/chains/evm/rpc/wireShapes.js'
import { silentLogger } from '../../../../src/platform/logger.js'
import { randomAddress, randomHex } from '../../../support/evm/authorization.js'

const permit = { from: randomAddress(), nonce: 0x105n }
const word = (bit: bigint) => numberToHex(1n << bit, { size: 32 })

/** A chain in which the nonce was used in one block, and whose nodes have the state from another one on. */
const openChain = (usedIn: bigint, { oldestState = 0n }: { readonly oldestState?: bigint } = {}) => {
  const asked: bigint[] = []
  const chain = { usedIn }
  const rpc: Rpc = {
    ...createRpc('eip155:1', [], silentLogger),
    logMemory: createLogMemory(),
    call: async ({ at }) => {
      if (typeof at !== 'bigint') throw new Error('No block is stated')
      asked.push(at)
      if (at < oldestState) return { succeeds: false, data: null, message: 'missing trie node' }
      // Bit 4 is another nonce of the same word.
      return { succeeds: true, value: at >= chain.usedIn ? word(5n) : word(4n) }
    },
  }
  return { rpc, asked, chain }
}

describe('findUseBlock', () => {
  it('returns the block in which the nonce was used, in a bounded number of calls', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.bigInt({ min: 1n, max: 2n ** 40n }),
        fc.bigInt({ min: 0n, max: 2n ** 40n }),
        async (usedIn, later) => {
          const { rpc, asked } = openChain(usedIn)
          expect(await findUseBlock(rpc, permit, usedIn + later)).toBe(usedIn)
          expect(asked.length).toBeLessThanOrEqual(2 * 42)
        },
      ),
    )
  })

  it('needs no state much older than the use', async () => {
    const { rpc } = openChain(999_990n, { oldestState: 999_900n })
    expect(await findUseBlock(rpc, permit, 1_000_000n)).toBe(999_990n)
  })

  it('cannot tell where no node has the state of the time, nor before the nonce is used', async () => {
    const { rpc } = openChain(500n, { oldestState: 900n })
    expect(await findUseBlock(rpc, permit, 1_000n)).toBeNull()
    expect(await findUseBlock(openChain(500n).rpc, permit, 499n)).toBeNull()
    expect(await findUseBlock(openChain(0n).rpc, permit, 10n)).toBeNull()
    expect(await findUseBlock(openChain(0n).rpc, permit, -1n)).toBeNull()
  })

  it('remembers its progress, unless a reorganisation undid it', async () => {
    const { rpc, asked, chain } = openChain(1_000n)
    expect(await findUseBlock(rpc, permit, 1_000_000n)).toBe(1_000n)
    asked.length = 0
    expect(await findUseBlock(rpc, permit, 1_000_100n)).toBe(1_000n)
    expect(asked.length).toBe(2)
    chain.usedIn = 1_003n
    expect(await findUseBlock(rpc, permit, 1_000_200n)).toBe(1_003n)
  })
})

describe('readAllReceipts', () => {
  const hash = randomHex(32)
  const receiptOf = (transactionHash = randomHex(32), blockHash = hash): Receipt => ({
    transactionHash,
    blockHash,
    blockNumber: 7n,
    status: true,
    logs: [],
  })
  const openBlock = (receipts: readonly Receipt[], change: Partial<Rpc> = {}): Rpc => ({
    ...createRpc('eip155:1', [], silentLogger),
    getBlock: async () => ({
      number: 7n,
      hash,
      timestamp: 0n,
      transactions: receipts.map(({ transactionHash }) => transactionHash),
    }),
    getBlockReceipts: async () => receipts,
    getReceipt: async (transaction) =>
      receipts.find(({ transactionHash }) => transactionHash === transaction) ?? null,
    ...change,
  })
  const receipts = Array.from({ length: 23 }, () => receiptOf())

  it.each<[string, Partial<Rpc>]>([
    ['at once', {}],
    ['one by one where the node lacks the method', { getBlockReceipts: () => Promise.reject(new Error()) }],
    ['one by one where the node omits some', { getBlockReceipts: async () => receipts.slice(1) }],
  ])('reads them %s', async (_how, change) => {
    expect(await readAllReceipts(openBlock(receipts, change), 7n)).toEqual(receipts)
  })

  it.each<[string, Rpc]>([
    [
      'one is missing',
      openBlock(receipts, { getBlockReceipts: async () => null, getReceipt: async () => null }),
    ],
    ['one is of another block', openBlock([...receipts, receiptOf(randomHex(32), randomHex(32))])],
    ['the block is not known', openBlock(receipts, { getBlock: async () => null })],
    [
      'there are too many to read one by one',
      openBlock(
        Array.from({ length: 251 }, () => receiptOf()),
        { getBlockReceipts: async () => null },
      ),
    ],
  ])('returns null where %s', async (_what, rpc) => {
    expect(await readAllReceipts(rpc, 7n)).toBeNull()
  })
})
