import { encodeAbiParameters, encodeEventTopics, type Hex, keccak256, pad } from 'viem'
import { describe, expect, it } from 'vitest'
import { formatAuthorizationId } from '../../../../src/chains/evm/exact/payload.js'
import { createRpc, type Log, type Receipt, type Rpc } from '../../../../src/chains/evm/rpc/rpc.js'
import { planBatch } from '../../../../src/chains/evm/transactions/batching/batch.js'
import { resolveSettlement } from '../../../../src/chains/evm/transactions/resolve.js'
import { silentLogger } from '../../../../src/platform/logger.js'
import type { SignedTransaction } from '../../../../src/ports/settlementJournal.js'
import type { Outcome } from '../../../../src/schemes/scheme.js'
import { randomAddress, randomHex } from '../../../support/evm/authorization.js'
import { usdcAbi } from '../../../support/evm/localChain.js'
import { createEoa } from '../../../support/evm/wallets.js'
import { settlement } from '../../../support/memoryJournal.js'

/* Settlements with several transactions: what each of them proves, and what it does not. */

const network = 'eip155:84532'
const asset = randomAddress()
const [payer, payTo] = [createEoa().address, createEoa().address]
const nonce = randomHex(32)
const signer = createEoa().account
const otherSigner = createEoa().account
const createdAt = new Date('2026-01-01T00:00:00Z')
const expiresAt = new Date('2026-01-01T00:05:00Z')
const headNumber = 1_000n

const [transferTopic = '0x'] = encodeEventTopics({ abi: usdcAbi, eventName: 'Transfer' })
const [usedTopic = '0x'] = encodeEventTopics({ abi: usdcAbi, eventName: 'AuthorizationUsed' })
const ownLogs = (value = 10_000n): readonly Log[] => [
  { address: asset, topics: [usedTopic, pad(payer), nonce], data: '0x' },
  {
    address: asset,
    topics: [transferTopic, pad(payer), pad(payTo)],
    data: encodeAbiParameters([{ type: 'uint256' }], [value]),
  },
]

const sign = async (
  account: typeof signer,
  number: number,
  payments: number,
  price = 1_000n,
): Promise<SignedTransaction> => {
  const call = { to: asset, data: randomHex(4) } as const
  const { to, data } = payments === 1 ? call : planBatch(Array.from({ length: payments }, () => call))
  const bytes = await account.signTransaction({
    chainId: 84_532,
    nonce: number,
    to,
    data,
    gas: 100_000n,
    maxFeePerGas: price,
    maxPriorityFeePerGas: 1n,
  })
  return { transaction: keccak256(bytes), bytes }
}

const [batch, replaced, alone, elsewhere] = await Promise.all([
  sign(signer, 5, 3),
  sign(signer, 5, 3, 2_000n),
  sign(signer, 6, 1),
  sign(otherSigner, 5, 1),
])
const stranger = randomHex(32)

/** `missed`: mined, and this payment's share of it failed. */
type Fate = 'paid' | 'missed' | 'reverted'

interface World {
  readonly mined: ReadonlyMap<SignedTransaction, Fate>
  /** What became of the authorization, as the token and its logs tell. */
  readonly authorization?: 'unused' | 'paid by a stranger' | 'cancelled' | 'unknown'
  /** How many numbers of each account were used 32 blocks ago. */
  readonly usedLongAgo?: ReadonlyMap<string, number>
  readonly now?: Date
}

const receiptOf = (transaction: Hex, fate: Fate): Receipt => ({
  transactionHash: transaction,
  blockHash: blockHash(990n),
  blockNumber: 990n,
  status: fate !== 'reverted',
  logs: fate === 'paid' ? [...ownLogs()] : [],
})

const blockHash = (number: bigint): Hex => `0x${number.toString(16).padStart(64, '0')}`

const script = ({ mined, authorization = 'unused', usedLongAgo, now = createdAt }: World) => {
  const sent: string[] = []
  const known = new Map(
    [...mined].map(([{ transaction }, fate]) => [transaction, receiptOf(`0x${transaction.slice(2)}`, fate)]),
  )
  if (authorization === 'paid by a stranger') known.set(stranger, receiptOf(stranger, 'paid'))
  if (authorization === 'cancelled') known.set(stranger, receiptOf(stranger, 'missed'))
  const isUsed = authorization === 'unused' ? 0n : 1n
  const rpc: Rpc = {
    ...createRpc(network, [], silentLogger),
    getReceipt: async (transaction) => known.get(transaction) ?? null,
    getBlock: async (at) => {
      const number = at === 'latest' ? headNumber : at
      return { number, hash: blockHash(number), timestamp: BigInt(Math.floor(now.getTime() / 1_000)) }
    },
    call: async () =>
      authorization === 'unknown'
        ? { succeeds: false, data: null, message: 'no answer' }
        : { succeeds: true, value: encodeAbiParameters([{ type: 'uint256' }], [isUsed]) },
    getLogs: async () =>
      ownLogs()
        .slice(0, 1)
        .map((log) => ({ ...log, transactionHash: stranger })),
    getTransactionCount: async (address, at) => (at === 'latest' ? 99 : (usedLongAgo?.get(address) ?? 0)),
    send: async (bytes) => {
      sent.push(bytes)
      return 'entered'
    },
  }
  return { rpc, sent }
}

const resolve = async (broadcasts: readonly SignedTransaction[], world: World) => {
  const { rpc, sent } = script(world)
  const row = settlement({
    authorizationId: formatAuthorizationId({ network, asset, from: payer, nonce }),
    network,
    asset,
    payer,
    payTo,
    amount: 10_000n,
    expiresAt,
    createdAt,
    state: 'pending',
    broadcasts,
  })
  const policy = { confirmations: 1, isCrossChecked: false, finalityDepth: 64, now: world.now ?? createdAt }
  return { outcome: await resolveSettlement(rpc, row, policy), sent }
}

const mined = (...entries: readonly (readonly [SignedTransaction, Fate])[]) => new Map(entries)
const confirmed = ({ transaction }: { readonly transaction: string }): Outcome => ({
  state: 'confirmed',
  transaction,
})
const pending = ({ transaction }: SignedTransaction): Outcome => ({ state: 'pending', transaction })
const longAfter = new Date(expiresAt.getTime() + 60_000)

interface Case {
  readonly of: readonly SignedTransaction[]
  readonly world: World
  readonly outcome: Partial<Outcome>
  /** What is sent once more. */
  readonly sends?: SignedTransaction
}

const cases: readonly (readonly [string, Case])[] = [
  [
    'its share of a batch failed, and its own transaction can still be mined',
    { of: [batch, alone], world: { mined: mined([batch, 'missed']) }, outcome: pending(alone), sends: alone },
  ],
  [
    'its share of a batch failed, and its own transaction was mined',
    {
      of: [batch, alone],
      world: { mined: mined([batch, 'missed'], [alone, 'paid']) },
      outcome: confirmed(alone),
    },
  ],
  [
    'the batch reverted, and its own transaction can still be mined',
    {
      of: [batch, alone],
      world: { mined: mined([batch, 'reverted']) },
      outcome: pending(alone),
      sends: alone,
    },
  ],
  [
    'its share of a batch failed, and its own transaction reverted',
    {
      of: [batch, alone],
      world: { mined: mined([batch, 'missed'], [alone, 'reverted']) },
      outcome: { state: 'failed', reason: 'invalid_exact_evm_transaction_failed' },
    },
  ],
  [
    'its share of a batch failed, and the batch had replaced another with its number',
    {
      of: [batch, replaced],
      world: { mined: mined([replaced, 'missed']) },
      outcome: { state: 'failed', reason: 'invalid_exact_evm_transaction_failed' },
    },
  ],
  [
    'the replaced transaction was mined in place of its replacement',
    { of: [batch, replaced], world: { mined: mined([batch, 'paid']) }, outcome: confirmed(batch) },
  ],
  [
    'the replacement was mined',
    { of: [batch, replaced], world: { mined: mined([replaced, 'paid']) }, outcome: confirmed(replaced) },
  ],
  [
    'neither the replaced transaction nor its replacement is mined',
    { of: [batch, replaced], world: { mined: mined() }, outcome: pending(replaced), sends: replaced },
  ],
  [
    'the older one paid after all, and the newer one reverted',
    {
      of: [batch, alone],
      world: { mined: mined([batch, 'paid'], [alone, 'reverted']) },
      outcome: confirmed(batch),
    },
  ],
  [
    'only the newer one reverted, and the older one of another account can still be mined',
    {
      of: [elsewhere, alone],
      world: { mined: mined([alone, 'reverted']) },
      outcome: pending(alone),
      sends: elsewhere,
    },
  ],
  [
    'the first was displaced, and the second paid',
    { of: [batch, alone], world: { mined: mined([alone, 'paid']) }, outcome: confirmed(alone) },
  ],
  [
    'a stranger executed it while its own transaction waits',
    {
      of: [batch, alone],
      world: { mined: mined([batch, 'missed']), authorization: 'paid by a stranger' },
      outcome: confirmed({ transaction: stranger }),
    },
  ],
  [
    'the payer cancelled it while its own transaction waits',
    {
      of: [batch, alone],
      world: { mined: mined([batch, 'missed']), authorization: 'cancelled' },
      outcome: { state: 'failed', reason: 'invalid_exact_evm_nonce_already_used' },
    },
  ],
  [
    'its share of a batch failed, and the nodes cannot tell of the authorization',
    {
      of: [batch, alone],
      world: { mined: mined([batch, 'missed']), authorization: 'unknown' },
      outcome: { state: 'pending' },
    },
  ],
  [
    'its share of a batch failed, its own transaction was never mined, and the authorization has ended',
    {
      of: [batch, alone],
      world: { mined: mined([batch, 'missed']), now: longAfter },
      outcome: { state: 'failed', reason: 'authorization_expired_unsettled' },
    },
  ],
  [
    'its share of a batch failed, and the number of its own transaction was taken long ago',
    {
      of: [batch, alone],
      world: { mined: mined([batch, 'missed']), usedLongAgo: new Map([[signer.address, 7]]) },
      outcome: { state: 'failed', reason: 'settlement_displaced' },
    },
  ],
  [
    'its share of a batch failed, and the number of its own transaction was taken a moment ago',
    {
      of: [batch, alone],
      world: { mined: mined([batch, 'missed']), usedLongAgo: new Map([[signer.address, 6]]) },
      outcome: pending(alone),
      sends: alone,
    },
  ],
]

describe('a settlement of which', () => {
  it.each(cases)('%s', async (_what, { of, world, outcome, sends }) => {
    const resolved = await resolve(of, world)
    expect(resolved.outcome).toMatchObject(outcome)
    expect(resolved.sent).toEqual(sends === undefined ? [] : [sends.bytes])
  })

  it('every order of the same transactions comes to the same, except for what is sent again', async () => {
    for (const [what, { of, world, outcome }] of cases) {
      const resolved = await resolve([...of].reverse(), world)
      expect(resolved.outcome.state, what).toBe(outcome.state)
    }
  })
})
