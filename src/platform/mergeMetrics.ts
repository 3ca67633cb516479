import { AggregatorRegistry } from 'prom-client'
import { z } from 'zod'

/** A metric as `Registry.getMetricsAsJSON` returns it. */
const metrics = z.array(z.looseObject({ name: z.string(), type: z.string(), aggregator: z.string() }))

// What is bad in one process is bad.
const least = new Set([
  'quittance_job_done_timestamp_seconds',
  'quittance_network_serving',
  'quittance_ready',
  'quittance_rpc_endpoint_up',
  'quittance_signer_balance',
  'quittance_signer_settles_left',
])

// What each process has of its own.
const amounts = /^quittance_(?:pool_connections|lane_queue)/

/** The counters and histograms among them, added up, as `Registry.getMetricsAsJSON` returns them. */
export const foldCounters = async (processes: readonly unknown[]): Promise<unknown> =>
  await AggregatorRegistry.aggregate(
    processes.map((each) =>
      metrics.parse(each).filter(({ type }) => type === 'counter' || type === 'histogram'),
    ),
  ).getMetricsAsJSON()

/**
 * The metrics of processes that share a port, as text. Counts and histograms add up. A gauge of ours is a state that each
 * process sees by itself: its worst value, or its newest.
 */
export const mergeMetrics = async (processes: readonly unknown[]): Promise<string> => {
  const parts = processes.map((each) =>
    metrics.parse(each).map((metric) => {
      if (metric.type !== 'gauge' || !metric.name.startsWith('quittance_')) return metric
      if (amounts.test(metric.name)) return { ...metric, aggregator: 'sum' }
      return { ...metric, aggregator: least.has(metric.name) ? 'min' : 'max' }
    }),
  )
  return await AggregatorRegistry.aggregate(parts).metrics()
}
