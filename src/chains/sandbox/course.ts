import { createHash } from 'node:crypto'
import { z } from 'zod'
import type { ScenarioScript } from '../../ports/sandbox.js'
import type { BlockReference } from '../../ports/settlementJournal.js'
import type { JsonObject } from '../../protocol/fields.js'
import { isReason, type Reason } from '../../protocol/reasons.js'
import type { BlockForm } from '../../schemes/offlineScheme.js'
import type { Outcome } from '../../schemes/scheme.js'

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

interface Moment {
  readonly transaction: string
  readonly network: string
  /** Null where blocks are final at once: there is no reorg. */
  readonly blocks: BlockForm | null
  /** Null: after everything has happened. */
  readonly atMs: number | null
}

export const resolveCourse = (course: Course, { transaction, network, blocks, atMs }: Moment): Outcome => {
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

/** First bytes of every hash of the sandbox: `5a4db0` reads as "sandbo". */
const marker = Buffer.from('5a4db0', 'hex')

const blockMs = 2_000

/** Blocks that a clock has seen. */
export const heightAt = (clockMs: number): number => Math.floor(clockMs / blockMs)

/** A block that a scenario will orphan names the scenario; all others are final. */
interface VirtualBlock {
  readonly network: string
  readonly height: number
  /** UUID; null: final. */
  readonly orphanedBy: string | null
}

const uuidForm = /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/
const uuidBytes = 16
const numberOffset = marker.length + 1 + uuidBytes
const networkOffset = numberOffset + 8
const hashBytes = 32

/** The hash contains everything that `readBlock` returns: it must work on every instance, after every restart. */
const createBlock = (
  { network, height, orphanedBy }: VirtualBlock,
  { format }: BlockForm,
): BlockReference => {
  if (orphanedBy !== null && !uuidForm.test(orphanedBy))
    throw new Error('The id of a scenario must be a UUID')
  // Block 0 is the genesis block.
  const number = BigInt(height) + 1n
  const bytes = Buffer.alloc(hashBytes)
  marker.copy(bytes)
  bytes.writeUInt8(orphanedBy === null ? 0 : 1, marker.length)
  if (orphanedBy !== null) bytes.write(orphanedBy.replaceAll('-', ''), marker.length + 1, 'hex')
  bytes.writeBigUInt64BE(number, numberOffset)
  createHash('sha256')
    .update(network)
    .digest()
    .copy(bytes, networkOffset, 0, hashBytes - networkOffset)
  return { number, hash: format(bytes) }
}

/** Null if `createBlock` does not create it. */
export const readBlock = (block: BlockReference, network: string, form: BlockForm): VirtualBlock | null => {
  const read = form.read(block.hash)
  if (read === null) return null
  const bytes = Buffer.from(read)
  const hex = bytes.toString('hex', marker.length + 1, numberOffset)
  const orphanedBy = bytes.readUInt8(marker.length) === 1 ? toUuid(hex) : null
  const height = Number(bytes.readBigUInt64BE(numberOffset) - 1n)
  if (!Number.isSafeInteger(height) || height < 0) return null
  const virtual = { network, height, orphanedBy }
  const { number, hash } = createBlock(virtual, form)
  return number === block.number && hash === block.hash ? virtual : null
}

const toUuid = (hex: string): string => hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')

/**
 * 64 bytes for one settlement. Of the settlement too: an authorization that failed may be settled again, and a journal
 * takes a transaction once.
 */
export const createTransactionHash = (authorizationId: string, settlementId: string): Uint8Array => {
  const hash = createHash('sha512').update(`${settlementId} ${authorizationId}`).digest()
  return Buffer.concat([marker, hash.subarray(marker.length)])
}
