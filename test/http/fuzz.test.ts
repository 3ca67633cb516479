import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { paymentRequests } from '../../src/http/schemas/examples.js'
import { isRefused, readPayment } from '../../src/protocol/legacy.js'
import type { VerifyRequest } from '../../src/usecases/useCases.js'
import { testApp } from './support/app.js'

// As far as reading goes, a verify as it really is.
const app = testApp({
  core: {
    verifyPayment: async ({ body }: VerifyRequest) => {
      const payment = readPayment(body)
      return isRefused(payment) ? { isValid: false, invalidReason: payment.reason } : { isValid: true }
    },
  },
})

beforeAll(async () => {
  await app.ready()
})
afterAll(async () => await app.close())

const goodBodies = Object.values(paymentRequests).map(({ value }) => JSON.stringify(value))

const nastyValues = fc.constantFrom<unknown>(
  null,
  true,
  '',
  ' ',
  '\0',
  '\ud800',
  '-1',
  '1e9',
  '0x10',
  '9'.repeat(90),
  -1,
  0.5,
  Number.MAX_VALUE,
  [],
  {},
  [[]],
  { toString: 1, constructor: {}, hasOwnProperty: null },
  'x'.repeat(10_000),
)

/** Every place in a JSON value, as a path. */
const listPaths = (value: unknown, path: readonly string[] = []): readonly (readonly string[])[] => {
  if (typeof value !== 'object' || value === null) return [path]
  return [path, ...Object.entries(value).flatMap(([key, part]) => listPaths(part, [...path, key]))]
}

/** The value with another one at a path; a missing one is left out. */
const replaceAt = (
  value: unknown,
  [key, ...rest]: readonly string[],
  replacement: { value: unknown } | null,
): unknown => {
  if (key === undefined) return replacement?.value
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value).flatMap(([name, part]) => {
    if (name !== key) return [[name, part]]
    if (rest.length === 0 && replacement === null) return []
    return [[name, replaceAt(part, rest, replacement)]]
  })
  return Object.fromEntries(entries)
}

const goodBody = fc.constantFrom(...goodBodies)

const structuralMutant = fc
  .tuple(
    goodBody,
    fc.array(
      fc.tuple(
        fc.nat(),
        fc.option(fc.oneof(nastyValues, fc.jsonValue({ maxDepth: 3 })).map((value) => ({ value }))),
      ),
      { minLength: 1, maxLength: 4 },
    ),
  )
  .map(([good, mutations]) => {
    const mutant = mutations.reduce<unknown>((body, [place, replacement]) => {
      const paths = listPaths(body)
      return replaceAt(body, paths[place % paths.length] ?? [], replacement)
    }, JSON.parse(good))
    return Buffer.from(JSON.stringify(mutant) ?? '')
  })

const byteMutant = fc
  .tuple(
    goodBody,
    fc.array(fc.tuple(fc.nat(), fc.uint8Array({ maxLength: 4 }), fc.nat({ max: 40 })), {
      minLength: 1,
      maxLength: 5,
    }),
  )
  .map(([good, cuts]) =>
    cuts.reduce<Buffer>((bytes, [place, inserted, removed]) => {
      const at = place % (bytes.length + 1)
      return Buffer.concat([bytes.subarray(0, at), inserted, bytes.subarray(at + removed)])
    }, Buffer.from(good)),
  )

const answerTo = async (url: string, payload: Buffer) => {
  const response = await app.inject({
    method: 'POST',
    url,
    payload,
    headers: { 'content-type': 'application/json' },
  })
  return { status: response.statusCode, body: response.json() }
}

describe('whatever is done to a good body', () => {
  it.each([
    ['in its structure', structuralMutant],
    ['in its bytes', byteMutant],
  ])('%s, the answer is a verdict or names the mistake, never a failure of ours', async (_name, mutants) => {
    await fc.assert(
      fc.asyncProperty(mutants, async (payload) => {
        const { status, body } = await answerTo('/verify', payload)
        if (status === 200) expect(body.isValid).toBeTypeOf('boolean')
        else {
          expect({ status, code: body.code }).toEqual({ status: 400, code: 'INVALID_REQUEST' })
          expect(body.message.length).toBeGreaterThan(10)
          expect(body.message.length).toBeLessThan(1_000)
        }
      }),
      { numRuns: 2_000 },
    )
  })
})
