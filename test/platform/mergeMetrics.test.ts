import { Gauge, Registry } from 'prom-client'
import { describe, expect, it } from 'vitest'
import { mergeMetrics } from '../../src/platform/mergeMetrics.js'

/** The value of a gauge that two processes have. */
const merge = async (name: string, values: readonly number[]): Promise<string | undefined> => {
  const processes = values.map(async (value) => {
    const registry = new Registry()
    new Gauge({ name, help: 'help', registers: [registry] }).set(value)
    return await registry.getMetricsAsJSON()
  })
  const text = await mergeMetrics(await Promise.all(processes))
  return new RegExp(`^${name} (\\d+)$`, 'm').exec(text)?.[1]
}

describe('a gauge of several processes', () => {
  it.each([
    { name: 'quittance_job_done_timestamp_seconds', merged: '3', because: 'a dead job of one is seen' },
    { name: 'quittance_ready', merged: '3', because: 'one that is not ready is seen' },
    { name: 'quittance_lane_queue', merged: '8', because: 'each has its own' },
    { name: 'quittance_webhooks_unattended_seconds', merged: '5', because: 'the worst is seen' },
  ])('$name is $merged of 3 and 5: $because', async ({ name, merged }) => {
    expect(await merge(name, [3, 5])).toBe(merged)
  })
})
