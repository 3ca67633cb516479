import { isHex } from 'viem'
import { describe, expect, it } from 'vitest'
import type { Settlement } from '../../../../src/ports/settlementJournal.js'
import {
  encodeToySettle,
  encodeToyWithdraw,
  readToyJudge,
  type ToyPlan,
  toyReasons,
} from '../../../support/evm/toyCall.js'
import { waitLimitMs } from '../../../support/pollUntil.js'
import { shiftedClock } from '../../../support/shiftedClock.js'
import { useScene } from '../../../support/useScene.js'
import { type EngineOptions, type ToySending, withoutBlock } from '../engineScene.js'
import { eventually } from '../scene.js'
import { sendAsStranger } from '../strangers.js'
import { openToyScene } from '../toyScene.js'

/* Settlements resolved from their journal row alone: after a crash, and after a reorg. */

const scene = useScene(openToyScene)

const open = (options?: EngineOptions) => scene.openToy(options)

const finality = (depth = 6) => ({ [`EVM_FINALITY_DEPTH_${scene.chain.chainId}`]: `${depth}` })

/** Records a payment that no node receives; returns what a later process finds in the journal. */
const crashAfterRecord = async (plan: ToyPlan) => {
  const proxy = await scene.openProxy()
  const sending = await open({ url: proxy.url })
  proxy.setFault('eth_sendRawTransaction', { kind: 'refuse' })
  let id = ''
  const stop = new AbortController()
  const settling = sending.settle(plan, {
    waitUntil: stop.signal,
    onClaim: (claimed) => {
      id = claimed
    },
  })
  await eventually(() => (proxy.count('eth_sendRawTransaction') > 0 ? true : null))
  stop.abort()
  const outcome = await settling
  if (outcome.state !== 'pending') throw new Error('It was sent')
  return { id, transaction: outcome.transaction, signers: sending.signers }
}

const readRow = async ({ journal }: ToySending, id: string): Promise<Settlement> => {
  const row = await journal.find(id)
  if (row === null) throw new Error('There is no row')
  return row
}

describe('a recorded transaction that no node received', () => {
  it('is sent by the next process, and confirmed', async () => {
    const plan = await scene.toy.plan()
    const { id, transaction } = await crashAfterRecord(plan)
    const next = await open()
    expect(await next.resolve(id)).toEqual({ state: 'pending', transaction })
    await scene.chain.control.waitForAutomine()
    expect(await next.resolve(id)).toMatchObject({ state: 'confirmed', transaction })
    expect(await scene.toy.creditOf(plan.payTo)).toBe(10_000n)
  })

  it('of a payment of zero is confirmed by its event', async () => {
    const { id, transaction } = await crashAfterRecord(await scene.toy.plan({ value: 0n }))
    const next = await open()
    await next.resolve(id)
    await scene.chain.control.waitForAutomine()
    expect(await next.resolve(id)).toMatchObject({ state: 'confirmed', transaction })
  })

  it('is confirmed with the transaction of another account that executed the payment', async () => {
    const plan = await scene.toy.plan()
    const { id } = await crashAfterRecord(plan)
    const transaction = await sendAsStranger(scene, encodeToySettle(scene.toy.address, plan))
    expect(withoutBlock(await (await open()).resolve(id))).toEqual({ state: 'confirmed', transaction })
  })

  it("fails with the scheme's reason when the payment was cancelled", async () => {
    const plan = await scene.toy.plan()
    const { id } = await crashAfterRecord(plan)
    await sendAsStranger(scene, encodeToyWithdraw(scene.toy.address, plan.id))
    const next = await open({ environment: finality() })
    await scene.chain.control.mine(5)
    expect(await next.resolve(id)).toMatchObject({ state: 'pending' })
    await scene.chain.control.mine()
    expect(await next.resolve(id)).toMatchObject({ state: 'failed', reason: toyReasons.void })
  })

  it('fails when it reverts, and is unpaid when the call has no effect', async () => {
    const next = await open({ environment: finality() })
    for (const [behaviour, reason] of [
      ['reverts', toyReasons.reverted],
      ['doesNothing', toyReasons.unpaid],
    ] as const) {
      const plan = await scene.toy.plan()
      const { id } = await crashAfterRecord(plan)
      await scene.toy.setBehaviour(plan.id, behaviour)
      await next.resolve(id)
      await scene.chain.control.waitForAutomine()
      expect(await next.resolve(id)).toMatchObject({ state: 'pending' })
      await scene.chain.control.mine(6)
      expect(await next.resolve(id)).toMatchObject({ state: 'failed', reason })
    }
  })

  it("fails as displaced once another program's use of its nonce is final", async () => {
    const { id, signers } = await crashAfterRecord(await scene.toy.plan())
    const [signer] = signers
    if (signer === undefined) throw new Error('There is no signer')
    await scene.chain.send({ account: signer.account, to: scene.toy.address, data: '0x', gas: 50_000n })
    const next = await open({ environment: finality(32) })
    await scene.chain.control.mine(20)
    expect(await next.resolve(id)).toMatchObject({ state: 'pending' })
    await scene.chain.control.mine(20)
    expect(await next.resolve(id)).toMatchObject({ state: 'failed', reason: 'settlement_displaced' })
  })
})

describe('a confirmed payment whose block is orphaned', () => {
  const settleOne = async () => {
    const sending = await open({ environment: finality() })
    const plan = await scene.toy.plan()
    let id = ''
    const outcome = await sending.settle(plan, {
      onClaim: (claimed) => {
        id = claimed
      },
    })
    if (outcome.state !== 'confirmed' || !isHex(outcome.transaction)) throw new Error('It did not settle')
    const row = await readRow(sending, id)
    if (row.block === null) throw new Error('It has no block')
    return { sending, plan, row, block: row.block, transaction: outcome.transaction }
  }
  const within = () => AbortSignal.timeout(waitLimitMs)

  it('keeps the block and the gas of its receipt, also when it is resolved from its row', async () => {
    const { sending, row, block, transaction } = await settleOne()
    const receipt = await scene.chain.client.getTransactionReceipt({ hash: transaction })
    expect(block).toEqual({ number: receipt.blockNumber, hash: receipt.blockHash })
    expect(row.gasUsed).toBe(receipt.gasUsed)
    expect(await sending.resolve(row.id)).toMatchObject({ gasUsed: receipt.gasUsed, block })
  })

  it('is counted, rebroadcast, and confirmed in another block', async () => {
    const { sending, plan, row, block, transaction } = await settleOne()
    const { engine, rpc } = sending
    expect(await engine.getBlockStatus(block, within())).toBe('canonical')
    await scene.chain.control.reorg(1)
    await scene.chain.control.mine()
    expect(await engine.getBlockStatus(block, within())).toBe('orphaned')
    expect(await scene.toy.creditOf(plan.payTo)).toBe(0n)

    const reopened = { ...row, consumedBy: 'a caller', block: null }
    const judge = readToyJudge(rpc, reopened)
    expect(await engine.resolve(reopened, judge, within())).toMatchObject({ state: 'pending' })
    await scene.chain.control.waitForAutomine()
    const outcome = await engine.resolve(reopened, judge, within())
    expect(outcome).toMatchObject({ state: 'confirmed', transaction })
    expect(outcome).not.toMatchObject({ block })
    expect(await scene.toy.creditOf(plan.payTo)).toBe(10_000n)
    await scene.chain.control.mine(7)
    if (outcome.state !== 'confirmed' || outcome.block === undefined) throw new Error('It has no block')
    expect(await engine.getBlockStatus(outcome.block, within())).toBe('final')
  })

  it('fails only in a final block, and only when it can no longer be executed', async () => {
    const { sending, plan, row } = await settleOne()
    const { engine, rpc } = sending
    await scene.chain.control.reorg(1)
    await scene.chain.control.mine()
    await scene.toy.setBehaviour(plan.id, 'reverts')
    const reopened = { ...row, consumedBy: 'a caller', block: null }
    const judge = readToyJudge(rpc, reopened)
    await engine.resolve(reopened, judge, within())
    await scene.chain.control.waitForAutomine()
    expect(await engine.resolve(reopened, judge, within())).toMatchObject({ state: 'pending' })
    await scene.chain.control.mine(6)
    expect(await engine.resolve(reopened, judge, within())).toMatchObject({ state: 'pending' })
    // A row that was not consumed can be claimed again, so it may fail.
    expect(await engine.resolve({ ...reopened, consumedBy: null }, judge, within())).toMatchObject({
      state: 'failed',
      reason: toyReasons.reverted,
    })
    await sendAsStranger(scene, encodeToyWithdraw(scene.toy.address, plan.id))
    await scene.chain.control.mine(7)
    expect(await engine.resolve(reopened, judge, within())).toMatchObject({
      state: 'failed',
      reason: toyReasons.void,
    })
  })
})

// Last, because it moves the chain's clock.
describe('a payment past its deadline', () => {
  it('fails as expired once a final block and local time are past it', async () => {
    const clock = shiftedClock()
    const { id, transaction } = await crashAfterRecord(await scene.toy.plan())
    const proxy = await scene.openProxy()
    proxy.setFault('eth_sendRawTransaction', { kind: 'refuse' })
    const next = await open({ url: proxy.url, clock, environment: finality() })
    await scene.chain.control.increaseTime(3_600)
    await scene.chain.control.mine()
    // The local clock disagrees.
    expect(await next.resolve(id)).toEqual({ state: 'pending', transaction })
    clock.shift(3_600_000)
    await scene.chain.control.mine(5)
    expect(await next.resolve(id)).toEqual({ state: 'pending', transaction })
    await scene.chain.control.mine()
    expect(await next.resolve(id)).toEqual({ state: 'failed', reason: toyReasons.expired, transaction })
  })
})
