import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { SettleResult } from '../../../src/protocol/results.js'
import { type CoreClient, reconcileUntil } from '../../support/coreClient.js'
import { pollUntil } from '../../support/pollUntil.js'
import { expiredAfterMs } from '../../support/tron/payment.js'
import { openScene, type PlannedPayment, type Scene } from './scene.js'

let scene: Scene
let service: CoreClient

beforeEach(async () => {
  scene = await openScene({ blockTimeMs: null })
})
afterEach(() => scene.close())

const balanceOf = (owner: string) => scene.chain.balanceOf(scene.token, owner)

const statusOf = async ({ settlementId = '' }: SettleResult) =>
  (await service.core.useCases.core.getSettlement(settlementId))?.status

/** A successful payment in the newest block. */
const settleInNewestBlock = async (): Promise<PlannedPayment & { readonly result: SettleResult }> => {
  service = await scene.open()
  const planned = await scene.plan()
  // The mint must not be orphaned with the payment.
  await scene.chain.mine(1)
  const settling = service.settle(planned.body)
  await pollUntil(() => scene.chain.ledger.countWaiting() > 0, 'the broadcast')
  await scene.chain.mine(1)
  const result = await settling
  expect(result).toMatchObject({ success: true })
  return { ...planned, result }
}

/** A block counts as orphaned after two checks. */
const recheck = async () => {
  await service.core.detectReorgs()
  await service.core.detectReorgs()
}

describe('an orphaned block', () => {
  it('reverts the payment, which then lands again with the same bytes', async () => {
    const { payTo, result } = await settleInNewestBlock()
    expect(await scene.chain.ledger.reorganize(1, 'dropped')).toEqual([result.transaction])
    await scene.chain.mine(2)
    expect(await balanceOf(payTo)).toBe(0n)
    await recheck()
    expect(await statusOf(result)).toBe('pending')
    await service.reconcile()
    await scene.chain.mine(1)
    await reconcileUntil(service, result, 'confirmed')
    expect(await balanceOf(payTo)).toBe(10_000n)
  })

  it('is replaced when the network includes the transaction in another block', async () => {
    const { payTo, result } = await settleInNewestBlock()
    await scene.chain.ledger.reorganize(1, 'waiting')
    await scene.chain.mine(2)
    await recheck()
    await reconcileUntil(service, result, 'confirmed')
    expect(await balanceOf(payTo)).toBe(10_000n)
  })

  it('makes the settlement fail when the transaction has expired in a solid block', async () => {
    const { payTo, result } = await settleInNewestBlock()
    await scene.chain.ledger.reorganize(1, 'dropped')
    scene.chain.warp(expiredAfterMs)
    await scene.chain.mine(2)
    await recheck()
    await service.reconcile()
    expect(await statusOf(result)).toBe('pending')
    await scene.chain.mine(20)
    await reconcileUntil(service, result, 'failed')
    expect(await balanceOf(payTo)).toBe(0n)
  })

  it('does not let another caller succeed with the reopened payment', async () => {
    const { body, result } = await settleInNewestBlock()
    await scene.chain.ledger.reorganize(1, 'waiting')
    await scene.chain.mine(2)
    await recheck()
    await service.reconcile()
    expect(await service.settle(body, 'another caller')).toMatchObject({
      success: false,
      errorReason: 'duplicate_settlement',
      transaction: result.transaction,
    })
  })
})

describe('a canonical block', () => {
  const judge = async (result: SettleResult) => {
    const { rows } = await scene.database
      .pool()
      .query('select block_number, block_hash, is_final from settlements where id = $1', [
        result.settlementId,
      ])
    return rows[0]
  }

  it('is recorded with number and id, and final when it is solid', async () => {
    const { result } = await settleInNewestBlock()
    const { block } = scene.chain.ledger.findExecuted(result.transaction) ?? {}
    expect(await judge(result)).toMatchObject({
      block_number: String(block?.number),
      block_hash: block?.id,
      is_final: false,
    })
    await scene.chain.mine(18)
    await service.core.detectReorgs()
    expect(await judge(result)).toMatchObject({ is_final: false })
    await scene.chain.mine(1)
    await pollUntil(async () => {
      await service.core.detectReorgs()
      return (await judge(result))?.is_final === true
    }, 'the block to be final')
  })
})
