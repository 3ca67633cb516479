import {
  concatHex,
  type Hex,
  numberToHex,
  parseSignature,
  serializeCompactSignature,
  signatureToCompactSignature,
} from 'viem'

const curveOrder = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n

/** The malleable twin: s above half the curve order, which USDC rejects. */
export const toHighS = (signature: Hex): Hex => {
  const { r, s, yParity } = parseSignature(signature)
  const otherS = numberToHex(curveOrder - BigInt(s), { size: 32 })
  return concatHex([r, otherS, numberToHex(28 - yParity, { size: 1 })])
}

/** v as 0 or 1 instead of 27 or 28, which USDC rejects. */
export const toParityV = (signature: Hex): Hex => {
  const { r, s, yParity } = parseSignature(signature)
  return concatHex([r, s, numberToHex(yParity, { size: 1 })])
}

/** Compact form (ERC-2098), which USDC rejects. */
export const toCompact = (signature: Hex): Hex =>
  serializeCompactSignature(signatureToCompactSignature(parseSignature(signature)))
