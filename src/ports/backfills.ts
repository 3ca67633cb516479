/** Values that a migration needs in rows of older versions, written in batches while the service runs. */
export interface Backfills {
  /** Runs the next batch. Null: nothing is left, or another instance runs it. */
  runBatch(): Promise<BackfillBatch | null>
}

export interface BackfillBatch {
  /** Null: rows were locked, and nothing was written. */
  readonly name: string | null
  readonly isFinished: boolean
}
