import { Counter, Gauge, type Registry } from 'prom-client'
import type { NetworkState } from '../ports/operatorOverview.js'

export type MeasuredNetwork = Pick<NetworkState, 'network' | 'isServing' | 'signers' | 'endpoints' | 'queued'>

interface Sample {
  readonly labels: Readonly<Record<string, string>>
  readonly value: number | bigint | null
}

/** Gauges that are computed on scrape. Unknown values have no sample instead of 0. */
export const registerNetworkGauges = (
  registry: Registry,
  listNetworks: () => readonly MeasuredNetwork[],
): void => {
  const gauge = (
    name: string,
    help: string,
    { labelNames, sample }: { labelNames: string[]; sample: (network: MeasuredNetwork) => readonly Sample[] },
  ) => {
    const created: Gauge = new Gauge({
      name,
      help,
      labelNames,
      registers: [registry],
      collect: () => {
        created.reset()
        for (const { labels, value } of listNetworks().flatMap(sample)) {
          if (value !== null) created.set(labels, Number(value))
        }
      },
    })
  }
  const ofSigners = (value: (signer: MeasuredNetwork['signers'][number]) => Sample['value']) => ({
    labelNames: ['network', 'signer'],
    sample: ({ network, signers }: MeasuredNetwork) =>
      signers.map((signer) => ({ labels: { network, signer: signer.signer }, value: value(signer) })),
  })
  const ofEndpoints = (value: (endpoint: MeasuredNetwork['endpoints'][number]) => Sample['value']) => ({
    labelNames: ['network', 'host'],
    sample: ({ network, endpoints }: MeasuredNetwork) =>
      endpoints.map((endpoint) => ({ labels: { network, host: endpoint.host }, value: value(endpoint) })),
  })

  new Counter({
    name: 'quittance_lane_repairs_total',
    help: 'Gaps that were found in the nonces of a signer, and closed',
    labelNames: ['network', 'signer'],
    registers: [registry],
    collect() {
      this.reset()
      for (const { network, signers } of listNetworks()) {
        for (const { signer, laneRepairs } of signers) {
          if (laneRepairs !== undefined) this.inc({ network, signer }, laneRepairs)
        }
      }
    },
  })
  gauge('quittance_network_serving', 'Whether the network is offered: 1 or 0', {
    labelNames: ['network'],
    sample: ({ network, isServing }) => [{ labels: { network }, value: Number(isServing) }],
  })
  gauge('quittance_lane_queue', 'Payments of this instance that wait for a place in a transaction', {
    labelNames: ['network'],
    sample: ({ network, queued = null }) => [{ labels: { network }, value: queued }],
  })
  gauge(
    'quittance_signer_settles_left',
    'Settlements that a signer can pay for at the current price',
    ofSigners(({ settlementsLeft }) => settlementsLeft),
  )
  gauge(
    'quittance_signer_balance',
    "Balance of a signer in the network's native coin, in its smallest unit",
    ofSigners(({ balance }) => balance),
  )
  gauge(
    'quittance_rpc_endpoint_up',
    'Whether an endpoint responds, serves the right chain and is in sync: 1 or 0',
    ofEndpoints(({ isUp }) => Number(isUp)),
  )
  gauge(
    'quittance_rpc_endpoint_head',
    'Latest block number reported by an endpoint',
    ofEndpoints(({ head }) => head),
  )
  gauge(
    'quittance_rpc_endpoint_latency_seconds',
    'Typical latency of a small request to an endpoint',
    ofEndpoints(({ latencyMs }) => (latencyMs === null ? null : latencyMs / 1_000)),
  )
}
