import { type Hex, parseTransaction } from 'viem'
import { afterEach, describe, expect, it, vi } from 'vitest'
import type { Outcome } from '../../../../../src/schemes/scheme.js'
import { callRpc } from '../../../../support/evm/jsonRpc.js'
import { killInstance } from '../../../../support/instances.js'
import { createMemoryLogger } from '../../../../support/memoryLogger.js'
import { shiftedClock } from '../../../../support/shiftedClock.js'
import { useScene } from '../../../../support/useScene.js'
import { createSigner, type EngineOptions, type ToySending, withoutBlock } from '../../engineScene.js'
import { eventually } from '../../scene.js'
import { openToyScene } from '../../toyScene.js'

/* Lanes: many transactions of one account in flight, and what can block them. */

const scene = useScene(openToyScene)

afterEach(async () => {
  vi.useRealTimers()
  await scene.chain.control.setAutomine(true)
})

const range = (length: number, from = 0) => Array.from({ length }, (_, index) => from + index)

const signerOf = ({ signers: [signer] }: ToySending) => {
  if (signer === undefined) throw new Error('There is no signer')
  return signer
}

interface Recorded {
  readonly nonce: number
  readonly transaction: string
  readonly bytes: Hex
  readonly replaces: string | null
}

const listRecorded = async ({ signers }: Pick<ToySending, 'signers'>): Promise<readonly Recorded[]> => {
  const { rows } = await scene.database.pool().query(
    `select nonce::int as nonce, transaction, bytes, replaces from broadcasts
     where signer = any($1) order by nonce, recorded_at`,
    [signers.map(({ address }) => address)],
  )
  return rows.map(({ nonce, transaction, bytes, replaces }) => ({ nonce, transaction, bytes, replaces }))
}

const listNonces = async (sending: ToySending) => (await listRecorded(sending)).map(({ nonce }) => nonce)

const whenRecorded = (sending: ToySending, count: number) =>
  eventually(async () => ((await listRecorded(sending)).length >= count ? true : null))

/** Starts settling payments one by one, each in its own transaction, without waiting for outcomes. */
const settleApart = async (
  sending: ToySending,
  count: number,
  terms: Parameters<ToySending['settle']>[1] = {},
): Promise<Promise<Outcome>[]> => {
  const settling: Promise<Outcome>[] = []
  const before = (await listRecorded(sending)).length
  for (const index of range(count)) {
    settling.push(sending.settle(await scene.toy.plan(), terms))
    await whenRecorded(sending, before + index + 1)
  }
  return settling
}

/** No round renews it: it holds until the instance is dead, however long a test takes. */
const keepLease = async ({ instance }: ToySending): Promise<void> => {
  await scene.database
    .pool()
    .query("update signer_lanes set lease_expires_at = now() + interval '1 hour' where holder = $1", [
      instance.id,
    ])
}

const countInPool = async (): Promise<number> => {
  const content = JSON.stringify(await callRpc(scene.chain.url, 'txpool_content'))
  return content.match(/"hash":/g)?.length ?? 0
}

const states = (outcomes: readonly Outcome[]) => outcomes.map(({ state }) => state)
const confirmed = (count: number) => range(count).map(() => 'confirmed')

describe('a lane', () => {
  it('has up to sixteen transactions in flight; the seventeenth waits until one is mined', async () => {
    const sending = await scene.openToy()
    await scene.chain.control.setAutomine(false)
    const settling = await settleApart(sending, 16)
    const late = [sending.settle(await scene.toy.plan()), sending.settle(await scene.toy.plan())]
    await sending.whenWaiting(18)
    // Another lane sends meanwhile: so would this one if there were a free slot.
    const others = await settleApart(await scene.openToy(), 1)
    expect(await listNonces(sending)).toEqual(range(16))
    await scene.chain.control.mine()
    await whenRecorded(sending, 17)
    await scene.chain.control.setAutomine(true)
    expect(states(await Promise.all([...settling, ...late, ...others]))).toEqual(confirmed(19))
    // Calls that wait together share a transaction.
    expect(await listNonces(sending)).toEqual(range(17))
  })

  it('has at most sixteen transactions in flight when forty payments need their own transaction', async () => {
    const code = await scene.chain.client.getCode({ address: '0xcA11bde05977b3631167028862bE2a173976CA11' })
    await scene.chain.control.setCode('0xcA11bde05977b3631167028862bE2a173976CA11', '0x')
    try {
      const sending = await scene.openToy()
      await scene.chain.control.setAutomine(false)
      const plans = await Promise.all(range(40).map(() => scene.toy.plan()))
      const settling = sending.settleTogether(plans)
      await whenRecorded(sending, 16)
      const others = await settleApart(await scene.openToy(), 1)
      expect(await listNonces(sending)).toEqual(range(16))
      await scene.chain.control.setAutomine(true)
      await scene.chain.control.mine()
      expect(states([...(await settling), ...(await Promise.all(others))])).toEqual(confirmed(41))
      expect(await listNonces(sending)).toEqual(range(40))
    } finally {
      await scene.chain.control.setCode('0xcA11bde05977b3631167028862bE2a173976CA11', code ?? '0x')
    }
  })

  it('allocates nonces without gaps for two concurrent instances', async () => {
    const signers = [await createSigner(scene)]
    const [one, other] = [await scene.openToy({ signers }), await scene.openToy({ signers })]
    const plans = await Promise.all(range(24).map(() => scene.toy.plan()))
    const outcomes = await Promise.all(
      plans.map((plan, index) => (index % 2 === 0 ? one : other).settle(plan)),
    )
    expect(states(outcomes)).toEqual(confirmed(24))
    const nonces = await listNonces(one)
    expect(nonces).toEqual(range(nonces.length))
    expect(await scene.chain.client.getTransactionCount({ address: signerOf(one).address })).toBe(
      nonces.length,
    )
  })

  it('moves the whole batch to the next nonce when another program used its nonce', async () => {
    const sending = await scene.openToy()
    await scene.chain.control.setNonce(signerOf(sending).address, 7)
    const plans = await Promise.all(range(4).map(() => scene.toy.plan()))
    expect(states(await sending.settleTogether(plans))).toEqual(confirmed(4))
    expect(await listNonces(sending)).toEqual([0, 7])
  })

  it('records one nonce for a call that the contract would execute again, and goes on at the next', async () => {
    const sending = await scene.openToy()
    await scene.chain.control.setNonce(signerOf(sending).address, 7)
    const [once, other] = [await scene.toy.plan({ isRepeatable: true }), await scene.toy.plan()]
    const stop = new AbortController()
    const settling = sending.settle(once, { waitUntil: stop.signal })
    await whenRecorded(sending, 1)
    expect(await sending.settle(other)).toMatchObject({ state: 'confirmed' })
    stop.abort()
    expect(await settling).toMatchObject({ state: 'pending' })
    expect(await scene.toy.creditOf(once.payTo)).toBe(0n)
  })
})

describe('a nonce gap', () => {
  it('without recorded transactions behind it, after a node reported too high a count, rewinds the lane', async () => {
    const logger = createMemoryLogger()
    const sending = await scene.openToy({ logger })
    const lane = { network: scene.chain.network, signer: signerOf(sending).address }
    await sending.lanes.advance(lane, 500)
    await sending.maintenance.check()
    await sending.maintenance.check()
    expect(await sending.lanes.readNext(lane)).toBe(0)
    expect(logger.messages()).toContain('nonce.rewound')
    expect(await sending.settle(await scene.toy.plan())).toMatchObject({ state: 'confirmed' })
    expect(await listNonces(sending)).toEqual([0])
  })

  it('before a recorded transaction is filled, and later payments settle', async () => {
    const sending = await scene.openToy()
    const lane = { network: scene.chain.network, signer: signerOf(sending).address }
    await sending.lanes.advance(lane, 3)
    const settling = sending.settle(await scene.toy.plan())
    await whenRecorded(sending, 1)
    expect(await listNonces(sending)).toEqual([3])
    await sending.maintenance.check()
    await sending.maintenance.check()
    expect(await settling).toMatchObject({ state: 'confirmed' })
    const recorded = await listRecorded(sending)
    expect(recorded.map(({ nonce }) => nonce)).toEqual(range(4))
    for (const { bytes } of recorded.slice(0, 3)) {
      const { to, gas, data, value } = parseTransaction(bytes)
      expect({ to: to?.toLowerCase(), gas, data, value: value ?? 0n }).toEqual({
        to: signerOf(sending).address.toLowerCase(),
        gas: 21_000n,
        data: undefined,
        value: 0n,
      })
    }
  })

  it('in the mempool after a dropped transaction is closed by a rebroadcast, and later payments settle', async () => {
    const sending = await scene.openToy()
    await scene.chain.control.setAutomine(false)
    const settling = await settleApart(sending, 4)
    await eventually(async () => ((await countInPool()) === 4 ? true : null))
    const [first] = await listRecorded(sending)
    await callRpc(scene.chain.url, 'anvil_dropTransaction', [first?.transaction])
    await scene.chain.control.mine()
    expect(await scene.chain.client.getTransactionCount({ address: signerOf(sending).address })).toBe(0)
    await sending.maintenance.check()
    await sending.maintenance.check()
    await scene.chain.control.mine()
    expect(states(await Promise.all(settling))).toEqual(confirmed(4))
    expect(await listNonces(sending)).toEqual(range(4))
  })

  it('left by a full mempool is closed while payments continue', async () => {
    const proxy = await scene.openProxy()
    const sending = await scene.openToy({ url: proxy.url, hasRounds: true })
    proxy.setFault(
      'eth_sendRawTransaction',
      { kind: 'error', code: -32000, message: 'txpool is full' },
      { times: 2 },
    )
    const settling: Promise<Outcome>[] = []
    let isHealed = false
    const first = sending.settle(await scene.toy.plan()).finally(() => {
      isHealed = true
    })
    // Payments continue while the gap is open.
    while (!isHealed && settling.length < 200) {
      settling.push(sending.settle(await scene.toy.plan()))
      await sending.whenWaiting(1 + settling.length)
    }
    expect(await first).toMatchObject({ state: 'confirmed' })
    expect(new Set(states(await Promise.all(settling)))).toEqual(new Set(['confirmed']))
    const nonces = await listNonces(sending)
    expect(nonces).toEqual(range(nonces.length))
  })
})

describe('a stuck transaction', () => {
  /** Recorded, sent, and priced below every later block. */
  const getStuck = async (
    count = 1,
    options: EngineOptions = {},
    terms: Parameters<typeof settleApart>[2] = {},
  ) => {
    const clock = shiftedClock()
    const sending = await scene.openToy({ clock, ...options })
    const { control, client } = scene.chain
    await control.setAutomine(false)
    await control.setNextBaseFee(1_000_000_000n)
    await control.mine()
    const settling = await settleApart(sending, count, terms)
    const [offered] = (await listRecorded(sending)).map(({ bytes }) => parseTransaction(bytes))
    const highest = offered?.maxFeePerGas ?? 0n
    const mineExpensive = async () => {
      await control.setNextBaseFee(highest * 3n)
      await control.mine()
    }
    await mineExpensive()
    expect(await client.getTransactionCount({ address: signerOf(sending).address })).toBe(0)
    return { sending, settling, clock, mineExpensive, highest }
  }

  it('is replaced by the same call at a higher price, and the settlement reports the replacement', async () => {
    const { sending, settling, clock, mineExpensive } = await getStuck(3)
    await sending.maintenance.check()
    await sending.maintenance.check()
    expect(await listRecorded(sending)).toHaveLength(3)
    clock.shift(31_000)
    await mineExpensive()
    await sending.maintenance.check()
    const recorded = await listRecorded(sending)
    expect(recorded.map(({ nonce }) => nonce)).toEqual([0, 0, 1, 1, 2, 2])
    for (const index of [0, 2, 4]) {
      const [old, next] = recorded.slice(index, index + 2)
      if (old === undefined || next === undefined) throw new Error('It was not replaced')
      expect(next.replaces).toBe(old.transaction)
      const [before, after] = [parseTransaction(old.bytes), parseTransaction(next.bytes)]
      const same = ({ nonce, to, data, gas, chainId }: typeof before) => ({ nonce, to, data, gas, chainId })
      expect(same(after)).toEqual(same(before))
      expect(after.maxFeePerGas ?? 0n).toBeGreaterThanOrEqual(((before.maxFeePerGas ?? 0n) * 9n) / 8n)
      expect(after.maxPriorityFeePerGas ?? 0n).toBeGreaterThan(before.maxPriorityFeePerGas ?? 0n)
    }
    await scene.chain.control.mine()
    const outcomes = await Promise.all(settling)
    expect(outcomes).toEqual(
      [1, 3, 5].map((index) => ({ state: 'confirmed', transaction: recorded[index]?.transaction })),
    )
  })

  it.each([
    { name: 'urgent for its account is replaced although', terms: { urgentFor: 'account' }, recorded: 2 },
    { name: 'not urgent is not replaced while', terms: { isPromised: true }, recorded: 1 },
  ])('that is $name what all may spend is spent', async ({ terms, recorded }) => {
    const stop = new AbortController()
    const environment = { [`EVM_GAS_BUDGET_GWEI_PER_HOUR_${scene.chain.chainId}`]: '1' }
    const { sending, settling, clock, mineExpensive } = await getStuck(
      1,
      { environment },
      { ...terms, waitUntil: stop.signal },
    )
    await sending.maintenance.check()
    await sending.maintenance.check()
    clock.shift(31_000)
    await mineExpensive()
    await sending.maintenance.check()
    expect(await listRecorded(sending)).toHaveLength(recorded)
    stop.abort()
    await Promise.all(settling)
  })

  it.each([
    { what: 'is replaced', terms: { urgentFor: 'account' }, recorded: [0, 0, 1, 1] },
    { what: 'is not replaced for others', terms: { isPromised: true }, recorded: [0, 1] },
  ])(
    'before the nonce of what is urgent $what while what all may spend is spent',
    async ({ terms, recorded }) => {
      const stop = new AbortController()
      const environment = { [`EVM_GAS_BUDGET_GWEI_PER_HOUR_${scene.chain.chainId}`]: '1' }
      const first = { isPromised: true, waitUntil: stop.signal }
      const { sending, settling, clock, mineExpensive } = await getStuck(1, { environment }, first)
      clock.shift(20_000)
      const behind = await settleApart(sending, 1, { ...terms, waitUntil: stop.signal })
      await sending.maintenance.check()
      await sending.maintenance.check()
      clock.shift(11_000)
      await mineExpensive()
      await sending.maintenance.check()
      expect((await listRecorded(sending)).map(({ nonce }) => nonce)).toEqual(recorded)
      stop.abort()
      await Promise.all([...settling, ...behind])
    },
  )

  it('has its replacement recorded before it is sent: nodes receive only recorded transactions', async () => {
    const proxy = await scene.openProxy()
    const { sending, settling, clock, mineExpensive } = await getStuck(1, { url: proxy.url })
    await sending.maintenance.check()
    await sending.maintenance.check()
    clock.shift(31_000)
    await mineExpensive()
    proxy.clearCalls()
    await sending.maintenance.check()
    const recorded = new Set((await listRecorded(sending)).map(({ bytes }) => bytes))
    expect(recorded.size).toBe(2)
    const sent = proxy.calls.filter(({ method }) => method === 'eth_sendRawTransaction')
    expect(sent.length).toBeGreaterThan(0)
    for (const { params } of sent) expect(recorded).toContain(params[0])
    await scene.chain.control.mine()
    await Promise.all(settling)
  })

  it('whose caller disconnected is confirmed by the reconciler with the replacement', async () => {
    const clock = shiftedClock()
    const sending = await scene.openToy({ clock })
    const { control } = scene.chain
    await control.setAutomine(false)
    await control.mine()
    let id = ''
    const stop = new AbortController()
    const settling = sending.settle(await scene.toy.plan(), {
      waitUntil: stop.signal,
      onClaim: (claimed) => {
        id = claimed
      },
    })
    await eventually(async () => ((await countInPool()) === 1 ? true : null))
    stop.abort()
    const outcome = await settling
    expect(outcome).toMatchObject({ state: 'pending' })
    const [stuck] = await listRecorded(sending)
    const mineExpensive = async () => {
      await control.setNextBaseFee((parseTransaction(stuck?.bytes ?? '0x').maxFeePerGas ?? 0n) * 3n)
      await control.mine()
    }
    await mineExpensive()
    await sending.maintenance.check()
    await sending.maintenance.check()
    clock.shift(31_000)
    await mineExpensive()
    await sending.maintenance.check()
    await control.mine()
    const { broadcasts = [] } = (await sending.journal.find(id)) ?? {}
    expect(broadcasts).toHaveLength(2)
    expect(withoutBlock(await sending.resolve(id))).toEqual({
      state: 'confirmed',
      transaction: broadcasts[1]?.transaction,
    })
  })

  it('is not bumped repeatedly while the chain mines no blocks', async () => {
    const { sending, settling, clock, mineExpensive } = await getStuck()
    await sending.maintenance.check()
    await sending.maintenance.check()
    for (const _round of range(5)) {
      clock.shift(31_000)
      await sending.maintenance.check()
    }
    expect(await listRecorded(sending)).toHaveLength(1)
    await mineExpensive()
    await eventually(async () => {
      await sending.maintenance.check()
      return (await listRecorded(sending)).length > 1
    })
    expect(await listRecorded(sending)).toHaveLength(2)
    await scene.chain.control.mine()
    await Promise.all(settling)
  })

  it('is not bumped repeatedly when its price is not the cause', async () => {
    const { sending, settling, clock } = await getStuck()
    const { control } = scene.chain
    for (const _round of range(30)) {
      // Blocks are mined, and the mempool lost it each time.
      await callRpc(scene.chain.url, 'anvil_dropAllTransactions')
      await control.setNextBaseFee(1_000_000_000n)
      await control.mine()
      clock.shift(31_000)
      await sending.maintenance.check()
    }
    const offered = (await listRecorded(sending)).map(
      ({ bytes }) => parseTransaction(bytes).maxFeePerGas ?? 0n,
    )
    const [highest = 0n] = offered.sort((left, right) => (left < right ? 1 : -1))
    // At most four times the current price (twice the base fee and a tip), and one bump.
    expect(highest).toBeLessThan(20_000_000_000n)
    await control.mine()
    await Promise.allSettled(settling)
  })

  it("is not replaced by an instance without the lane's lease", async () => {
    const { sending, settling, clock, mineExpensive } = await getStuck()
    await sending.maintenance.check()
    await keepLease(sending)
    const other = await scene.openToy({ clock, signers: sending.signers })
    for (const _round of range(3)) {
      clock.shift(31_000)
      await mineExpensive()
      await other.maintenance.check()
    }
    expect(await listRecorded(sending)).toHaveLength(1)
    await killInstance(scene.database.pool(), sending.instance)
    // It takes the lane over, sees that nothing is mined, and then that the chain moves meanwhile.
    await other.maintenance.check()
    await other.maintenance.check()
    await mineExpensive()
    await other.maintenance.check()
    const [, replacement] = await listRecorded(sending)
    expect(replacement).toBeDefined()
    await scene.chain.control.mine()
    // The caller waits in the other process, which reads the replacement from the journal.
    await sending.maintenance.check()
    expect(await Promise.all(settling)).toEqual([
      { state: 'confirmed', transaction: replacement?.transaction },
    ])
  })
})

describe('lane maintenance', () => {
  it('reads nothing of a lane that another instance holds, until it waits for a transaction there', async () => {
    const signers = [await createSigner(scene)]
    const holder = await scene.openToy({ signers })
    await keepLease(holder)
    let reads = 0
    const idle = await scene.openToy({
      signers,
      wrapLanes: (lanes) => ({
        ...lanes,
        readNext: async (lane) => {
          reads += 1
          return await lanes.readNext(lane)
        },
      }),
    })
    await holder.settle(await scene.toy.plan())
    reads = 0
    await idle.maintenance.check()
    expect(reads).toBe(0)
    await scene.chain.control.setAutomine(false)
    const settling = idle.settle(await scene.toy.plan())
    await whenRecorded(idle, 2)
    await idle.maintenance.check()
    expect(reads).toBeGreaterThan(0)
    await scene.chain.control.mine()
    expect(await settling).toMatchObject({ state: 'confirmed' })
  })

  it('leaves a lane alone whose transactions are all mined, until a nonce is allocated or some time has passed', async () => {
    vi.useFakeTimers({ toFake: ['performance'] })
    const signers = [await createSigner(scene)]
    let reads = 0
    let known: number | null = 0
    const { maintenance } = await scene.openToy({
      signers,
      wrapLanes: (lanes) => ({
        ...lanes,
        peekNext: () => known,
        readNext: async (lane) => {
          reads += 1
          return await lanes.readNext(lane)
        },
      }),
    })
    const countReads = async (): Promise<number> => {
      const before = reads
      await maintenance.check()
      return reads - before
    }
    expect(await countReads()).toBe(0)
    // Another instance has allocated one.
    known = 1
    expect(await countReads()).toBe(1)
    known = 0
    expect(await countReads()).toBe(0)
    // Heartbeats fail: what they read is not known.
    known = null
    expect(await countReads()).toBe(1)
    known = 0
    vi.advanceTimersByTime(15_000)
    expect(await countReads()).toBe(1)
  })

  it('continues with the other lanes when one fails', async () => {
    const signers = [await createSigner(scene), await createSigner(scene), await createSigner(scene)]
    const [broken, ...others] = signers
    const sending = await scene.openToy({
      signers,
      wrapLanes: (lanes) => ({
        ...lanes,
        readNext: async (lane) => {
          if (lane.signer === broken?.address) throw new Error('no answer')
          return await lanes.readNext(lane)
        },
      }),
    })
    for (const { address: signer } of signers)
      await sending.lanes.advance({ network: scene.chain.network, signer }, 9)
    await sending.maintenance.check()
    await sending.maintenance.check()
    const lane = (signer: string) => ({ network: scene.chain.network, signer })
    for (const { address } of others) expect(await sending.lanes.readNext(lane(address))).toBe(0)
  })
})
