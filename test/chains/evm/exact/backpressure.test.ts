import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest'
import { rejectionOf } from '../../../support/rejectionOf.js'
import { eventually, openScene, type Scene } from '../scene.js'

/* A stalled queue: a payment that cannot be settled in time is refused immediately. */

let scene: Scene

beforeAll(async () => {
  scene = await openScene()
})
afterEach(async () => {
  await scene.reset()
  vi.restoreAllMocks()
})
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
