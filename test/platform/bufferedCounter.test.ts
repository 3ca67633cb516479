import { Registry } from 'prom-client'
import { describe, expect, it } from 'vitest'
import { createBufferedCounter } from '../../src/platform/bufferedCounter.js'

const createCounter = () => {
  const registry = new Registry()
  const { count } = createBufferedCounter({
    name: 'requests',
    help: 'help',
    labelNames: ['method', 'endpoint', 'status'],
    registers: [registry],
  })
  const read = async () => {
    const [metric] = await registry.getMetricsAsJSON()
    return metric?.values.map(({ labels, value }) => ({ ...labels, value }))
  }
  return { count, read }
}

describe('a buffered counter', () => {
  it('counts each combination of values apart, whatever the order of its labels', async () => {
    const { count, read } = createCounter()
    const verified = { method: 'POST', endpoint: '/verify', status: '200' }
    count(verified)
    count({ status: '200', endpoint: '/verify', method: 'POST' })
    count({ ...verified, status: '400' })
    count({ ...verified, endpoint: 'POST', method: '/verify' })
    expect(await read()).toEqual([
      { ...verified, value: 2 },
      { ...verified, status: '400', value: 1 },
      { ...verified, endpoint: 'POST', method: '/verify', value: 1 },
    ])
  })

  it('goes on from what was read before', async () => {
    const { count, read } = createCounter()
    const labels = { method: 'GET', endpoint: '/health', status: '200' }
    count(labels)
    await read()
    count(labels)
    expect(await read()).toEqual([{ ...labels, value: 2 }])
    expect(await read()).toEqual([{ ...labels, value: 2 }])
  })
})
