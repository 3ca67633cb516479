import { describe, expect, it } from 'vitest'
import { createCheckReadiness } from '../../../src/usecases/core/describe/listSupported.js'
import { createManualClock } from '../../support/manualClock.js'

const check = (name: string, answer: string | Error, accepts: readonly string[] = ['ok']) => ({
  name,
  accepts,
  probe: async () => {
    if (answer instanceof Error) throw answer
    return answer
  },
})

describe('checkReadiness', () => {
  it('is ready if every check returns an accepted state, and reports each by name', async () => {
    const checkReadiness = createCheckReadiness(
      [
        check('database', 'ok'),
        check('store', 'degraded', ['ok', 'degraded']),
        check('rpc', 'none', ['ok', 'none']),
      ],
      createManualClock(),
    )
    expect(await checkReadiness()).toEqual({
      status: 'ready',
      checks: { database: 'ok', store: 'degraded', rpc: 'none' },
    })
  })

  it('is not ready if one check returns another state, and still reports the others', async () => {
    const checkReadiness = createCheckReadiness(
      [check('database', 'ok'), check('rpc', 'stale'), check('store', 'ok')],
      createManualClock(),
    )
    expect(await checkReadiness()).toEqual({
      status: 'unready',
      checks: { database: 'ok', rpc: 'stale', store: 'ok' },
    })
  })

  it('reports a check that throws as unreachable, without its error', async () => {
    const checkReadiness = createCheckReadiness(
      [check('database', new Error('password authentication failed for hunter2'))],
      createManualClock(),
    )
    expect(await checkReadiness()).toEqual({ status: 'unready', checks: { database: 'unreachable' } })
  })

  it('runs all checks concurrently', async () => {
    let arrived = 0
    let open: () => void = () => {}
    const bothArrived = new Promise<void>((resolve) => {
      open = resolve
    })
    const probe = async () => {
      arrived += 1
      if (arrived === 2) open()
      await bothArrived
      return 'ok'
    }
    const checks = ['database', 'rpc'].map((name) => ({ name, accepts: ['ok'], probe }))
    expect((await createCheckReadiness(checks, createManualClock())()).status).toBe('ready')
  })

  it('is ready without checks', async () => {
    expect(await createCheckReadiness([], createManualClock())()).toEqual({ status: 'ready', checks: {} })
  })

  it('checks once a second, however many callers ask (A58)', async () => {
    const clock = createManualClock()
    let probes = 0
    const probe = async () => {
      probes += 1
      return 'ok'
    }
    const checkReadiness = createCheckReadiness([{ name: 'rpc', accepts: ['ok'], probe }], clock)
    await Promise.all(Array.from({ length: 1_000 }, checkReadiness))
    await clock.advance(999)
    await checkReadiness()
    expect(probes).toBe(1)
    await clock.advance(1)
    await checkReadiness()
    expect(probes).toBe(2)
  })
})
