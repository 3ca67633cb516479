import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { accountRequests, accountResponses } from '../../src/http/schemas/accounts.js'
import { intentExamples } from '../../src/http/schemas/intents.js'
import { paymentRequests } from '../../src/http/schemas/paymentExamples.js'
import { intentWithRoutes } from '../../src/protocol/intents.js'
import { isRefused, readPayment } from '../../src/protocol/readPayment.js'
import type { VerifyRequest } from '../../src/usecases/core/useCases.js'
import { listCandidates } from '../../src/usecases/intents/listCandidates.js'
import { isLongRun } from '../support/longRun.js'
import { createToyScheme } from '../support/toyScheme.js'
import { knownKey, testApp } from './support/app.js'
import { mutantsOf } from './support/mutants.js'

const text = z.string().min(1).max(1_000)
const parsedAccount = z.strictObject({ email: text, projectName: text })
const parsedList = z.array(z.string().min(1).max(253)).max(100)
const parsedRestrictions = z.strictObject({ allowedIPs: parsedList, allowedRef: parsedList })

const served = [
  ['eip155:84532', /^0x[0-9a-f]{40}$/i],
  ['solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1', /^[1-9A-HJ-NP-Za-km-z]{43,44}$/],
] as const
const schemes = served.map(([network, form]) =>
  createToyScheme({
    kind: { scheme: 'exact', network },
    network: {
      isAddress: (address) => form.test(address),
      listTokens: () => [{ asset: 'usdc', symbol: 'USDC', decimals: 6, isDollar: true }],
    },
  }),
)

// The real parsing of /verify.
const app = testApp({
  core: {
    verifyPayment: async ({ body }: VerifyRequest) => {
      const payment = readPayment(body)
      return isRefused(payment) ? { isValid: false, invalidReason: payment.reason } : { isValid: true }
    },
  },
  // The real reading of wallets and assets.
  intents: {
    createIntent: async ({ terms }) => {
      listCandidates(terms, schemes, () => true)
      const answer = intentWithRoutes.parse({
        intent: intentExamples.intent,
        availableRoutes: [],
        recommendedRoute: null,
        unavailable: [intentExamples.unavailableRoute],
      })
      return { answer, isReplayed: false }
    },
  },
  // Use cases must only receive validated input: they throw otherwise.
  dashboard: {
    register: async (request) => {
      parsedAccount.parse(request)
      return accountResponses.registered.created.value
    },
    lookUp: async (email) => ({ email: text.parse(email), keys: [] }),
    restrict: async (_account, { allowedIPs, allowedRef }) =>
      parsedRestrictions.parse({ allowedIPs: allowedIPs ?? [], allowedRef: allowedRef ?? [] }),
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

describe('any mutation of a valid body', () => {
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
        { numRuns: isLongRun ? 2_000 : 400 },
      )
    },
  )
})

const accountBodies = [
  ['/register', accountRequests.register],
  ['/lookup', accountRequests.lookup],
  ['/dashboard/restrictions', accountRequests.restrictions],
  ['/v1/intent', intentExamples.create],
] as const

describe.each(accountBodies)('any mutation of a valid body of %s', (url, examples) => {
  it.each(mutantsOf(Object.values(examples).map(({ value }) => value)))(
    '%s, it is understood or the mistake is named, never a failure of ours',
    async (_name, mutants) => {
      await fc.assert(
        fc.asyncProperty(mutants, async (payload) => {
          const { status, body } = await answerTo(url, payload)
          if (status === 200 || status === 201) return
          const isTooLarge = payload.length > 8_192
          const refused = isTooLarge ? [413, 'REQUEST_TOO_LARGE'] : [400, 'INVALID_REQUEST']
          expect([status, body.code]).toEqual(refused)
          expect(body.message.length).toBeGreaterThan(10)
          expect(body.message.length).toBeLessThan(1_000)
        }),
        { numRuns: isLongRun ? 500 : 100 },
      )
    },
  )
})
