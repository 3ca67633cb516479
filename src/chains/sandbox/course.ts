import { z } from 'zod'
import type { ScenarioScript } from '../../ports/sandbox.js'
import type { JsonObject } from '../../protocol/fields.js'
import { isReason, type Reason } from '../../protocol/reasons.js'
import type { BlockForm } from '../../schemes/offlineScheme.js'
import type { Outcome } from '../../schemes/scheme.js'
import { createBlock, heightAt } from './blocks.js'

/** What happens to one payment once it was sent; times in ms of its clock. */
export interface Course extends Pick<ScenarioScript, 'settle' | 'reorg'> {
  readonly sentAtMs: number
  /** Its clock is that of the scenario; null: the service's. */
  readonly scenarioId: string | null
}

const reason = z.custom<Reason>((value) => typeof value === 'string' && isReason(value))

const courseShape = z.object({
  sentAtMs: z.number(),
  scenarioId: z.string().nullable(),
  settle: z.object({ failure: reason.nullable(), pendingSeconds: z.number() }),
  reorg: z.object({ afterBlocks: z.number(), failure: reason.nullable() }).nullable(),
})

/** For the journal row: `resolve` needs nothing else. */
export const formatCourse = ({ sentAtMs, scenarioId, settle, reorg }: Course): JsonObject => ({
  sentAtMs,
  scenarioId,
  settle: { failure: settle.failure, pendingSeconds: settle.pendingSeconds },
  reorg: reorg === null ? null : { afterBlocks: reorg.afterBlocks, failure: reorg.failure },
})

/** Inverse of `formatCourse`; throws for anything else. */
export const readCourse = (details: JsonObject): Course => courseShape.parse(details)

/** A block has at least one on top of it when it is orphaned: until then the payment counts. */
export const findOrphanHeight = (height: number, afterBlocks: number): number =>
  height + Math.max(1, afterBlocks)

export interface Moment {
  readonly transaction: string
  readonly network: string
  /** Null where blocks are final at once: there is no reorg. */
  readonly blocks: BlockForm | null
  /** Null: after everything has happened. */
  readonly atMs: number | null
}

export const findOutcome = (course: Course, { transaction, network, blocks, atMs }: Moment): Outcome => {
  const { sentAtMs, settle, reorg, scenarioId } = course
  const confirmedAtMs = sentAtMs + settle.pendingSeconds * 1_000
  if (atMs !== null && atMs < confirmedAtMs) return { state: 'pending', transaction }
  if (settle.failure !== null) return { state: 'failed', reason: settle.failure, transaction }
  if (blocks === null) return { state: 'confirmed', transaction }

  const height = heightAt(confirmedAtMs)
  const confirmIn = (inHeight: number, orphanedBy: string | null): Outcome => {
    const block = createBlock({ network, height: inHeight, orphanedBy }, blocks)
    return { state: 'confirmed', transaction, block }
  }
  if (reorg === null) return confirmIn(height, null)
  const orphanHeight = findOrphanHeight(height, reorg.afterBlocks)
  if (atMs !== null && heightAt(atMs) < orphanHeight) return confirmIn(height, scenarioId)
  return reorg.failure === null
    ? confirmIn(orphanHeight, null)
    : { state: 'failed', reason: reorg.failure, transaction }
}
