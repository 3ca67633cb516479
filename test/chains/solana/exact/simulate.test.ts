import { Keypair } from '@solana/web3.js'
import { describe, expect, it } from 'vitest'
import { decodeBase58 } from '../../../../src/chains/common/base58.js'
import { tokenPrograms } from '../../../../src/chains/solana/encoding/tokenAccounts.js'
import type { Prepared } from '../../../../src/chains/solana/exact/prepare.js'
import { createSimulate } from '../../../../src/chains/solana/exact/simulate.js'
import type { Rpc } from '../../../../src/chains/solana/rpc/rpc.js'

const [payer, payTo, mint, source, destination] = Array.from({ length: 5 }, () =>
  Keypair.generate().publicKey.toBase58(),
) as [string, string, string, string, string]
const blockhashes = Array.from({ length: 150 }, () => Keypair.generate().publicKey.toBase58())
const [program = ''] = tokenPrograms
const amount = 1_000n

const tokenAccount = (owner: string, held: bigint) => {
  const data = Buffer.alloc(165)
  data.set(decodeBase58(mint) ?? [])
  data.set(decodeBase58(owner) ?? [], 32)
  data.writeBigUInt64LE(held, 64)
  data[108] = 1
  return { lamports: 1, owner: program, data }
}

/** A node at a slot, with the newest blockhashes of another one. */
const createNode = (at: { slot: number; listSlot: number; listed: readonly string[] }) => {
  const asked = { lists: 0 }
  const rpc: Pick<Rpc, 'getAccounts' | 'getRecentBlockhashes' | 'simulate'> = {
    getAccounts: async () => [
      tokenAccount(payer, amount),
      tokenAccount(payTo, 0n),
      { ...tokenAccount(payTo, 0n), data: Buffer.alloc(82) },
    ],
    getRecentBlockhashes: async () => {
      asked.lists += 1
      const entries = at.listed.map((hash) =>
        Buffer.concat([decodeBase58(hash) ?? Buffer.alloc(0), Buffer.alloc(8)]),
      )
      return { slot: at.listSlot, data: Buffer.concat([Buffer.alloc(8), ...entries]) }
    },
    simulate: async () => ({ succeeds: true, accounts: [tokenAccount(payTo, amount)], slot: at.slot }),
  }
  return { rpc, asked }
}

const prepare = (blockhash: string): Prepared => ({
  transaction: {
    keys: [],
    requiredSignatures: 2,
    signatures: [],
    message: Buffer.alloc(0),
    messageHash: '',
    blockhash,
    instructions: [],
    usesLookupTables: false,
  },
  transfer: { program, source, mint, destination, authority: payer, amount },
  payTo,
  authorizationId: '',
  unsigned: '',
})

describe('simulating', () => {
  it('asks once for the blockhashes of payments that are verified at once', async () => {
    const { rpc, asked } = createNode({ slot: 500, listSlot: 500, listed: blockhashes })
    const simulate = createSimulate(rpc)
    const seen = await Promise.all(blockhashes.slice(0, 3).map((hash) => simulate(prepare(hash))))
    expect(seen.map(({ blocksLeft }) => blocksLeft)).toEqual([150, 149, 148])
    expect(asked.lists).toBe(1)
  })

  it('counts the slots since the list, of which each may have had a block', async () => {
    const { rpc } = createNode({ slot: 502, listSlot: 500, listed: blockhashes })
    const { blocksLeft } = await createSimulate(rpc)(prepare(blockhashes[10] ?? ''))
    expect(blocksLeft).toBe(150 - 10 - 2)
  })

  it('asks again for a list that is slots behind, and for a blockhash that is newer than the list', async () => {
    const at = { slot: 500, listSlot: 500, listed: blockhashes.slice(5) }
    const { rpc, asked } = createNode(at)
    const simulate = createSimulate(rpc)
    await simulate(prepare(blockhashes[5] ?? ''))
    Object.assign(at, { slot: 505, listSlot: 505, listed: blockhashes })
    expect(await simulate(prepare(blockhashes[9] ?? ''))).toMatchObject({ failure: null, blocksLeft: 141 })
    const lists = asked.lists
    expect(lists).toBeGreaterThan(1)
    Object.assign(at, { listed: [mint, ...blockhashes] })
    expect(await simulate(prepare(mint))).toMatchObject({ failure: null, blocksLeft: 150 })
    expect(asked.lists).toBeGreaterThan(lists)
  })
})
