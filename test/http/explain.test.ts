import { describe, expect, it } from 'vitest'
import { createListReasons } from '../../src/usecases/core/explain/listReasons.js'
import type { ExplainRequest } from '../../src/usecases/core/useCases.js'
import { testApp } from './support/app.js'
import { paymentBody } from './support/payment.js'

describe('POST /v1/explain', () => {
  const explain = async (payload: unknown) => {
    const asked: ExplainRequest[] = []
    const app = testApp({
      core: {
        explainPayment: async (request) => {
          asked.push(request)
          return { verdict: 'valid', rules: [], facts: [] }
        },
      },
    })
    const response = await app.inject({
      method: 'POST',
      url: '/v1/explain',
      headers: { 'content-type': 'application/json' },
      payload: JSON.stringify(payload),
    })
    return { asked, response }
  }

  it('takes the body of /verify', async () => {
    const { asked, response } = await explain(paymentBody())
    expect(response.statusCode).toBe(200)
    expect(response.headers['cache-control']).toBe('no-store')
    expect(asked).toMatchObject([{ body: paymentBody(), caller: 'anonymous' }])
  })

  it('takes any JSON object, whose form is explained', async () => {
    const { asked, response } = await explain({ paymentrequirements: 5 })
    expect(response.statusCode).toBe(200)
    expect(asked).toMatchObject([{ body: { paymentrequirements: 5 } }])
  })

  it('refuses what is no JSON object', async () => {
    const { asked, response } = await explain([])
    expect(response.statusCode).toBe(400)
    expect(asked).toEqual([])
  })

  it('is not counted among the verifications', async () => {
    const app = testApp({
      core: { explainPayment: async () => ({ verdict: 'invalid', rules: [], facts: [] }) },
    })
    await app.inject({ method: 'POST', url: '/v1/explain', payload: paymentBody() })
    const { body } = await app.inject('/metrics')
    expect(body).not.toMatch(/^facilitator_verify_total\{/m)
  })
})

describe('GET /v1/reasons', () => {
  it('answers every reason and error code to anyone, and may be cached', async () => {
    const listReasons = createListReasons()
    const response = await testApp({ core: { listReasons } }).inject('/v1/reasons')
    expect(response.statusCode).toBe(200)
    expect(response.headers['cache-control']).toBe('public, max-age=3600')
    expect(response.json()).toEqual(listReasons())
  })

  it('says of each what to do', () => {
    const { reasons, errorCodes } = createListReasons()()
    for (const { title, explanation, remedy } of [
      ...reasons,
      ...errorCodes.map((each) => ({ title: each.code, ...each })),
    ]) {
      expect(
        [title, explanation, remedy].every((text) => text.length > 0),
        title,
      ).toBe(true)
    }
  })
})
