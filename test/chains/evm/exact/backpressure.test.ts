import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { rejectionOf } from '../../../support/rejectionOf.js'
import { shiftedClock } from '../../../support/shiftedClock.js'
import { eventually, openScene, type Scene } from '../scene.js'

/* A stalled queue: a payment that cannot be settled in time is refused immediately. */

let scene: Scene

beforeAll(async () => {
  scene = await openScene()
})
afterEach(() => scene.reset())
afterAll(() => scene.close())

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

describe('a full lane on a chain without new blocks', () => {
  it('immediately refuses a payment that would settle too late; its authorization stays usable', async () => {
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
    // Two seconds before its deadline; the oldest transaction has waited longer than that.
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
