import { createHash } from 'node:crypto'
import type { BlockReference } from '../../ports/settlementJournal.js'
import type { BlockForm } from '../../schemes/offlineScheme.js'
import { marker } from './marker.js'

const blockMs = 2_000

/** Blocks that a clock has seen. */
export const heightAt = (clockMs: number): number => Math.floor(clockMs / blockMs)

/** A block that a scenario will orphan names the scenario; all others are final. */
export interface VirtualBlock {
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
export const createBlock = (
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
