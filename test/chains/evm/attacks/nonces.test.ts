import { parseTransaction } from 'viem'
import { describe, expect, it } from 'vitest'
import { useScene } from '../../../support/useScene.js'
import type { ToySending } from '../engineScene.js'
import { eventually } from '../scene.js'
import { openToyScene } from '../toyScene.js'

/* The numbers are those of the project's list of attacks on facilitators. */

const scene = useScene(openToyScene)

const wrongCount = 100_000_000
const wrong = { kind: 'tamper', change: () => `0x${wrongCount.toString(16)}` } as const
const nonceTooLow = { kind: 'error', code: -32_000, message: 'nonce too low' } as const

const laneOf = ({ signers: [signer] }: Pick<ToySending, 'signers'>) => ({
  network: scene.chain.network,
  signer: signer?.address ?? '0x',
})

/** Recorded transactions of a signer that carry nothing. */
const countFillers = async (signer: string): Promise<number> => {
  const { rows } = await scene.database
    .pool()
    .query('select bytes from broadcasts where lower(signer) = lower($1)', [signer])
  return rows.filter(({ bytes }) => parseTransaction(bytes).data === undefined).length
}

describe('A45: a node that reports a wrong nonce', () => {
  it('moves a lane by a bounded step where no other endpoint agrees', async () => {
    const proxy = await scene.openProxy()
    const sending = await scene.openToy({ url: proxy.url })
    expect(await sending.settle(await scene.toy.plan())).toMatchObject({ state: 'confirmed' })
    proxy.setFault('eth_sendRawTransaction', nonceTooLow, { times: 1 })
    proxy.setFault('eth_getTransactionCount', wrong, { times: 1 })
    const unlimited = new AbortController().signal
    const outcomes: unknown[] = []
    const keep = (outcome: unknown) => outcomes.push(outcome)
    void sending.settle(await scene.toy.plan(), { waitUntil: unlimited }).then(keep, keep)
    await eventually(() => (proxy.count('eth_sendRawTransaction') >= 3 ? true : null))
    expect(await sending.lanes.readNext(laneOf(sending))).toBeLessThan(200)

    await eventually(async () => {
      await sending.maintenance.check()
      await scene.chain.control.waitForAutomine()
      return outcomes.length === 1 ? true : null
    })
    expect(outcomes).toMatchObject([{ state: 'confirmed' }])
    expect(await sending.settle(await scene.toy.plan())).toMatchObject({ state: 'confirmed' })
    expect(await countFillers(laneOf(sending).signer)).toBeLessThan(100)
  })

  it('does not move a lane at all where two endpoints agree on another', async () => {
    const liar = await scene.openProxy()
    const sending = await scene.openToy({ url: `${liar.url},${scene.chain.url}` })
    expect(await sending.settle(await scene.toy.plan())).toMatchObject({ state: 'confirmed' })
    // The first answer is enough for a start; the other endpoint proves its chain meanwhile.
    await eventually(() => (sending.rpc.listWitnesses().length === 2 ? true : null))
    liar.setFault('eth_getTransactionCount', wrong)
    await sending.lanes.advance(laneOf(sending), 0)
    // Another program used the nonce: the lane goes on with the one that both endpoints have reached.
    await scene.chain.control.setNonce(laneOf(sending).signer, 7)
    expect(await sending.settle(await scene.toy.plan())).toMatchObject({ state: 'confirmed' })
    expect(await sending.lanes.readNext(laneOf(sending))).toBe(8)
  })

  it('does not keep a lane ahead of every endpoint: it moves back, settles again and raises an alarm', async () => {
    const proxy = await scene.openProxy()
    const service = await scene.open({ rpcUrls: [proxy.url], environment: { SETTLE_WAIT_SECONDS: '2' } })
    const [signer = { address: '0x' }] = service.signers
    // A round of the lanes before the settlement would move it back at once.
    const release = proxy.hold('eth_getTransactionCount')
    await scene.database
      .pool()
      .query('update signer_lanes set next_nonce = $2 where signer = $1', [signer.address, wrongCount])
    const far = await scene.plan()
    expect(await service.settle(far.body)).toMatchObject({ errorReason: 'settlement_pending' })
    release()

    const readMetric = async () => {
      const text = await service.core.metrics.registry.getSingleMetricAsString('quittance_lane_repairs_total')
      return text.split('\n').find((line) => line.includes(signer.address)) ?? ''
    }
    await eventually(async () => (/ [1-9]\d*$/.test(await readMetric()) ? true : null))
    const next = await eventually(async () => {
      const { body, payTo } = await scene.plan()
      const { success } = await service.settle(body)
      return success ? payTo : null
    })
    expect(await scene.chain.balanceOf(next)).toBe(10_000n)
    expect(await countFillers(signer.address)).toBe(0)
    // What was recorded out of reach holds no nonce any more.
    const { rows } = await scene.database
      .pool()
      .query('select max(nonce)::int as highest from broadcasts where signer = $1', [signer.address])
    expect(rows[0]?.highest).toBeLessThan(10)
    expect(await scene.chain.balanceOf(far.payTo)).toBe(0n)
  })

  it('burns no more gas for fillers than the budget of the network', async () => {
    const sending = await scene.openToy({
      environment: { [`EVM_GAS_BUDGET_GWEI_PER_HOUR_${scene.chain.chainId}`]: '400000' },
    })
    await scene.chain.control.mine(60)
    await sending.lanes.advance(laneOf(sending), 60)
    const stop = new AbortController()
    const settling = sending.settle(await scene.toy.plan(), { waitUntil: stop.signal })
    await eventually(async () => ((await sending.lanes.readNext(laneOf(sending))) === 61 ? true : null))
    for (let round = 0; round < 6; round++) await sending.maintenance.check()
    stop.abort()
    expect(await settling).toMatchObject({ state: 'pending' })
    const fillers = await countFillers(laneOf(sending).signer)
    expect(fillers).toBeGreaterThan(0)
    expect(fillers).toBeLessThan(20)
  })

  it('does not move a lane back behind a payment that is confirmed', async () => {
    const sending = await scene.openToy()
    const lane = laneOf(sending)
    await scene.chain.control.setNonce(lane.signer, 500)
    await sending.lanes.advance(lane, 500)
    expect(await sending.settle(await scene.toy.plan())).toMatchObject({ state: 'confirmed' })
    expect(await sending.lanes.rewindNonce(lane, 5, 128)).toBe(false)
    expect(await sending.lanes.readNext(lane)).toBe(501)
  })
})
