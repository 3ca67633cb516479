import {
  concatHex,
  type Hex,
  numberToHex,
  parseSignature,
  serializeCompactSignature,
  signatureToCompactSignature,
} from 'viem'

const curveOrder = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n

/** The other signature that recovers to the same key: s above half the curve's order, which USDC refuses. */
export const toHighS = (signature: Hex): Hex => {
  const { r, s, yParity } = parseSignature(signature)
  const otherS = numberToHex(curveOrder - BigInt(s), { size: 32 })
  return concatHex([r, otherS, numberToHex(28 - yParity, { size: 1 })])
}

/** The same signature with 0 or 1 in place of 27 or 28, which USDC refuses. */
export const toParityV = (signature: Hex): Hex => {
  const { r, s, yParity } = parseSignature(signature)
  return concatHex([r, s, numberToHex(yParity, { size: 1 })])
}

/** The same signature in the 64 bytes of ERC-2098, which USDC refuses. */
export const toCompact = (signature: Hex): Hex =>
  serializeCompactSignature(signatureToCompactSignature(parseSignature(signature)))
