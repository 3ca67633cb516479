import { encodeFunctionData, type Hex, parseAbi, toFunctionSelector } from 'viem'
import { addressWord, numberWord, paddedBytes } from './words.js'

/** Multicall3 owns nothing and has no privileges, which makes it the caller of wallet factories. */
export const multicallAbi = parseAbi([
  'struct Call3 { address target; bool allowFailure; bytes callData; }',
  'struct Result { bool success; bytes returnData; }',
  'function aggregate3(Call3[] calls) payable returns (Result[] returnData)',
])

/** It has this address on nearly every EVM chain (multicall3.com). */
export const multicallAddress = '0xcA11bde05977b3631167028862bE2a173976CA11'

/** Calldata that deploys a wallet by its factory, and then makes a call that must succeed. */
export const encodeDeployingCall = (
  { factory, factoryData }: { readonly factory: Hex; readonly factoryData: Hex },
  { to, data }: { readonly to: Hex; readonly data: Hex },
): Hex =>
  encodeFunctionData({
    abi: multicallAbi,
    functionName: 'aggregate3',
    args: [
      [
        // The wallet may have been deployed a moment before: the call alone decides.
        { target: factory, allowFailure: true, callData: factoryData },
        { target: to, allowFailure: false, callData: data },
      ],
    ],
  })

/*
 * Hand-written codec of Multicall3's `aggregate3(Call3[])` and its `Result[]`: the layout is fixed, and the
 * general encoder takes about 50 µs per payment.
 */

export interface InnerCall {
  readonly target: Hex
  readonly data: Hex
}

export interface InnerResult {
  readonly succeeds: boolean
  readonly data: Hex
}

const [aggregate3] = multicallAbi
const selector = toFunctionSelector(aggregate3)

const wordBytes = 32
const wordDigits = 64
const [falseWord, trueWord] = [numberWord(0), numberWord(1)]
/** Offset of a call's data: after target, allowFailure and the offset itself. */
const dataOffset = numberWord(3 * wordBytes)

/** Calldata of `aggregate3`; by default each call may fail. */
export const encodeAggregate = (calls: readonly InnerCall[], { mayFail } = { mayFail: true }): Hex => {
  let offsets = ''
  let tuples = ''
  for (const { target, data } of calls) {
    // Offsets count from the first offset.
    offsets += numberWord(calls.length * wordBytes + tuples.length / 2)
    const digits = data.slice(2)
    tuples +=
      addressWord(target) +
      (mayFail ? trueWord : falseWord) +
      dataOffset +
      numberWord(digits.length / 2) +
      paddedBytes(digits)
  }
  return `${selector}${numberWord(wordBytes)}${numberWord(calls.length)}${offsets}${tuples}`
}

/** Decodes the answer of `aggregate3` to a number of calls; null for anything else. */
export const decodeAggregate = (answer: Hex, count: number): readonly InnerResult[] | null => {
  const digits = answer.slice(2)
  const list = readOffset(digits, 0, 0)
  if (list === null || readNumber(digits, list) !== count) return null
  const first = list + wordDigits
  const results: InnerResult[] = []
  for (let index = 0; index < count; index++) {
    const tuple = readOffset(digits, first + index * wordDigits, first)
    const result = tuple === null ? null : readResult(digits, tuple)
    if (result === null) return null
    results.push(result)
  }
  return results
}

const readResult = (digits: string, tuple: number): InnerResult | null => {
  const flag = readNumber(digits, tuple)
  const bytes = readOffset(digits, tuple + wordDigits, tuple)
  const length = bytes === null ? null : readNumber(digits, bytes)
  if ((flag !== 0 && flag !== 1) || bytes === null || length === null) return null
  const start = bytes + wordDigits
  const end = start + length * 2
  return end > digits.length ? null : { succeeds: flag === 1, data: `0x${digits.slice(start, end)}` }
}

/** The position, in digits, that a word points to; offsets are bytes from a base. */
const readOffset = (digits: string, at: number, base: number): number | null => {
  const offset = readNumber(digits, at)
  return offset === null ? null : base + offset * 2
}

const smallNumberDigits = 8
const leadingZeros = '0'.repeat(wordDigits - smallNumberDigits)

/** The number of a word; null when it is missing or exceeds 32 bits. */
const readNumber = (digits: string, at: number): number | null => {
  const end = at + wordDigits
  if (end > digits.length || !digits.startsWith(leadingZeros, at)) return null
  return Number.parseInt(digits.slice(end - smallNumberDigits, end), 16)
}
