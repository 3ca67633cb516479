import { Counter, Gauge, type Registry } from 'prom-client'
import type { JobState, LaneState, WaitingWebhooks } from '../ports/operatorOverview.js'
import type { MeasuredNetwork } from './networkGauges.js'

/** What waits, and what works on it. */
export interface WorkMetrics {
  /** Read on every scrape. */
  measureJobs(listStates: () => readonly JobState[]): void
  /** Replaces all values; a lane without transactions is 0. */
  setLanes(lanes: readonly LaneState[]): void
  setWaitingWebhooks(waiting: WaitingWebhooks): void
}

export const createWorkMetrics = (
  registry: Registry,
  listNetworks: () => readonly MeasuredNetwork[],
): WorkMetrics => {
  let listStates: () => readonly JobState[] = () => []
  const registers = [registry]
  // Prometheus has a label `job` of its own.
  const labelNames = ['background_job']
  const gauge = (name: string, help: string, read: (state: JobState) => number | null): void => {
    new Gauge({
      name,
      help,
      labelNames,
      registers,
      collect() {
        for (const state of listStates()) {
          const value = read(state)
          if (value !== null) this.set({ background_job: state.name }, value)
        }
      },
    })
  }
  gauge(
    'quittance_job_done_timestamp_seconds',
    'When a background job last succeeded, or was left to another instance; before, when the service started',
    ({ doneAt }) => doneAt.getTime() / 1_000,
  )
  gauge(
    'quittance_job_interval_seconds',
    'Pause between two rounds of a background job',
    ({ everyMs }) => everyMs / 1_000,
  )
  gauge(
    'quittance_job_duration_seconds',
    'Duration of the last round of a background job that ended on this instance',
    ({ lastDurationMs }) => (lastDurationMs === null ? null : lastDurationMs / 1_000),
  )
  new Counter({
    name: 'quittance_job_failures_total',
    help: 'Rounds of a background job that failed',
    labelNames,
    registers,
    collect() {
      this.reset()
      for (const { name, failuresInAll } of listStates()) this.inc({ background_job: name }, failuresInAll)
    },
  })

  const inFlight = new Gauge({
    name: 'quittance_lane_in_flight',
    help: 'Transactions of a signer that were recorded, and whose settlements are open',
    labelNames: ['network', 'signer'],
    registers,
  })
  const oldest = new Gauge({
    name: 'quittance_lane_oldest_seconds',
    help: 'Time since the oldest of them was recorded',
    labelNames: ['network', 'signer'],
    registers,
  })
  const webhooks = new Gauge({
    name: 'quittance_webhooks_waiting',
    help: 'Deliveries of webhooks that have not ended; due: now, later: after a pause, or being sent',
    labelNames: ['due'],
    registers,
  })
  const oldestWebhook = new Gauge({
    name: 'quittance_webhooks_oldest_due_seconds',
    help: 'Time since the delivery was due that has waited longest',
    registers,
  })
  const unattendedWebhook = new Gauge({
    name: 'quittance_webhooks_unattended_seconds',
    help: 'The same, of accounts whose receiver was not called within 15 minutes',
    registers,
  })

  return {
    measureJobs: (list) => {
      listStates = list
    },
    setLanes: (lanes) => {
      inFlight.reset()
      oldest.reset()
      const configured = listNetworks().flatMap(({ network, signers }) =>
        signers.map(({ signer }) => ({ network, signer })),
      )
      // The journal has the lanes of keys and networks that are no longer configured, too.
      for (const { network, signer } of configured) {
        const lane = lanes.find((each) => each.network === network && each.signer === signer)
        if (lane === undefined) continue
        inFlight.set({ network, signer }, lane.unconfirmed)
        oldest.set({ network, signer }, lane.oldestSeconds ?? 0)
      }
    },
    setWaitingWebhooks: ({ due, later, oldestDueSeconds, unattendedSeconds }) => {
      webhooks.set({ due: 'now' }, due)
      webhooks.set({ due: 'later' }, later)
      oldestWebhook.set(oldestDueSeconds)
      unattendedWebhook.set(unattendedSeconds)
    },
  }
}
