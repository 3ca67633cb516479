import { describe, expect, it, vi } from 'vitest'
import { AppError } from '../../src/errors.js'
import { accountResponses } from '../../src/http/schemas/accounts.js'
import { keyOwner, knownKey, testApp } from './support/app.js'

const key = { authorization: `Bearer ${knownKey}` }
const created = accountResponses.registered.created.value
const known = accountResponses.registeredBefore.known.value
const email = 'ada@example.com'
/** For the audit log. */
const by = { actor: `key Default (${keyOwner.key.id})`, address: '127.0.0.1' }

const register = async (payload: object, answer: typeof created | typeof known = created) => {
  const useCase = vi.fn(async () => answer)
  const app = testApp({ dashboard: { register: useCase } })
  const response = await app.inject({ method: 'POST', url: '/register', payload })
  return { response, useCase }
}

const local = { address: '127.0.0.1', network: '127.0.0.1' }

describe('POST /register', () => {
  it('responds 201 with a new key', async () => {
    const { response, useCase } = await register({ email, projectName: 'Report shop', plan: 'free' })
    expect(response.statusCode).toBe(201)
    expect(response.json()).toEqual(created)
    expect(response.headers['cache-control']).toBe('no-store')
    expect(useCase).toHaveBeenCalledWith({ email, projectName: 'Report shop' }, 'trusted', local)
  })

  it('responds 200 with the existing key of the project', async () => {
    const { response } = await register({ email, projectName: 'Report shop' }, known)
    expect(response.statusCode).toBe(200)
    expect(response.json()).toEqual(known)
  })

  it('leaves validation of address and name to the use case', async () => {
    const odd = { email: ' Jürgen@bücher.example\n', projectName: '\u202e 🧾\0' }
    const { useCase } = await register(odd)
    expect(useCase).toHaveBeenCalledWith(odd, 'trusted', local)
    const refuse = async () => {
      throw new AppError('INVALID_REQUEST', 'email: must be an e-mail address')
    }
    const app = testApp({ dashboard: { register: refuse, lookUp: refuse } })
    for (const url of ['/register', '/lookup']) {
      const response = await app.inject({ method: 'POST', url, payload: odd })
      expect(response.statusCode).toBe(400)
      expect(response.json()).toEqual({
        code: 'INVALID_REQUEST',
        message: 'email: must be an e-mail address',
      })
    }
  })

  it.each([
    [{ email }, 'projectName: is required'],
    [{ projectName: 'a' }, 'email: is required'],
    [{}, 'email: is required; projectName: is required'],
    [{ email, projectName: '' }, 'projectName: must not be empty'],
    [{ email, projectName: 7 }, 'projectName: must be a string'],
    [{ email: '', projectName: 'a' }, 'email: must not be empty'],
    [{ email: [email], projectName: 'a' }, 'email: must be a string'],
    [{ email, projectName: 'x'.repeat(5_000) }, 'projectName: must have at most 1000 characters'],
    [{ email: 'x'.repeat(5_000), projectName: 'a' }, 'email: must have at most 1000 characters'],
  ])('rejects the body %j', async (body, message) => {
    const { response, useCase } = await register(body)
    expect(response.json()).toEqual({ code: 'INVALID_REQUEST', message })
    expect(useCase).not.toHaveBeenCalled()
  })
})

describe('POST /lookup', () => {
  it('returns the keys of the address', async () => {
    const { value } = accountResponses.lookup.found
    const lookUp = vi.fn(async () => ({ email: value.email, keys: [...value.keys] }))
    const app = testApp({ dashboard: { lookUp } })
    const response = await app.inject({ method: 'POST', url: '/lookup', payload: { email } })
    expect(response.statusCode).toBe(200)
    expect(response.json()).toEqual(value)
    expect(response.headers['cache-control']).toBe('no-store')
    expect(lookUp).toHaveBeenCalledWith(email, 'trusted')
  })
})

describe('GET /stats/keys', () => {
  it('returns the number of keys without authentication', async () => {
    const response = await testApp({ dashboard: { countKeys: async () => 128 } }).inject('/stats/keys')
    expect(response.json()).toEqual({ totalKeys: 128 })
  })
})

describe('the dashboard', () => {
  it('returns the data of the account of the key', async () => {
    const readInfo = vi.fn(async () => ({
      ...accountResponses.info.info.value,
      allowedIPs: ['203.0.113.7'],
    }))
    const listKeys = vi.fn(async () => ({
      email,
      keys: accountResponses.keys.keys.value.keys.map((each) => ({ ...each })),
    }))
    const readUsage = vi.fn(async () => accountResponses.usage.week.value)
    const app = testApp({ dashboard: { readInfo, listKeys, readUsage } })
    const ask = async (url: string) => (await app.inject({ url, headers: key })).json()
    expect(await ask('/dashboard/info')).toEqual({
      ...accountResponses.info.info.value,
      allowedIPs: ['203.0.113.7'],
    })
    expect(await ask('/dashboard/keys')).toEqual(accountResponses.keys.keys.value)
    expect(await ask('/dashboard/usage')).toEqual(accountResponses.usage.week.value)
    expect(readInfo).toHaveBeenCalledWith(keyOwner)
    expect(readUsage).toHaveBeenCalledWith(keyOwner, {})
    expect(listKeys).toHaveBeenCalledWith(keyOwner, 'trusted')
  })

  it.each([
    ['with no body at all', {}],
    ['with a media type and no body', { 'content-type': 'application/json' }],
  ])('rotates the presented key %s', async (_name, headers) => {
    const rotated = accountResponses.rotated.rotated.value
    const rotateKey = vi.fn(async () => rotated)
    const response = await testApp({ dashboard: { rotateKey } }).inject({
      method: 'POST',
      url: '/dashboard/rotate',
      headers: { 'x-api-key': knownKey, ...headers },
    })
    expect(response.statusCode).toBe(200)
    expect(response.json()).toEqual(rotated)
    expect(rotateKey).toHaveBeenCalledWith(keyOwner, knownKey, { graceSeconds: 0, by })
  })

  it('responds 401 to the slower of two concurrent rotations', async () => {
    const rotateKey = async () => {
      throw new AppError('UNAUTHORIZED', 'This API key was rotated meanwhile')
    }
    const response = await testApp({ dashboard: { rotateKey } }).inject({
      method: 'POST',
      url: '/dashboard/rotate',
      headers: key,
    })
    expect(response.statusCode).toBe(401)
    expect(response.headers['www-authenticate']).toBe('Bearer')
  })
})

describe('POST /dashboard/restrictions', () => {
  const restrict = async (payload: object) => {
    const useCase = vi.fn(
      async (_account: unknown, given: { allowedIPs: string[]; allowedRef: string[] }) => given,
    )
    const response = await testApp({ dashboard: { restrict: useCase } }).inject({
      method: 'POST',
      url: '/dashboard/restrictions',
      headers: key,
      payload,
    })
    return { response, useCase }
  }

  it.each([
    { allowedIPs: [], allowedRef: [] },
    { allowedIPs: ['203.0.113.7', '2001:db8::/48'], allowedRef: ['shop.example'] },
    { allowedIPs: Array.from({ length: 100 }, (_, at) => `203.0.113.${at}`), allowedRef: [] },
  ])('passes on and returns %j', async (payload) => {
    const { response, useCase } = await restrict(payload)
    expect(response.statusCode).toBe(200)
    expect(response.json()).toEqual(payload)
    expect(useCase).toHaveBeenCalledWith(keyOwner, payload, by)
  })

  it.each([
    [{ allowedIPs: [], allowedRef: [], force: 1 }, 'force: must be true or false'],
    [{ allowedIPs: '203.0.113.7', allowedRef: [] }, 'allowedIPs: must be an array'],
    [{ allowedIPs: [7], allowedRef: [] }, 'allowedIPs[0]: must be a string'],
    [{ allowedIPs: [''], allowedRef: [] }, 'allowedIPs[0]: must not be empty'],
    [{ allowedIPs: ['1'.repeat(65)], allowedRef: [] }, 'allowedIPs[0]: must have at most 64 characters'],
    [{ allowedIPs: [], allowedRef: ['a'.repeat(254)] }, 'allowedRef[0]: must have at most 253 characters'],
    [
      { allowedIPs: Array(500).fill('203.0.113.7'), allowedRef: [] },
      'allowedIPs: must have at most 100 elements',
    ],
  ])('rejects %j', async (payload, message) => {
    const { response, useCase } = await restrict(payload)
    expect(response.json()).toEqual({ code: 'INVALID_REQUEST', message })
    expect(useCase).not.toHaveBeenCalled()
  })

  it('names the invalid entry', async () => {
    const refuse = async () => {
      throw new AppError('INVALID_REQUEST', 'allowedIPs[0]: must be an address or a CIDR block')
    }
    const response = await testApp({ dashboard: { restrict: refuse } }).inject({
      method: 'POST',
      url: '/dashboard/restrictions',
      headers: key,
      payload: { allowedIPs: ['203.0.113.7/33'], allowedRef: [] },
    })
    expect(response.statusCode).toBe(400)
    expect(response.json().message).toBe('allowedIPs[0]: must be an address or a CIDR block')
  })
})
