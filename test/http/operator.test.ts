import { describe, expect, it, vi } from 'vitest'
import { Secret } from '../../src/platform/secret.js'
import type { SettlementPage } from '../../src/protocol/results.js'
import { testApp } from './support/app.js'

const token = 'an-operator-token-of-some-length'
const operatorToken = new Secret(token)
const cursor = '9401b76e-f466-496f-8524-886a61ebf067'

const page: SettlementPage = {
  settlements: [
    {
      id: cursor,
      status: 'pending',
      scheme: 'exact',
      network: 'eip155:84532',
      asset: '0xasset',
      payer: '0xpayer',
      payTo: '0xpayee',
      amount: '10000',
      transaction: '0x1',
      createdAt: '2026-01-01T00:00:00.000Z',
      caller: 'anonymous',
      ageSeconds: 42,
      isOwned: false,
      isConsumed: true,
      isAttended: false,
      hasToldSuccess: true,
      transactions: ['0x1'],
      block: { number: '7', hash: '0xb1', isFinal: false },
    },
  ],
  nextCursor: cursor,
}

const ask = async (query: string, authorization?: string, given: Secret | null = operatorToken) => {
  const listSettlements = vi.fn(async () => page)
  const app = testApp({ core: { listSettlements }, ...(given === null ? {} : { operatorToken: given }) })
  const response = await app.inject({
    url: `/v1/settlements${query}`,
    headers: authorization === undefined ? {} : { authorization },
  })
  return { response, listSettlements }
}

describe('GET /v1/settlements?status=', () => {
  it('returns a complete page to an operator', async () => {
    const { response, listSettlements } = await ask('?status=pending', `Bearer ${token}`)
    expect(response.statusCode).toBe(200)
    expect(response.json()).toEqual(page)
    expect(response.headers['cache-control']).toBe('no-store')
    expect(listSettlements).toHaveBeenCalledWith({ status: 'pending', limit: 50 })
  })

  it('passes on the network, the time, the size and the cursor', async () => {
    const query = `?status=failed&network=base&since=2026-01-01T01:00:00%2B01:00&limit=1000&cursor=${cursor.toUpperCase()}`
    const { listSettlements } = await ask(query, `bearer ${token}`)
    expect(listSettlements).toHaveBeenCalledWith({
      status: 'failed',
      network: 'base',
      since: new Date('2026-01-01T00:00:00Z'),
      limit: 200,
      cursor,
    })
  })

  it.each([
    ['nothing', undefined],
    ['an empty token', 'Bearer '],
    ['another token', 'Bearer another-operator-token-of-its'],
    ['a part of the token', `Bearer ${token.slice(0, -1)}`],
    ['more than the token', `Bearer ${token}x`],
    ['the token in another letter case', `Bearer ${token.toUpperCase()}`],
    ['the token by another scheme', `Basic ${token}`],
    ['the token alone', token],
  ])('responds 401 to %s without reading settlements', async (_, authorization) => {
    const { response, listSettlements } = await ask('?status=pending', authorization)
    expect(response.statusCode).toBe(401)
    expect(response.json()).toMatchObject({ code: 'UNAUTHORIZED' })
    expect(response.headers['www-authenticate']).toBe('Bearer')
    expect(response.body).not.toContain(token)
    expect(listSettlements).not.toHaveBeenCalled()
  })

  it('does not accept the token in the query', async () => {
    const { response } = await ask(`?status=pending&token=${token}`)
    expect(response.statusCode).toBe(400)
    expect(response.body).not.toContain(token)
  })

  it.each([undefined, `Bearer ${token}`, 'Bearer null', 'Bearer undefined'])(
    'is forbidden to everyone (%s) where no token is set',
    async (authorization) => {
      const { response, listSettlements } = await ask('?status=pending', authorization, null)
      expect(response.statusCode).toBe(403)
      expect(response.json()).toMatchObject({ code: 'FORBIDDEN' })
      expect(listSettlements).not.toHaveBeenCalled()
    },
  )

  it.each([
    ['?status=open', 'status: must be "pending" or "confirmed" or "failed"'],
    ['?status=', 'status: must be "pending" or "confirmed" or "failed"'],
    ['?status=pending&transaction=0x1', 'transaction: cannot be combined with status'],
    ['?status=pending&payer=0x1', 'payer: cannot be combined with status'],
    ['?status=pending&limit=0', 'limit: must be a whole number from 1 on'],
    ['?status=pending&limit=1e2', 'limit: must be a whole number from 1 on'],
    ['?status=pending&since=yesterday', 'since: must be a time in ISO 8601'],
    ['?status=pending&cursor=abc', 'cursor: must be a UUID'],
    ['?network=a&transaction=b&limit=5', 'limit: requires status'],
    ['?network=a&transaction=b&since=2026-01-01T00:00:00Z', 'since: requires status'],
    ['?limit=5', 'limit: requires status; network: is required; transaction: is required'],
  ])('rejects the query %s', async (query, message) => {
    const { response, listSettlements } = await ask(query, `Bearer ${token}`)
    expect(response.json()).toEqual({ code: 'INVALID_REQUEST', message })
    expect(listSettlements).not.toHaveBeenCalled()
  })

  it('needs no token for lookup by transaction', async () => {
    const { response } = await ask('?network=a&transaction=b')
    expect(response.json()).toMatchObject({ code: 'NOT_FOUND' })
  })
})

describe('an operator route', () => {
  it.each([
    [200, operatorToken, `Bearer ${token}`],
    [401, operatorToken, 'Bearer wrong'],
    [401, operatorToken, ''],
    [403, undefined, `Bearer ${token}`],
  ])('responds %i', async (status, given, authorization) => {
    const app = testApp(given === undefined ? {} : { operatorToken: given })
    app.get('/operators-only', { config: { access: 'operator' } }, async () => ({ ok: true }))
    const response = await app.inject({ url: '/operators-only', headers: { authorization } })
    expect(response.statusCode).toBe(status)
  })
})
