import { encodeAbiParameters, encodeEventTopics, type Hex, keccak256, pad } from 'viem'
import { describe, expect, it } from 'vitest'
import { createRpc, type Rpc } from '../../../../src/chains/evm/rpc/rpc.js'
import type { Log, Receipt } from '../../../../src/chains/evm/rpc/wireShapes.js'
import { type ResolvePolicy, resolveSettlement } from '../../../../src/chains/evm/transactions/resolve.js'
import { silentLogger } from '../../../../src/platform/logger.js'
import type { SignedTransaction } from '../../../../src/ports/settlementJournal.js'
import type { Outcome } from '../../../../src/schemes/scheme.js'
import { randomAddress, randomHex } from '../../../support/evm/authorization.js'
import { readToyJudge, toyAbi, toyClaim, toyReasons } from '../../../support/evm/toyCall.js'
import { createEoa } from '../../../support/evm/wallets.js'
import { settlement } from '../../../support/memoryJournal.js'
import { isSharedByAny, multicall } from '../batchContracts.js'
import { createFakeEndpoint } from '../rpc/fakeEndpoint.js'

/* Settlements with several transactions: what each proves. */

const network = 'eip155:84532'
const toy = randomAddress()
const [payer, payTo] = [createEoa().address, createEoa().address]
const id = randomHex(32)
const signer = createEoa().account
const otherSigner = createEoa().account
const createdAt = new Date('2026-01-01T00:00:00Z')
// The toy's deadline is inclusive: the row expires one second later.
const lastSecond = BigInt(Date.parse('2026-01-01T00:04:59Z') / 1_000)
const expiresAt = new Date('2026-01-01T00:05:00Z')
const headNumber = 1_000n
const finalityDepth = 64
const finalBlock = headNumber - BigInt(finalityDepth)

const [settledTopic = '0x'] = encodeEventTopics({ abi: toyAbi, eventName: 'Settled' })
const settledLog: Log = {
  address: toy,
  topics: [settledTopic, id, `0x${pad(payTo).slice(2).toLowerCase()}`],
  data: encodeAbiParameters([{ type: 'uint256' }], [10_000n]),
}

const sign = async (
  account: typeof signer,
  number: number,
  payments: number,
  price = 1_000n,
): Promise<SignedTransaction> => {
  const call = { id: 'payment', to: toy, data: randomHex(4) } as const
  const { to, data } = payments === 1 ? call : multicall.plan(Array.from({ length: payments }, () => call))
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

/** `missed`: mined, but this payment's call failed. */
type Fate = 'paid' | 'missed' | 'reverted'

interface World {
  readonly mined: ReadonlyMap<SignedTransaction, Fate>
  /** The payment's state, from the contract's state and logs. */
  readonly payment?: 'unused' | 'paid by another account' | 'withdrawn' | 'unknown'
  /** Transaction counts of 32 blocks ago. */
  readonly usedLongAgo?: ReadonlyMap<string, number>
  readonly now?: Date
  /** The block of all receipts; a final one by default. */
  readonly minedIn?: bigint
}

const receiptOf = (transaction: Hex, fate: Fate, receiptBlock: bigint): Receipt => ({
  transactionHash: transaction,
  blockHash: blockHash(receiptBlock),
  blockNumber: receiptBlock,
  status: fate !== 'reverted',
  logs: fate === 'paid' ? [settledLog] : [],
})

const blockHash = (number: bigint): Hex => `0x${number.toString(16).padStart(64, '0')}`

const script = ({ mined, payment = 'unused', usedLongAgo, now = createdAt, minedIn = finalBlock }: World) => {
  const sent: string[] = []
  const known = new Map(
    [...mined].map(([{ transaction }, fate]) => [
      transaction,
      receiptOf(`0x${transaction.slice(2)}`, fate, minedIn),
    ]),
  )
  if (payment === 'paid by another account') known.set(stranger, receiptOf(stranger, 'paid', minedIn))
  if (payment === 'withdrawn') known.set(stranger, receiptOf(stranger, 'missed', minedIn))
  const isUsed = payment === 'unused' ? 0n : 1n
  const rpc: Rpc = {
    ...createRpc(network, [], silentLogger),
    getReceipt: async (transaction) => known.get(transaction) ?? null,
    getBlock: async (at) => {
      const number = at === 'latest' ? headNumber : at
      return { number, hash: blockHash(number), timestamp: BigInt(Math.floor(now.getTime() / 1_000)) }
    },
    call: async () =>
      payment === 'unknown'
        ? { succeeds: false, data: null, message: 'no answer' }
        : { succeeds: true, value: encodeAbiParameters([{ type: 'uint256' }], [isUsed]) },
    getLogs: async () => [{ ...settledLog, transactionHash: stranger }],
    getTransactionCount: async (address, at) => (at === 'latest' ? 99 : (usedLongAgo?.get(address) ?? 0)),
    send: async (bytes) => {
      sent.push(bytes)
      return 'entered'
    },
  }
  return { rpc, sent }
}

const resolve = async (
  broadcasts: readonly SignedTransaction[],
  world: World,
  {
    isReadOnly = false,
    isRepeatable = false,
    sendAgain,
  }: Partial<Pick<ResolvePolicy, 'isReadOnly' | 'sendAgain'>> & { readonly isRepeatable?: boolean } = {},
) => {
  const { rpc, sent } = script(world)
  const terms = { id, payer, payTo, value: 10_000n, firstSecond: 0n, lastSecond, sender: null, call: {} }
  const claim = toyClaim(network, toy, terms)
  expect(claim.expiresAt).toEqual(expiresAt)
  const consumedBy = sendAgain === undefined ? null : 'request:1'
  const row = settlement({ ...claim, createdAt, state: 'pending', broadcasts, consumedBy })
  const now = world.now ?? createdAt
  const policy = {
    confirmations: 1,
    isCrossChecked: false,
    finalityDepth,
    now,
    isReadOnly,
    isBatch: isSharedByAny,
    expiryMarginSeconds: 6,
    sendAgain,
  }
  const judge = { ...readToyJudge(rpc, row), isRepeatable }
  return { outcome: await resolveSettlement(rpc, row, judge, policy), sent }
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
  /** Rebroadcast transactions. */
  readonly sends?: SignedTransaction
}

const cases: readonly (readonly [string, Case])[] = [
  [
    'its call in a batch reverted, and its own transaction can still be mined',
    { of: [batch, alone], world: { mined: mined([batch, 'missed']) }, outcome: pending(alone), sends: alone },
  ],
  [
    'its call in a batch reverted, and its own transaction was mined',
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
    'its call in a batch reverted, and its own transaction reverted',
    {
      of: [batch, alone],
      world: { mined: mined([batch, 'missed'], [alone, 'reverted']) },
      outcome: { state: 'failed', reason: toyReasons.reverted },
    },
  ],
  [
    'its call in a batch reverted, and the batch had replaced another transaction with its nonce',
    {
      of: [batch, replaced],
      world: { mined: mined([replaced, 'missed']) },
      outcome: { state: 'failed', reason: toyReasons.reverted },
    },
  ],
  [
    'the replaced transaction was mined instead of its replacement',
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
    'the older one paid, and the newer one reverted',
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
    'another account executed it while its own transaction is pending',
    {
      of: [batch, alone],
      world: { mined: mined([batch, 'missed']), payment: 'paid by another account' },
      outcome: confirmed({ transaction: stranger }),
    },
  ],
  [
    'the id was cancelled while its own transaction is pending',
    {
      of: [batch, alone],
      world: { mined: mined([batch, 'missed']), payment: 'withdrawn' },
      outcome: { state: 'failed', reason: toyReasons.void },
    },
  ],
  [
    'its call in a batch reverted, and the nodes cannot read the payment',
    {
      of: [batch, alone],
      world: { mined: mined([batch, 'missed']), payment: 'unknown' },
      outcome: { state: 'pending' },
    },
  ],
  [
    'its call in a batch reverted, its own transaction was never mined, and the deadline has passed',
    {
      of: [batch, alone],
      world: { mined: mined([batch, 'missed']), now: longAfter },
      outcome: { state: 'failed', reason: toyReasons.expired },
    },
  ],
  [
    'its call in a batch reverted, and the nonce of its own transaction was used at final depth',
    {
      of: [batch, alone],
      world: { mined: mined([batch, 'missed']), usedLongAgo: new Map([[signer.address, 7]]) },
      outcome: { state: 'failed', reason: 'settlement_displaced' },
    },
  ],
  [
    'its call in a batch reverted, and the nonce of its own transaction was used recently',
    {
      of: [batch, alone],
      world: { mined: mined([batch, 'missed']), usedLongAgo: new Map([[signer.address, 6]]) },
      outcome: pending(alone),
      sends: alone,
    },
  ],
]

describe('a consumed row whose nonce another program used', () => {
  const displaced = { mined: mined(), usedLongAgo: new Map([[signer.address, 7]]) }
  const again = randomHex(32)
  const resolveDisplaced = async (broadcasts: readonly SignedTransaction[]) => {
    const { outcome } = await resolve(broadcasts, displaced, { sendAgain: async () => again })
    return outcome
  }

  it('is sent again, however often its fee was raised', async () => {
    const prices = [1_000n, 2_000n, 3_000n, 4_000n, 5_000n]
    const raised = await Promise.all(prices.map((price) => sign(signer, 6, 1, price)))
    expect(await resolveDisplaced(raised)).toEqual({ state: 'pending', transaction: again })
  })

  it('fails where the contract would execute its call again: a second transaction could pay twice', async () => {
    const { outcome } = await resolve([await sign(signer, 6, 1)], displaced, {
      isRepeatable: true,
      sendAgain: async () => again,
    })
    expect(outcome).toMatchObject({ state: 'failed', reason: 'settlement_displaced' })
  })

  it('is given up after the fifth nonce', async () => {
    const nonces = [2, 3, 4, 5, 6]
    const sent = await Promise.all(nonces.map((nonce) => sign(signer, nonce, 1)))
    expect(await resolveDisplaced(sent)).toMatchObject({ state: 'failed', reason: 'settlement_displaced' })
  })
})

describe('a failure', () => {
  const shallow = finalBlock + 1n
  it.each<readonly [string, Case]>([
    [
      'of a reverted transaction',
      {
        of: [alone],
        world: { mined: mined([alone, 'reverted']), minedIn: shallow },
        outcome: pending(alone),
      },
    ],
    [
      'of a transaction without the payment',
      { of: [alone], world: { mined: mined([alone, 'missed']), minedIn: shallow }, outcome: pending(alone) },
    ],
    [
      'of a withdrawn payment',
      {
        of: [alone],
        world: { mined: mined(), payment: 'withdrawn', minedIn: shallow },
        outcome: pending(alone),
      },
    ],
  ])('%s counts only in a final block, and nothing is sent again meanwhile', async (_what, { of, world }) => {
    const early = await resolve(of, world)
    expect(early).toEqual({ outcome: pending(alone), sent: [] })
    const late = await resolve(of, { ...world, minedIn: finalBlock })
    expect(late.outcome).toMatchObject({ state: 'failed' })
  })
})

describe('a failure that one endpoint proves', () => {
  /** The reading endpoint has a final revert; a second healthy one has what it has. */
  const resolveBeside = async (second: Partial<Rpc>, isCrossChecked: boolean) => {
    const world = { mined: mined([alone, 'reverted']) }
    const { rpc: first } = script(world)
    const endpoints = ['first', 'second'].map(createFakeEndpoint)
    const rpc: Rpc = {
      ...first,
      endpoints,
      listWitnesses: () => endpoints,
      viewOf: (endpoint) => ({
        ...first,
        ...(endpoint === endpoints[1] ? second : {}),
        endpoints: [endpoint],
        listWitnesses: () => [endpoint],
      }),
    }
    const terms = { id, payer, payTo, value: 10_000n, firstSecond: 0n, lastSecond, sender: null, call: {} }
    const row = settlement({
      ...toyClaim(network, toy, terms),
      createdAt,
      state: 'pending',
      broadcasts: [alone],
    })
    const policy = {
      confirmations: 1,
      isCrossChecked,
      finalityDepth,
      now: createdAt,
      isReadOnly: false,
      isBatch: isSharedByAny,
      expiryMarginSeconds: 6,
    }
    return await resolveSettlement(rpc, row, readToyJudge(first, row), policy)
  }
  const paid: Partial<Rpc> = {
    getReceipt: async (transaction) => receiptOf(transaction, 'paid', finalBlock),
  }
  const ignorant: Partial<Rpc> = {
    getReceipt: async () => null,
    call: async () => ({ succeeds: false, data: null, message: 'missing trie node' }),
  }
  const broken: Partial<Rpc> = { getReceipt: () => Promise.reject(new Error('no answer')) }
  const unmined: Partial<Rpc> = { getReceipt: async () => null }

  it.each<readonly [string, Partial<Rpc>, boolean, Outcome['state']]>([
    ['has the same evidence', {}, false, 'failed'],
    ['has the same evidence, from the cross-check amount on', {}, true, 'failed'],
    ['has a payment', paid, false, 'pending'],
    ['has a payment, from the cross-check amount on', paid, true, 'pending'],
    ['would still mine it', unmined, false, 'pending'],
    ['cannot tell', ignorant, false, 'failed'],
    ['cannot tell, from the cross-check amount on', ignorant, true, 'pending'],
    ['does not answer', broken, false, 'failed'],
    ['does not answer, from the cross-check amount on', broken, true, 'pending'],
  ])('while another %s', async (_what, second, isCrossChecked, state) => {
    expect((await resolveBeside(second, isCrossChecked)).state).toBe(state)
  })
})

describe('a settlement of which', () => {
  it.each(cases)('%s', async (_what, { of, world, outcome, sends }) => {
    const resolved = await resolve(of, world)
    expect(resolved.outcome).toMatchObject(outcome)
    expect(resolved.sent).toEqual(sends === undefined ? [] : [sends.bytes])
    const read = await resolve(of, world, { isReadOnly: true })
    expect(read.outcome).toEqual(resolved.outcome)
    expect(read.sent).toEqual([])
  })

  it('the order of the transactions only affects what is rebroadcast', async () => {
    for (const [what, { of, world, outcome }] of cases) {
      const resolved = await resolve([...of].reverse(), world)
      expect(resolved.outcome.state, what).toBe(outcome.state)
    }
  })
})
