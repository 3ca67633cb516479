export const smaller = (left: bigint, right: bigint): bigint => (left < right ? left : right)
export const larger = (left: bigint, right: bigint): bigint => (left > right ? left : right)
