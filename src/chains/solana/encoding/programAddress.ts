import { createHash } from 'node:crypto'

// Ed25519 (RFC 8032) defines the prime of the field, and the constant of the curve -x² + y² = 1 + d·x²·y².
const prime = 2n ** 255n - 19n
const d =
  37_095_705_934_669_439_343_138_083_508_754_565_189_542_113_879_843_219_016_388_785_533_085_940_283_555n

const marker = Buffer.from('ProgramDerivedAddress')
const maxBump = 255

/** The account of a program for these seeds: the hash with the highest bump that is no point of the curve. */
export const findProgramAddress = (seeds: readonly Uint8Array[], program: Uint8Array): Buffer => {
  for (let bump = maxBump; bump >= 0; bump -= 1) {
    const hash = createHash('sha256')
    for (const part of [...seeds, Buffer.from([bump]), program, marker]) hash.update(part)
    const address = hash.digest()
    if (!isOnCurve(address)) return address
  }
  throw new Error('No bump leads to a program address')
}

/** Whether 32 bytes are the compressed form of a point, which could be a public key. */
export const isOnCurve = (bytes: Uint8Array): boolean => {
  const littleEndian = Buffer.from(bytes).reverse()
  // The highest bit is the sign of x.
  littleEndian.writeUInt8(littleEndian.readUInt8(0) & 0x7f, 0)
  const y = BigInt(`0x${littleEndian.toString('hex')}`) % prime
  const ySquared = (y * y) % prime
  // x² = (y² - 1) / (d·y² + 1), and a quotient is a square where the product is.
  const product = ((ySquared + prime - 1n) * (d * ySquared + 1n)) % prime
  return product === 0n || raiseToHalf(product) === 1n
}

const multiply = (left: bigint, right: bigint): bigint => (left * right) % prime

const square = (base: bigint, times: number): bigint => {
  let result = base
  for (let count = 0; count < times; count += 1) result = (result * result) % prime
  return result
}

/** base^((prime - 1) / 2) = base^(2^254 - 10): 1 for squares. By an addition chain with 12 multiplications. */
const raiseToHalf = (base: bigint): bigint => {
  const to9 = multiply(square(base, 3), base)
  const to11 = multiply(to9, square(base, 1))
  // Named by the number of ones in the exponent.
  const ones5 = multiply(square(to11, 1), to9)
  const ones10 = multiply(square(ones5, 5), ones5)
  const ones20 = multiply(square(ones10, 10), ones10)
  const ones40 = multiply(square(ones20, 20), ones20)
  const ones50 = multiply(square(ones40, 10), ones10)
  const ones100 = multiply(square(ones50, 50), ones50)
  const ones200 = multiply(square(ones100, 100), ones100)
  const ones250 = multiply(square(ones200, 50), ones50)
  // 2^254 - 16 + 6
  return multiply(square(ones250, 4), multiply(square(base, 2), square(base, 1)))
}
