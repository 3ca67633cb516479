import { describe, expect, it } from 'vitest'
import type { CountedRequest } from '../../src/usecases/useCases.js'
import { testApp } from './support/app.js'
import { paymentBody } from './support/payment.js'

describe('statistics', () => {
  it('GET /stats/requests returns the specified fields', async () => {
    const answer = { totalRequests: 9, successfulRequests: 7, failedRequests: 2, avgDurationMs: 12.5 }
    const app = testApp({ stats: { readRequestStatistics: async () => answer } })
    const response = await app.inject('/stats/requests')
    expect([response.statusCode, response.json()]).toEqual([200, answer])
  })

  it('GET /stats/settlements returns the specified fields', async () => {
    const answer = { confirmed: 5, failed: 1, pending: 2 }
    const app = testApp({ stats: { readSettlementStatistics: async () => answer } })
    const response = await app.inject('/stats/settlements')
    expect([response.statusCode, response.json()]).toEqual([200, answer])
  })

  it('do not reveal why they cannot be read', async () => {
    const readSettlementStatistics = () => Promise.reject(new Error('relation "settlements" is gone'))
    const response = await testApp({ stats: { readSettlementStatistics } }).inject('/stats/settlements')
    expect(response.statusCode).toBe(500)
    expect(response.body).not.toContain('relation')
  })

  it('count each request once with status and duration, except probes', async () => {
    const counted: CountedRequest[] = []
    const app = testApp({
      stats: { countRequest: (request) => void counted.push(request) },
      core: { verifyPayment: () => Promise.reject(new Error('broken')) },
    })
    for (const url of ['/health', '/ready', '/metrics', '/supported', '/nothing', '/%']) await app.inject(url)
    await app.inject({ method: 'POST', url: '/verify', payload: paymentBody() })
    expect(counted.map(({ status }) => status)).toEqual([200, 404, 400, 500])
    expect(counted.every(({ durationMs }) => durationMs > 0)).toBe(true)
  })
})
