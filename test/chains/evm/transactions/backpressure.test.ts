import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { unixNow } from '../../../support/evm/authorization.js'
import { multicall3Address } from '../../../support/evm/localChain.js'
import { deployToy, type Toy } from '../../../support/evm/toyCall.js'
import { pollUntil } from '../../../support/pollUntil.js'
import { rejectionOf } from '../../../support/rejectionOf.js'
import { shiftedClock } from '../../../support/shiftedClock.js'
import { type EngineOptions, openToy, type ToySending } from '../engineScene.js'
import { openScene, type Scene } from '../scene.js'

/* A stalled queue: what cannot be sent in time is refused without a record. */

let scene: Scene
let toy: Toy
const opened: ToySending[] = []

beforeAll(async () => {
  scene = await openScene()
  toy = await deployToy(scene.chain)
})
afterEach(async () => {
  for (const sending of opened.splice(0)) await sending.close()
  await scene.reset()
})
afterAll(() => scene.close())

const open = async (options?: EngineOptions): Promise<ToySending> => {
  const sending = await openToy(scene, toy, options)
  opened.push(sending)
  return sending
}

const countRecorded = async (payers: readonly string[]): Promise<number> => {
  const { rows } = await scene.database.pool().query(
    `select 1 from broadcast_settlements b join settlements s on s.id = b.settlement_id
     where s.payer = any($1)`,
    [payers],
  )
  return rows.length
}

const readRows = async (payer: string) => {
  const { rows } = await scene.database
    .pool()
    .query('select state, reason, transaction from settlements where payer = $1 order by created_at', [payer])
  return rows
}

const range = (length: number) => Array.from({ length }, (_, index) => index)

describe('a waiting payment', () => {
  it('is dropped when its caller disconnects: nothing is recorded, and it is not failed', async () => {
    const sending = await open()
    const plan = await toy.plan()
    sending.shut()
    const stop = new AbortController()
    const settling = sending.settle(plan, { waitUntil: stop.signal })
    await sending.whenWaiting(1)
    stop.abort()
    expect(await rejectionOf(settling)).toMatchObject({ code: 'SERVICE_UNAVAILABLE' })
    expect(await countRecorded([plan.payer])).toBe(0)
    expect(await readRows(plan.payer)).toMatchObject([{ state: 'claimed', transaction: null }])
    sending.open()
    // It is not sent later either.
    expect(await sending.settle(await toy.plan())).toMatchObject({ state: 'confirmed' })
    expect(await countRecorded([plan.payer])).toBe(0)
  })

  it('is also dropped after it left the queue without finding a free slot', async () => {
    const code = await scene.chain.client.getCode({ address: multicall3Address })
    // Without Multicall3 each payment needs its own slot.
    await scene.chain.control.setCode(multicall3Address, '0x')
    try {
      const sending = await open()
      await scene.chain.control.setAutomine(false)
      const plans = await Promise.all(range(20).map(() => toy.plan()))
      sending.shut()
      const stop = new AbortController()
      const settling = Promise.allSettled(
        plans.map((plan) => sending.settle(plan, { waitUntil: stop.signal })),
      )
      await sending.whenWaiting(20)
      sending.open()
      const payers = plans.map(({ payer }) => payer)
      await pollUntil(async () => (await countRecorded(payers)) === 16, 'the lane to be full')
      stop.abort()
      const settled = await settling
      const refused = settled.filter(({ status }) => status === 'rejected')
      expect(refused).toHaveLength(4)
      for (const answer of settled) {
        if (answer.status === 'fulfilled') expect(answer.value.state).toBe('pending')
      }
      expect(await countRecorded(payers)).toBe(16)
    } finally {
      await scene.chain.control.setCode(multicall3Address, code ?? '0x')
    }
  })

  it('is not accepted for a caller that has disconnected', async () => {
    const sending = await open()
    const plan = await toy.plan()
    sending.shut()
    const settling = sending.settle(plan, { waitUntil: AbortSignal.abort() })
    expect(await rejectionOf(settling)).toMatchObject({ code: 'SERVICE_UNAVAILABLE' })
    expect(await countRecorded([plan.payer])).toBe(0)
  })

  it('is not sent when its deadline is too near, unlike others', async () => {
    const clock = shiftedClock()
    const sending = await open({ clock })
    const late = await toy.plan({ lastSecond: BigInt(unixNow()) + 59n })
    const others = await Promise.all(range(3).map(() => toy.plan()))
    sending.shut()
    const settling = [late, ...others].map((plan) => sending.settle(plan))
    await sending.whenWaiting(4)
    clock.shift(56_000)
    sending.open()
    const [first, ...rest] = await Promise.allSettled(settling)
    expect(first).toMatchObject({ status: 'rejected', reason: { code: 'SERVICE_UNAVAILABLE' } })
    for (const answer of rest) expect(answer).toMatchObject({ value: { state: 'confirmed' } })
    expect(await countRecorded([late.payer])).toBe(0)
    expect(await toy.creditOf(late.payTo)).toBe(0n)
  })

  it('is refused when no account is funded any more', async () => {
    let canPay = true
    const sending = await open({ canPay: () => canPay })
    const plans = await Promise.all(range(3).map(() => toy.plan()))
    sending.shut()
    const settling = Promise.allSettled(plans.map((plan) => sending.settle(plan)))
    await sending.whenWaiting(3)
    canPay = false
    sending.open()
    for (const answer of await settling) {
      expect(answer).toMatchObject({ status: 'rejected', reason: { operationalCode: 'SVC-4001' } })
    }
    expect(await countRecorded(plans.map(({ payer }) => payer))).toBe(0)
  })
})
