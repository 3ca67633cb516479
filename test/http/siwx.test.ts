import fastify from 'fastify'
import { privateKeyToAccount } from 'viem/accounts'
import { describe, expect, it } from 'vitest'
import { writeX402Message } from '../../src/extensions/siwx/messages.js'
import { compileSerializer, compileValidator } from '../../src/http/fastifyAdapters.js'
import { errorResponses } from '../../src/http/plugins/errorResponses.js'
import { defaultBodyReceiverLimits, jsonBodies } from '../../src/http/plugins/jsonBodies.js'
import { siwxRoutes } from '../../src/http/routes/siwx.js'
import { createTurns } from '../../src/http/server/turns.js'
import { silentLogger } from '../../src/platform/logger.js'
import { encodeHeader, openSiwx, signInFields, signInUri, toProof } from '../support/siwx.js'

const openApp = () => {
  const app = fastify()
  app.setValidatorCompiler(compileValidator)
  app.setSerializerCompiler(compileSerializer)
  app.register(errorResponses, { logger: silentLogger })
  app.register(jsonBodies, { limits: defaultBodyReceiverLimits, turns: createTurns() })
  app.register(siwxRoutes, { useCases: openSiwx().useCases })
  return app
}

const post = (url: string, payload?: object, app = openApp()) =>
  app.inject({ method: 'POST', url, ...(payload === undefined ? {} : { payload }) })

const account = privateKeyToAccount(`0x${'1'.repeat(64)}`)
const signedProof = async () => {
  const fields = signInFields({ address: account.address })
  return toProof(fields, await account.signMessage({ message: writeX402Message(fields) ?? '' }))
}

describe('POST /v1/siwx/nonce', () => {
  it('answers without a body', async () => {
    const response = await post('/v1/siwx/nonce')
    expect(response.statusCode).toBe(200)
    expect(response.json()).toEqual({
      nonce: expect.stringMatching(/^[0-9a-f]{64}$/),
      issuedAt: '2026-01-01T00:00:00.000Z',
      expirationTime: '2026-01-01T00:05:00.000Z',
    })
    expect(response.headers['cache-control']).toBe('no-store')
  })

  it('answers with the declarations of both ecosystems for a resource', async () => {
    const chains = ['eip155:8453', 'solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp', 'stellar:pubnet']
    const body = { uri: signInUri, chains, statement: 'Read', requestId: 'r-1', expiresInSeconds: 60 }
    const answer = (await post('/v1/siwx/nonce', body)).json()
    const info = {
      domain: 'api.example.com',
      uri: signInUri,
      version: '1',
      nonce: answer.nonce,
      issuedAt: '2026-01-01T00:00:00.000Z',
      expirationTime: '2026-01-01T00:01:00.000Z',
      resources: [signInUri],
      statement: 'Read',
      requestId: 'r-1',
    }
    expect(answer.extensions).toEqual({
      siwx: { info: { ...info, chainId: 'eip155:8453' }, schema: expect.any(Object) },
      'sign-in-with-x': {
        info,
        supportedChains: [
          { chainId: 'eip155:8453', type: 'eip191' },
          { chainId: 'solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp', type: 'ed25519' },
        ],
        schema: expect.any(Object),
      },
    })
  })

  it.each<[string, object, RegExp]>([
    ['a resource without chains', { uri: signInUri }, /^chains: /],
    ['a relative URI', { uri: '/premium', chainId: 'eip155:1' }, /^uri: /],
    ['a URI of another kind', { uri: 'ftp://a.example/', chainId: 'eip155:1' }, /^uri: /],
    ['a statement of two lines', { statement: 'Read\nURI: https://evil.example' }, /^statement: /],
    ['a chain that is no CAIP-2 identifier', { chains: ['base'] }, /^chains/],
    ['a lifetime of more than an hour', { expiresInSeconds: 3_601 }, /^expiresInSeconds: /],
    ['a domain with a path', { domain: 'a.example/x' }, /^domain: /],
  ])('refuses %s with 400', async (_name, body, message) => {
    const response = await post('/v1/siwx/nonce', body)
    expect(response.statusCode).toBe(400)
    expect(response.json()).toEqual({ code: 'INVALID_REQUEST', message: expect.stringMatching(message) })
  })
})

describe('POST /v1/siwx/verify', () => {
  it.each(['header', 'proof'])('accepts a proof as %s, once', async (form) => {
    const app = openApp()
    const proof = await signedProof()
    const body = { [form]: form === 'header' ? encodeHeader(proof) : proof, uri: signInUri }
    const response = await post('/v1/siwx/verify', body, app)
    expect(response.statusCode).toBe(200)
    expect(response.json()).toMatchObject({
      isValid: true,
      account: `eip155:8453:${account.address}`,
      domain: 'api.example.com',
      uri: signInUri,
      resources: [signInUri],
      signatureScheme: 'eip191',
    })
    const again = await post('/v1/siwx/verify', body, app)
    expect(again.statusCode).toBe(401)
    expect(again.headers['www-authenticate']).toBe('SIWX')
    expect(again.json()).toEqual({
      code: 'SIGN_IN_FAILED',
      message: 'The nonce was used before (nonce)',
      reason: 'siwx_nonce_used',
    })
  })

  it.each<[string, object]>([
    ['neither header nor proof', { uri: signInUri }],
    ['both', { uri: signInUri, header: 'e30', proof: {} }],
    ['no URI', { header: 'e30' }],
    ['a relative URI', { header: 'e30', uri: 'premium' }],
    ['an age of more than a day', { header: 'e30', uri: signInUri, maxAgeSeconds: 86_401 }],
  ])('refuses %s with 400', async (_name, body) => {
    const response = await post('/v1/siwx/verify', body)
    expect([response.statusCode, response.json().code]).toEqual([400, 'INVALID_REQUEST'])
  })

  it('refuses a header of 20 kB with 401 and one of 1 MB with 413', async () => {
    const large = await post('/v1/siwx/verify', { header: 'A'.repeat(20_000), uri: signInUri })
    expect([large.statusCode, large.json().reason]).toEqual([401, 'siwx_too_large'])
    const huge = await post('/v1/siwx/verify', { header: 'A'.repeat(1_048_576), uri: signInUri })
    expect(huge.statusCode).toBe(413)
  })
})
