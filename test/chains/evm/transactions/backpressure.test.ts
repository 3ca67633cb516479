import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { multicall3Address } from '../../../support/evm/localChain.js'
import { rejectionOf } from '../../../support/rejectionOf.js'
import { shiftedClock } from '../../../support/shiftedClock.js'
import { eventually, openScene, type Scene } from '../scene.js'
import { openSending, type Sending, type SendingOptions } from './sendingScene.js'

/* A queue that does not move: whoever cannot be served in time is told so, and has lost nothing. */

let scene: Scene
const opened: Sending[] = []

beforeAll(async () => {
  scene = await openScene()
})
afterEach(async () => {
  for (const sending of opened.splice(0)) await sending.close()
  await scene.reset()
})
afterAll(() => scene.close())

const open = async (options?: SendingOptions): Promise<Sending> => {
  const sending = await openSending(scene, options)
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

describe('a full lane on a chain that mines nothing', () => {
  it('refuses a payment that would come too late at once, and its authorization stays good', async () => {
    const clock = shiftedClock()
    const service = await scene.open({ clock })
    const { control } = scene.chain
    await control.setAutomine(false)
    const settling: Promise<unknown>[] = []
    const begun = performance.now()
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
    await eventually(() => (performance.now() - begun > 3_500 ? true : null))
    const { body, payer, payTo } = await scene.plan()
    // Two seconds are left of it, and the oldest transaction waits for longer than that.
    clock.shift(292_000)
    const since = performance.now()
    expect(await rejectionOf(service.settle(body))).toMatchObject({
      code: 'SERVICE_UNAVAILABLE',
      operationalCode: 'SVC-3002',
      retryAfterSeconds: expect.any(Number),
    })
    expect(performance.now() - since).toBeLessThan(1_000)
    expect(await countRecorded([payer])).toBe(0)
    expect(await readRows(payer)).toMatchObject([{ state: 'failed', reason: 'settlement_abandoned' }])

    clock.shift(-292_000)
    await control.setAutomine(true)
    await control.mine()
    await Promise.all(settling)
    expect(await service.settle(body)).toMatchObject({ success: true })
    expect(await scene.chain.balanceOf(payTo)).toBe(10_000n)
  })
})

describe('a payment that waits', () => {
  it('is given up when its caller has waited long enough: nothing is recorded, and it is not failed', async () => {
    const sending = await open()
    const { body, payer } = await scene.plan()
    sending.shut()
    const settling = sending.settle({ body }, { waitUntil: AbortSignal.timeout(300) })
    expect(await rejectionOf(settling)).toMatchObject({ code: 'SERVICE_UNAVAILABLE' })
    expect(await countRecorded([payer])).toBe(0)
    expect(await readRows(payer)).toMatchObject([{ state: 'claimed', transaction: null }])
    sending.open()
    // It does not go after all.
    expect(await sending.settle(await scene.plan())).toMatchObject({ state: 'confirmed' })
    expect(await countRecorded([payer])).toBe(0)
  })

  it('is given up as well when it has left the queue and finds no place in a lane', async () => {
    const code = await scene.chain.client.getCode({ address: multicall3Address })
    // Without Multicall3 each payment needs a place of its own.
    await scene.chain.control.setCode(multicall3Address, '0x')
    try {
      const sending = await open()
      await scene.chain.control.setAutomine(false)
      const plans = await Promise.all(range(20).map(() => scene.plan()))
      sending.shut()
      const settling = Promise.allSettled(
        plans.map((plan) => sending.settle(plan, { waitUntil: AbortSignal.timeout(2_000) })),
      )
      await sending.whenWaiting(20)
      sending.open()
      const settled = await settling
      const refused = settled.filter(({ status }) => status === 'rejected')
      expect(refused).toHaveLength(4)
      for (const answer of settled) {
        if (answer.status === 'fulfilled') expect(answer.value.state).toBe('pending')
      }
      expect(await countRecorded(plans.map(({ payer }) => payer))).toBe(16)
    } finally {
      await scene.chain.control.setCode(multicall3Address, code ?? '0x')
    }
  })

  it('is not taken on for a caller who has gone already', async () => {
    const sending = await open()
    const { body, payer } = await scene.plan()
    sending.shut()
    const settling = sending.settle({ body }, { waitUntil: AbortSignal.abort() })
    expect(await rejectionOf(settling)).toMatchObject({ code: 'SERVICE_UNAVAILABLE' })
    expect(await countRecorded([payer])).toBe(0)
  })

  it('is not sent when its authorization has all but ended meanwhile; the others are', async () => {
    const clock = shiftedClock()
    const sending = await open({ clock })
    const late = await scene.plan({
      authorization: { validBefore: String(Math.floor(Date.now() / 1_000) + 60) },
    })
    const others = await Promise.all(range(3).map(() => scene.plan()))
    sending.shut()
    const settling = [late, ...others].map((plan) => sending.settle(plan))
    await sending.whenWaiting(4)
    clock.shift(56_000)
    sending.open()
    const [first, ...rest] = await Promise.allSettled(settling)
    expect(first).toMatchObject({ status: 'rejected', reason: { code: 'SERVICE_UNAVAILABLE' } })
    for (const answer of rest) expect(answer).toMatchObject({ value: { state: 'confirmed' } })
    expect(await countRecorded([late.payer])).toBe(0)
    expect(await scene.chain.balanceOf(late.payTo)).toBe(0n)
  })

  it('is refused when no account of ours can pay any more', async () => {
    let canPay = true
    const sending = await open({ canPay: () => canPay })
    const plans = await Promise.all(range(3).map(() => scene.plan()))
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
