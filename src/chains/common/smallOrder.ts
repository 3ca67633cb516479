/*
 * The points of Ed25519 that eight times themselves make nothing of, without their sign, as far as they can be written
 * at all. What is signed with one of them proves nothing, and Solana's validators take neither such a key nor a
 * signature that begins with such a point, although other libraries do.
 */
const points = new Set([
  '0000000000000000000000000000000000000000000000000000000000000000',
  '0100000000000000000000000000000000000000000000000000000000000000',
  '26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05',
  'c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a',
  'ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f',
  'edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f',
  'eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f',
])

const pointLength = 32
const withoutSign = 0x7f

/** Whether the first 32 bytes are a point of small order. */
export const isSmallOrderPoint = (bytes: Uint8Array): boolean => {
  const point = Buffer.from(bytes.subarray(0, pointLength))
  point[pointLength - 1] = (point[pointLength - 1] ?? 0) & withoutSign
  return points.has(point.toString('hex'))
}
