/** When an extrinsic can be included. */
export interface Era {
  /** The block whose hash the extrinsic signs, of one that stands in this block; 0 for an immortal one. */
  findStart(blockNumber: number): number
}

const maxQuantizedPeriod = 4_096

/** One byte 0, or two bytes of period and phase; null for other bytes. */
export const readEra = (bytes: Uint8Array = new Uint8Array()): Era | null => {
  const [first, second] = bytes
  if (bytes.length === 1 && first === 0) return { findStart: () => 0 }
  if (bytes.length !== 2 || first === undefined || second === undefined) return null
  const encoded = first + (second << 8)
  const period = 2 << (encoded & 0b1111)
  const phase = (encoded >> 4) * Math.max(period / maxQuantizedPeriod, 1)
  if (period < 4 || phase >= period) return null
  return {
    findStart: (blockNumber) => Math.floor((Math.max(blockNumber, phase) - phase) / period) * period + phase,
  }
}
