import fc from 'fast-check'
import { encodeFunctionData, encodeFunctionResult, getAddress, type Hex, multicall3Abi } from 'viem'
import { describe, expect, it } from 'vitest'
import { decodeAggregate, encodeAggregate } from '../../../../src/chains/evm/abi/multicall.js'

const toHex = (array: Uint8Array): Hex => `0x${Buffer.from(array).toString('hex')}`
const bytes = fc.uint8Array({ maxLength: 400 }).map(toHex)
const address = fc.uint8Array({ minLength: 20, maxLength: 20 }).map((array) => getAddress(toHex(array)))
const calls = fc.array(fc.record({ target: address, data: bytes }), { maxLength: 20 })
const results = fc.array(fc.record({ success: fc.boolean(), returnData: bytes }), { maxLength: 20 })

const encodeAnswer = (answers: readonly { readonly success: boolean; readonly returnData: Hex }[]): Hex =>
  encodeFunctionResult({ abi: multicall3Abi, functionName: 'aggregate3', result: answers })

describe('encodeAggregate', () => {
  it('returns the calldata of aggregate3 with calls that may all fail', () => {
    fc.assert(
      fc.property(calls, (inner) => {
        const args = inner.map(({ target, data }) => ({ target, allowFailure: true, callData: data }))
        const expected = encodeFunctionData({ abi: multicall3Abi, functionName: 'aggregate3', args: [args] })
        expect(encodeAggregate(inner)).toBe(expected)
      }),
    )
  })
})

describe('decodeAggregate', () => {
  it('reads every result of aggregate3, in the order of the calls', () => {
    fc.assert(
      fc.property(results, (answers) => {
        expect(decodeAggregate(encodeAnswer(answers), answers.length)).toEqual(
          answers.map(({ success, returnData }) => ({ succeeds: success, data: returnData })),
        )
      }),
    )
  })

  it('returns null when the number of results differs', () => {
    fc.assert(
      fc.property(results, fc.nat(25), (answers, count) => {
        fc.pre(count !== answers.length)
        expect(decodeAggregate(encodeAnswer(answers), count)).toBeNull()
      }),
    )
  })

  it('returns null for truncated data', () => {
    fc.assert(
      fc.property(results, fc.nat(), (answers, cut) => {
        fc.pre(answers.some(({ returnData }) => returnData.length > 2))
        const whole = encodeAnswer(answers)
        // The padding of the last bytes belongs to no result.
        const end = whole.length - 62 - (cut % (whole.length - 62))
        const decoded = decodeAggregate(`0x${whole.slice(2, Math.max(end - 64, 2))}`, answers.length)
        expect(decoded).toBeNull()
      }),
    )
  })

  it('never throws and never returns another number of results', () => {
    const spoiled = fc
      .tuple(results, fc.nat(), fc.stringMatching(/^[0-9a-f]{1,64}$/))
      .map(([answers, at, noise]): Hex => {
        const whole = encodeAnswer(answers).slice(2)
        const place = at % whole.length
        return `0x${whole.slice(0, place)}${noise}${whole.slice(place + noise.length)}`
      })
    fc.assert(
      fc.property(fc.oneof(bytes, spoiled), fc.nat(20), (answer, count) => {
        const decoded = decodeAggregate(answer, count)
        if (decoded !== null) expect(decoded).toHaveLength(count)
      }),
      { numRuns: 500 },
    )
  })
})
