import { sha256 } from './addresses.js'

interface InclusionProof {
  /** Place of the leaf. */
  readonly index: number
  /** Number of leaves. */
  readonly total: number
  /** Sibling hashes, from the leaf upwards. */
  readonly aunts: readonly Uint8Array[]
}

const leafPrefix = Uint8Array.of(0)
const innerPrefix = Uint8Array.of(1)
const hashLength = 32

/**
 * Root of the RFC 6962 tree that holds the leaf at the proof's place; null if the proof cannot be one. CometBFT's leaves
 * are the sha256 of transactions, and the root is the block header's `data_hash`.
 */
export const computeRoot = (leaf: Uint8Array, { index, total, aunts }: InclusionProof): Buffer | null => {
  if (!Number.isSafeInteger(total) || !Number.isSafeInteger(index)) return null
  if (index < 0 || index >= total || aunts.some(({ length }) => length !== hashLength)) return null
  return climb(sha256(leafPrefix, leaf), { index, total, aunts })
}

const climb = (leafHash: Buffer, { index, total, aunts }: InclusionProof): Buffer | null => {
  const aunt = aunts.at(-1)
  if (total === 1) return aunt === undefined ? leafHash : null
  if (aunt === undefined) return null
  const left = countLeft(total)
  const lower = aunts.slice(0, -1)
  if (index < left) {
    const below = climb(leafHash, { index, total: left, aunts: lower })
    return below === null ? null : sha256(innerPrefix, below, aunt)
  }
  const below = climb(leafHash, { index: index - left, total: total - left, aunts: lower })
  return below === null ? null : sha256(innerPrefix, aunt, below)
}

/** Largest power of two below the number of leaves. */
const countLeft = (total: number): number => 2 ** Math.floor(Math.log2(total - 1))
