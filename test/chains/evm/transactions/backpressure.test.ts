import { afterEach, describe, expect, it, vi } from 'vitest'
import { newestTransaction } from '../../../../src/stores/postgres/journal/settlementStates.js'
import { unixNow } from '../../../support/evm/authorization.js'
import { multicall3Address } from '../../../support/evm/localChain.js'
import { pollUntil } from '../../../support/pollUntil.js'
import { rejectionOf } from '../../../support/rejectionOf.js'
import { shiftedClock } from '../../../support/shiftedClock.js'
import { useScene } from '../../../support/useScene.js'
import type { EngineOptions } from '../engineScene.js'
import { eventually } from '../scene.js'
import { openToyScene } from '../toyScene.js'

/* A stalled queue: what cannot be sent in time is refused without a record. */

const scene = useScene(openToyScene)

afterEach(() => vi.restoreAllMocks())

const open = (options?: EngineOptions) => scene.openToy(options)

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
    .query(
      `select state, reason, ${newestTransaction('s')} as transaction from settlements s where payer = $1 order by created_at`,
      [payer],
    )
  return rows
}

const range = (length: number) => Array.from({ length }, (_, index) => index)

describe('a waiting payment', () => {
  it('is dropped when its caller disconnects: nothing is recorded, and it is not failed', async () => {
    const sending = await open()
    const plan = await scene.toy.plan()
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
    expect(await sending.settle(await scene.toy.plan())).toMatchObject({ state: 'confirmed' })
    expect(await countRecorded([plan.payer])).toBe(0)
  })

  it('is also dropped after it left the queue without finding a free slot', async () => {
    const code = await scene.chain.client.getCode({ address: multicall3Address })
    // Without Multicall3 each payment needs its own slot.
    await scene.chain.control.setCode(multicall3Address, '0x')
    try {
      const sending = await open()
      await scene.chain.control.setAutomine(false)
      const plans = await Promise.all(range(20).map(() => scene.toy.plan()))
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
    const plan = await scene.toy.plan()
    sending.shut()
    const settling = sending.settle(plan, { waitUntil: AbortSignal.abort() })
    expect(await rejectionOf(settling)).toMatchObject({ code: 'SERVICE_UNAVAILABLE' })
    expect(await countRecorded([plan.payer])).toBe(0)
  })

  it('is not sent when its deadline is too near, unlike others', async () => {
    const clock = shiftedClock()
    const sending = await open({ clock })
    const late = await scene.toy.plan({ lastSecond: BigInt(unixNow()) + 59n })
    const others = await Promise.all(range(3).map(() => scene.toy.plan()))
    sending.shut()
    const settling = [late, ...others].map((plan) => sending.settle(plan))
    await sending.whenWaiting(4)
    clock.shift(56_000)
    sending.open()
    const [first, ...rest] = await Promise.allSettled(settling)
    expect(first).toMatchObject({ status: 'rejected', reason: { code: 'SERVICE_UNAVAILABLE' } })
    for (const answer of rest) expect(answer).toMatchObject({ value: { state: 'confirmed' } })
    expect(await countRecorded([late.payer])).toBe(0)
    expect(await scene.toy.creditOf(late.payTo)).toBe(0n)
  })

  it('is refused when no account is funded any more', async () => {
    let canPay = true
    const sending = await open({ canPay: () => canPay })
    const plans = await Promise.all(range(3).map(() => scene.toy.plan()))
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

describe('a full lane on a chain without new blocks', () => {
  it('immediately refuses a payment that would settle too late; its authorization stays usable', async () => {
    const now = performance.now.bind(performance)
    let aheadMs = 0
    vi.spyOn(performance, 'now').mockImplementation(() => now() + aheadMs)
    const service = await scene.open()
    const { control } = scene.chain
    await control.setAutomine(false)
    const settling: Promise<unknown>[] = []
    for (const index of range(16)) {
      const { body } = await scene.plan()
      settling.push(service.settle(body))
      const address = service.signers[0]?.address
      await eventually(async () => {
        const { rows } = await scene.database
          .pool()
          .query('select 1 from broadcasts where signer = $1', [address])
        return rows.length === index + 1 ? true : null
      })
    }
    const { body, payer, payTo } = await scene.plan()
    // The oldest transaction has waited longer than any authorization is valid.
    aheadMs = 3_600_000
    expect(await rejectionOf(service.settle(body))).toMatchObject({
      code: 'SERVICE_UNAVAILABLE',
      operationalCode: 'SVC-3002',
      retryAfterSeconds: expect.any(Number),
    })
    expect(await countRecorded([payer])).toBe(0)
    expect(await readRows(payer)).toMatchObject([{ state: 'failed', reason: 'settlement_abandoned' }])

    await control.setAutomine(true)
    await control.mine()
    await Promise.all(settling)
    expect(await service.settle(body)).toMatchObject({ success: true })
    expect(await scene.chain.balanceOf(payTo)).toBe(10_000n)
  })
})
