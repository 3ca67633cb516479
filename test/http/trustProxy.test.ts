import { describe, expect, it } from 'vitest'
import { silentLogger } from '../../src/platform/logger.js'
import type { Logger } from '../../src/ports/logger.js'
import { testApp } from './support/app.js'

const findClient = async (trustProxy: readonly string[], peer: string, forwardedFor: string) => {
  const seen: unknown[] = []
  const logger: Logger = { ...silentLogger, info: (fields) => seen.push(fields.remoteAddress) }
  await testApp({ trustProxy, logger }).inject({
    url: '/supported',
    remoteAddress: peer,
    headers: { 'x-forwarded-for': forwardedFor },
  })
  return seen[0]
}

describe('X-Forwarded-For', () => {
  it.each([
    ['203.0.113.9', '1.2.3.4'],
    ['127.0.0.1', '1.2.3.4'],
    ['203.0.113.9', '127.0.0.1'],
    ['203.0.113.9', '10.0.0.1, 1.2.3.4'],
    ['2001:db8::1', '1.2.3.4'],
  ])('is ignored if no proxy is trusted (from %s, with %s)', async (peer, claimed) => {
    expect(await findClient([], peer, claimed)).toBe(peer)
  })

  it('is ignored from a peer that is not in TRUST_PROXY', async () => {
    expect(await findClient(['10.0.0.0/8'], '203.0.113.9', '1.2.3.4')).toBe('203.0.113.9')
  })

  it('determines the client if the peer is in TRUST_PROXY', async () => {
    expect(await findClient(['10.0.0.0/8'], '10.1.2.3', '198.51.100.7')).toBe('198.51.100.7')
    expect(await findClient(['fd00::/8'], 'fd00::1', '2001:db8::7')).toBe('2001:db8::7')
  })

  it('cannot be spoofed: the rightmost address that is not a trusted proxy counts', async () => {
    expect(await findClient(['10.0.0.0/8'], '10.1.2.3', '1.2.3.4, 198.51.100.7, 10.9.9.9')).toBe(
      '198.51.100.7',
    )
    expect(await findClient(['10.0.0.0/8'], '10.1.2.3', '10.0.0.7, 198.51.100.7')).toBe('198.51.100.7')
  })
})

describe('a proxy that TRUST_PROXY does not list', () => {
  const collectWarnings = () => {
    const warnings: { readonly fields: unknown; readonly message: string }[] = []
    const logger: Logger = {
      ...silentLogger,
      warn: (fields, message) => void warnings.push({ fields, message }),
    }
    return { warnings, logger }
  }
  const send = (app: ReturnType<typeof testApp>, remoteAddress: string, headers: Record<string, string>) =>
    app.inject({ url: '/supported', remoteAddress, headers })

  it('is reported once, by its address (A54)', async () => {
    const { warnings, logger } = collectWarnings()
    const app = testApp({ logger, trustProxy: ['10.0.0.0/8'] })
    for (let turn = 0; turn < 3; turn += 1) {
      await send(app, '192.0.2.1', { 'x-forwarded-for': '198.51.100.7' })
    }
    expect(warnings).toEqual([
      {
        fields: { peer: '192.0.2.1', hint: expect.stringContaining('TRUST_PROXY') },
        message: 'proxy.untrusted',
      },
    ])
  })

  it('is not reported for listed proxies and direct clients', async () => {
    const { warnings, logger } = collectWarnings()
    const app = testApp({ logger, trustProxy: ['10.0.0.0/8'] })
    await send(app, '10.1.2.3', { 'x-forwarded-for': '198.51.100.7' })
    await send(app, '192.0.2.1', {})
    expect(warnings).toEqual([])
  })
})
