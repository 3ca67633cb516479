import type { LimitWindow, RateLimitResult } from '../ports/rateLimiter.js'

/** Set for processes that a supervisor starts: other programs use clusters, too. */
export const supervisedVariable = 'QUITTANCE_SUPERVISED'

/** What a worker needs before it can start. */
export interface Start {
  readonly kind: 'start'
  /** The embedded database, which runs under the supervisor; null: `DATABASE_URL`. */
  readonly embeddedUrl: string | null
  /** Whether no worker was ready before it: it makes what all of them use, and describes the start. */
  readonly isFirst: boolean
  readonly workerCount: number
}

export type ToWorker =
  | Start
  /** Results are in the order of the windows. */
  | { readonly kind: 'taken'; readonly id: number; readonly results: readonly RateLimitResult[] }
  | { readonly kind: 'metrics_wanted'; readonly id: number }
  /** Those of all workers, as text. */
  | { readonly kind: 'metrics'; readonly id: number; readonly text: string }
  /** `announces`: a load balancer may still send requests. */
  | { readonly kind: 'stop'; readonly announces: boolean }

export type ToSupervisor =
  | { readonly kind: 'connected' }
  | { readonly kind: 'ready' }
  /** Takes of one turn of the event loop. */
  | { readonly kind: 'take'; readonly id: number; readonly takes: readonly (readonly LimitWindow[])[] }
  | { readonly kind: 'refund'; readonly windows: readonly LimitWindow[]; readonly taken: RateLimitResult }
  | { readonly kind: 'read_metrics'; readonly id: number }
  /** Those of one worker, as `listMetrics` returns them. */
  | { readonly kind: 'own_metrics'; readonly id: number; readonly metrics: unknown }
