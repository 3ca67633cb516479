import { describe, expect, it } from 'vitest'
import { createCheckReadiness } from '../../../src/usecases/core/index.js'

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
    const checkReadiness = createCheckReadiness([
      check('database', 'ok'),
      check('store', 'degraded', ['ok', 'degraded']),
      check('rpc', 'none', ['ok', 'none']),
    ])
    expect(await checkReadiness()).toEqual({
      status: 'ready',
      checks: { database: 'ok', store: 'degraded', rpc: 'none' },
    })
  })

  it('is not ready if one check returns another state, and still reports the others', async () => {
    const checkReadiness = createCheckReadiness([
      check('database', 'ok'),
      check('rpc', 'stale'),
      check('store', 'ok'),
    ])
    expect(await checkReadiness()).toEqual({
      status: 'unready',
      checks: { database: 'ok', rpc: 'stale', store: 'ok' },
    })
  })

  it('reports a check that throws as unreachable, without its error', async () => {
    const checkReadiness = createCheckReadiness([
      check('database', new Error('password authentication failed for hunter2')),
    ])
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
    expect((await createCheckReadiness(checks)()).status).toBe('ready')
  })

  it('is ready without checks', async () => {
    expect(await createCheckReadiness([])()).toEqual({ status: 'ready', checks: {} })
  })
})
