import { describe, expect, it } from 'vitest'
import { openStreamBody } from '../../../../src/protocol/streams.js'
import type { FacilitatorKey } from '../../../support/evm/localChain.js'
import { deployUptoRouter } from '../../../support/evm/uptoRouter.js'
import { pollUntil } from '../../../support/pollUntil.js'
import { standingClock } from '../../../support/shiftedClock.js'
import { untilReady } from '../../../support/untilReady.js'
import { useScene } from '../../../support/useScene.js'
import { openScene } from '../scene.js'
import { openUpto } from '../upto/scene.js'

const scene = useScene(openScene)

const caller = 'account-of-a-shop'

/** A service whose clock is behind the chain. Both stand still. */
const openBehind = async (seconds: number) => {
  const { control } = scene.chain
  const clock = standingClock()
  const prepare = async (signers: readonly FacilitatorKey[]) => {
    await deployUptoRouter(scene.chain, signers)
    await control.mine()
    const { timestamp } = await control.getHead()
    clock.shift((timestamp - seconds) * 1_000 - clock.now().getTime())
  }
  const service = await openUpto(scene, { clock, prepare })
  const { timestamp } = await control.getHead()
  const { streams, core } = service.core.useCases
  return {
    ...service,
    clock,
    inSeconds: (later: number) => timestamp + later,
    untilClockIs: (word: string) =>
      untilReady(
        () => {
          // An answer is kept for a second of this clock.
          clock.shift(1_000)
          return core.checkReadiness()
        },
        { [`clock:${scene.chain.network}`]: word },
      ),
    open: async (body: object) => {
      const request = { caller, quota: null, isAwaited: () => true }
      const { answer } = await streams.openStream({ body: openStreamBody.parse(body), ...request })
      return answer.stream
    },
    use: (streamId: string) => streams.updateStream({ caller, token: null }, { streamId, amount: '1234' }),
    waitForEnd: (id: string) =>
      pollUntil(async () => {
        const job = service.core.jobs.find(({ name }) => name === 'closeStreams')
        await job?.run(new AbortController().signal)
        const { stream } = await streams.getStream({ caller, token: null }, id)
        return stream.closedAt !== undefined && stream
      }, 'the stream to end'),
  }
}

describe('a service whose clock is 70 seconds behind the chain', () => {
  it('settles a stream before its authorization ends on chain', async () => {
    const service = await openBehind(70)
    const { body } = await service.plan({ permit: { deadline: BigInt(service.inSeconds(66)) } })
    const { id } = await service.open(body)
    await service.use(id)
    // A minute before the end on chain; by its own clock it has more than two.
    service.clock.shift(7_000)
    await scene.chain.control.setNextBlockTimestamp(service.inSeconds(10))
    expect(await service.waitForEnd(id)).toMatchObject({ status: 'closed', settledAmount: '1234' })
  })

  it('opens no stream whose authorization ends too soon on chain', async () => {
    const service = await openBehind(70)
    const { body } = await service.plan({ permit: { deadline: BigInt(service.inSeconds(55)) } })
    await expect(service.open(body)).rejects.toMatchObject({ reason: 'authorization_expired' })
  })

  it('refuses to settle what has expired on chain', async () => {
    const service = await openBehind(70)
    const { body } = await scene.plan({ authorization: { validBefore: String(service.inSeconds(4)) } })
    expect(await service.settle(body)).toMatchObject({
      success: false,
      errorReason: 'invalid_exact_evm_payload_authorization_valid_before',
    })
  })

  it('says so in /ready, and stays ready', async () => {
    const behind = await openBehind(70)
    await behind.untilClockIs('behind')
    const exact = await openBehind(0)
    await exact.untilClockIs('ok')
  })
})
