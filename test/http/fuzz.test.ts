import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { accountAnswers, accountRequests } from '../../src/http/schemas/accountExamples.js'
import { paymentRequests } from '../../src/http/schemas/examples.js'
import { isRefused, readPayment } from '../../src/protocol/legacy.js'
import type { VerifyRequest } from '../../src/usecases/useCases.js'
import { knownKey, testApp } from './support/app.js'
import { mutantsOf } from './support/mutants.js'

const text = z.string().min(1).max(1_000)
const told = z.strictObject({ email: text, projectName: text })
const toldList = z.array(z.string().min(1).max(253)).max(100)
const toldLists = z.strictObject({ allowedIPs: toldList, allowedRef: toldList })

// As far as reading goes, a verify as it really is.
const app = testApp({
  core: {
    verifyPayment: async ({ body }: VerifyRequest) => {
      const payment = readPayment(body)
      return isRefused(payment) ? { isValid: false, invalidReason: payment.reason } : { isValid: true }
    },
  },
  // What the use cases are told has been judged: they throw here where it has not.
  dashboard: {
    register: async (request) => {
      told.parse(request)
      return accountAnswers.registered.created.value
    },
    lookUp: async (email) => ({ email: text.parse(email), keys: [] }),
    restrict: async (_account, restrictions) => toldLists.parse(restrictions),
  },
})

beforeAll(async () => {
  await app.ready()
})
afterAll(async () => await app.close())

const answerTo = async (url: string, payload: Buffer) => {
  const response = await app.inject({
    method: 'POST',
    url,
    payload,
    headers: { 'content-type': 'application/json', 'x-api-key': knownKey },
  })
  return { status: response.statusCode, body: response.json() }
}

describe('whatever is done to a good body', () => {
  it.each(mutantsOf(Object.values(paymentRequests).map(({ value }) => value)))(
    '%s, the answer is a verdict or names the mistake, never a failure of ours',
    async (_name, mutants) => {
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
    },
  )
})

const accountBodies = [
  ['/register', accountRequests.register],
  ['/lookup', accountRequests.lookup],
  ['/dashboard/restrictions', accountRequests.restrictions],
] as const

describe.each(accountBodies)('whatever is done to a good body of %s', (url, examples) => {
  it.each(mutantsOf(Object.values(examples).map(({ value }) => value)))(
    '%s, it is understood or the mistake is named, never a failure of ours',
    async (_name, mutants) => {
      await fc.assert(
        fc.asyncProperty(mutants, async (payload) => {
          const { status, body } = await answerTo(url, payload)
          if (status === 200 || status === 201) return
          expect({ status, code: body.code }).toEqual({ status: 400, code: 'INVALID_REQUEST' })
          expect(body.message.length).toBeGreaterThan(10)
          expect(body.message.length).toBeLessThan(1_000)
        }),
        { numRuns: 500 },
      )
    },
  )
})
