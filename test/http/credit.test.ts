import { describe, expect, it } from 'vitest'
import { AppError } from '../../src/errors.js'
import type { WalletQuery } from '../../src/usecases/useCases.js'
import { knownKey, testApp } from './support/app.js'

const wallet = '0x18f77dd01186556F1F745E7847A4686421dEE072'
const fields = ['wallet', 'namespace', 'score', 'breakdown', 'stats', 'explanation', 'improvements']

describe('GET /v1/credit/score', () => {
  it('returns the specified fields, and is not cached', async () => {
    const response = await testApp().inject(`/v1/credit/score?wallet=${wallet}`)
    expect([response.statusCode, response.headers['cache-control']]).toEqual([200, 'no-store'])
    const { breakdown, stats, ...score } = response.json()
    expect(Object.keys(response.json())).toEqual(fields)
    expect(score).toMatchObject({ wallet, score: 0 })
    expect(breakdown).toEqual({ volumeScore: 0, frequencyScore: 0, reliabilityScore: 0, ageScore: 0 })
    expect(stats).toMatchObject({ paymentCount: 0, successRate: 0, totalVolume: '0', accountAgeDays: 0 })
  })

  it.each([
    ['', 'wallet: is required'],
    ['?wallet=', 'wallet: '],
    [`?wallet=${'1'.repeat(201)}`, 'wallet: '],
    [`?wallet=${wallet}&wallet=${wallet}`, 'wallet: '],
    [`?wallet=${wallet}&network=`, 'network: '],
    [`?wallet=${wallet}&user=1`, 'user'],
  ])('refuses %s', async (query, message) => {
    const response = await testApp().inject(`/v1/credit/score${query}`)
    expect([response.statusCode, response.json().code]).toEqual([400, 'INVALID_REQUEST'])
    expect(response.json().message).toContain(message)
  })

  it('is public where keys are required', async () => {
    const app = testApp({ apiKeyRequired: true })
    expect((await app.inject(`/v1/credit/score?wallet=${wallet}`)).statusCode).toBe(200)
    expect((await app.inject('/v1/credit/top')).statusCode).toBe(200)
  })
})

describe('POST /v1/credit/refresh', () => {
  const refresh = async (url: string, payload?: object) => {
    const asked: WalletQuery[] = []
    const app = testApp({
      credit: {
        refreshScore: async (query) => {
          asked.push(query)
          throw new AppError('SERVICE_UNAVAILABLE', 'asked')
        },
      },
    })
    const response = await app.inject({
      method: 'POST',
      url: `/v1/credit/refresh${url}`,
      ...(payload === undefined ? {} : { payload }),
    })
    return { asked, status: response.statusCode, message: response.json().message }
  }

  it.each<[string, object | undefined, WalletQuery]>([
    [`?wallet=${wallet}`, undefined, { wallet, network: undefined }],
    [`?wallet=${wallet}&network=base`, undefined, { wallet, network: 'base' }],
    ['', { wallet }, { wallet, network: undefined }],
    ['', { wallet, network: 'base' }, { wallet, network: 'base' }],
    [`?wallet=${wallet}`, { wallet, network: 'base' }, { wallet, network: 'base' }],
    [`?wallet=${wallet}`, {}, { wallet, network: undefined }],
  ])('takes the wallet of %s and %j', async (url, payload, query) => {
    expect((await refresh(url, payload)).asked).toEqual([query])
  })

  it.each<[string, object | undefined, string]>([
    ['', undefined, 'wallet: is required'],
    ['', {}, 'wallet: is required'],
    [`?wallet=${wallet}`, { wallet: wallet.toLowerCase() }, 'wallet: the query and the body differ'],
    [`?wallet=${wallet}&network=base`, { network: 'celo' }, 'network: the query and the body differ'],
    ['', { wallet: 7 }, 'wallet: must be a string'],
    ['', [wallet], 'must be a JSON object'],
    ['', { wallet, score: 1_000 }, 'unknown field'],
  ])('refuses %s with %j', async (url, payload, message) => {
    const { status, asked, message: answer } = await refresh(url, payload)
    expect([status, asked]).toEqual([400, []])
    expect(answer).toContain(message)
  })

  it.each([
    ['', 200],
    ['{', 400],
  ])('answers a body of %j that is announced as JSON with %d', async (payload, status) => {
    const response = await testApp().inject({
      method: 'POST',
      url: `/v1/credit/refresh?wallet=${wallet}`,
      headers: { 'content-type': 'application/json' },
      payload,
    })
    expect(response.statusCode).toBe(status)
  })

  it('returns the score and what was repaired', async () => {
    const response = await testApp().inject({ method: 'POST', url: `/v1/credit/refresh?wallet=${wallet}` })
    expect(response.statusCode).toBe(200)
    expect(Object.keys(response.json())).toEqual([...fields, 'refresh'])
  })

  it('needs a key where keys are required', async () => {
    const app = testApp({ apiKeyRequired: true })
    const request = { method: 'POST', url: `/v1/credit/refresh?wallet=${wallet}` } as const
    expect((await app.inject(request)).statusCode).toBe(401)
    const headers = { authorization: `Bearer ${knownKey}` }
    expect((await app.inject({ ...request, headers })).statusCode).toBe(200)
  })
})

describe('GET /v1/credit/top', () => {
  it.each([
    ['', 10],
    ['?limit=1', 1],
    ['?limit=100', 100],
    ['?limit=101', 100],
    ['?limit=100000000000000000000', 100],
  ])('%s asks for %i wallets', async (query, expected) => {
    const asked: number[] = []
    const listTop = async (limit: number) => {
      asked.push(limit)
      return { wallets: [] }
    }
    const response = await testApp({ credit: { listTop } }).inject(`/v1/credit/top${query}`)
    expect([response.statusCode, response.json(), asked]).toEqual([200, { wallets: [] }, [expected]])
  })

  it.each(['?limit=0', '?limit=-1', '?limit=1.5', '?limit=ten', '?limit=', '?offset=5'])(
    'refuses %s',
    async (query) => {
      expect((await testApp().inject(`/v1/credit/top${query}`)).statusCode).toBe(400)
    },
  )
})
