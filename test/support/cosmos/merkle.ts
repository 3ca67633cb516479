import { sha256 } from '@noble/hashes/sha2'

const join = (...parts: readonly Uint8Array[]): Uint8Array => Uint8Array.from(Buffer.concat([...parts]))

export const leafHash = (leaf: Uint8Array): Uint8Array => sha256(join(Uint8Array.of(0), leaf))
const innerHash = (left: Uint8Array, right: Uint8Array): Uint8Array =>
  sha256(join(Uint8Array.of(1), left, right))

const splitPoint = (count: number): number => {
  let left = 1
  while (left * 2 < count) left *= 2
  return left
}

/** RFC 6962, as CometBFT. */
export const merkleRoot = (leaves: readonly Uint8Array[]): Uint8Array => {
  const [first] = leaves
  if (first === undefined) return sha256(new Uint8Array())
  if (leaves.length === 1) return leafHash(first)
  const left = splitPoint(leaves.length)
  return innerHash(merkleRoot(leaves.slice(0, left)), merkleRoot(leaves.slice(left)))
}

/** Siblings of a leaf, from the leaf upwards. */
export const auntsOf = (leaves: readonly Uint8Array[], index: number): readonly Uint8Array[] => {
  if (leaves.length <= 1) return []
  const left = splitPoint(leaves.length)
  return index < left
    ? [...auntsOf(leaves.slice(0, left), index), merkleRoot(leaves.slice(left))]
    : [...auntsOf(leaves.slice(left), index - left), merkleRoot(leaves.slice(0, left))]
}
