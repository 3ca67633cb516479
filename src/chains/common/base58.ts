/* Base58 as Bitcoin has it, without a checksum. */

const alphabet = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz'
/** By character code. */
const digitOf: readonly (number | undefined)[] = Array.from({ length: 128 }, (_, code) => {
  const digit = alphabet.indexOf(String.fromCharCode(code))
  return digit === -1 ? undefined : digit
})

const maxLength = 90

/*
 * Numbers are lists of digits, the lowest first. Five letters are one digit: with 16 bits beside it the products stay
 * below 2^53, and bigints take three times as long.
 */
const lettersPerDigit = 5
const base = 58 ** lettersPerDigit
const bytesPerWord = 2
const wordBase = 0x1_0000

export const encodeBase58 = (bytes: Uint8Array): string => {
  const digits: number[] = []
  for (
    let end = bytes.length % bytesPerWord === 0 ? bytesPerWord : 1;
    end <= bytes.length;
    end += bytesPerWord
  ) {
    append(digits, { base, factor: wordBase, term: ((bytes[end - 2] ?? 0) << 8) | (bytes[end - 1] ?? 0) })
  }
  let text = ''
  for (const digit of digits) {
    let rest = digit
    for (let letters = 0; letters < lettersPerDigit; letters += 1) {
      text = `${alphabet[rest % 58]}${text}`
      rest = Math.floor(rest / 58)
    }
  }
  return `${'1'.repeat(countLeading(bytes, 0))}${text.slice(countLeading(text, '1'))}`
}

/** Null if it is not valid base58. */
export const decodeBase58 = (text: string): Buffer | null => {
  if (text === '' || text.length > maxLength) return null
  const words: number[] = []
  let term = 0
  let factor = 1
  for (let index = 0; index < text.length; index += 1) {
    const digit = digitOf[text.charCodeAt(index)]
    if (digit === undefined) return null
    term = term * 58 + digit
    factor *= 58
    if (factor < base && index < text.length - 1) continue
    append(words, { base: wordBase, factor, term })
    term = 0
    factor = 1
  }
  const zeros = countLeading(text, '1')
  const highest = words.at(-1) ?? 0
  const length = words.length * bytesPerWord - (highest > 0 && highest < 0x100 ? 1 : 0)
  const bytes = Buffer.alloc(zeros + length)
  for (let index = 0, end = bytes.length; index < words.length; index += 1, end -= bytesPerWord) {
    const word = words[index] ?? 0
    bytes[end - 1] = word & 0xff
    if (end - 2 >= zeros) bytes[end - 2] = word >> 8
  }
  return bytes
}

/** Multiplies the number by the factor and adds the term, in place. */
const append = (
  digits: number[],
  { base, factor, term }: { readonly base: number; readonly factor: number; readonly term: number },
): void => {
  let carry = term
  for (let index = 0; index < digits.length; index += 1) {
    const value = (digits[index] ?? 0) * factor + carry
    carry = Math.floor(value / base)
    digits[index] = value - carry * base
  }
  for (; carry > 0; carry = Math.floor(carry / base)) digits.push(carry % base)
}

const countLeading = <T>(sequence: ArrayLike<T>, wanted: T): number => {
  let count = 0
  while (count < sequence.length && sequence[count] === wanted) count += 1
  return count
}
