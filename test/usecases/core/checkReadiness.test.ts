import { describe, expect, it } from 'vitest'
import { createCheckReadiness } from '../../../src/usecases/core/checkReadiness.js'

const check = (name: string, answer: string | Error, accepts: readonly string[] = ['ok']) => ({
  name,
  accepts,
  ask: async () => {
    if (answer instanceof Error) throw answer
    return answer
  },
})

describe('checkReadiness', () => {
  it('is ready when every check answers what is accepted, and says each by name', async () => {
    const ask = createCheckReadiness([
      check('database', 'ok'),
      check('store', 'degraded', ['ok', 'degraded']),
      check('rpc', 'none', ['ok', 'none']),
    ])
    expect(await ask()).toEqual({
      status: 'ready',
      checks: { database: 'ok', store: 'degraded', rpc: 'none' },
    })
  })

  it('is not ready when one answers something else, and goes on to say the others', async () => {
    const ask = createCheckReadiness([check('database', 'ok'), check('rpc', 'stale'), check('store', 'ok')])
    expect(await ask()).toEqual({ status: 'unready', checks: { database: 'ok', rpc: 'stale', store: 'ok' } })
  })

  it('calls a check that throws unreachable, and repeats nothing of its error', async () => {
    const ask = createCheckReadiness([
      check('database', new Error('password authentication failed for hunter2')),
    ])
    expect(await ask()).toEqual({ status: 'unready', checks: { database: 'unreachable' } })
  })

  it('asks all checks at once', async () => {
    let arrived = 0
    let open: () => void = () => {}
    const bothArrived = new Promise<void>((resolve) => {
      open = resolve
    })
    const ask = async () => {
      arrived += 1
      if (arrived === 2) open()
      await bothArrived
      return 'ok'
    }
    const checks = ['database', 'rpc'].map((name) => ({ name, accepts: ['ok'], ask }))
    expect((await createCheckReadiness(checks)()).status).toBe('ready')
  })

  it('is ready when nothing needs to be', async () => {
    expect(await createCheckReadiness([])()).toEqual({ status: 'ready', checks: {} })
  })
})
