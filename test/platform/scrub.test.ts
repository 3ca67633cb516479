import { describe, expect, it } from 'vitest'
import { families } from '../../src/chains/index.js'
import { NoResponseError } from '../../src/chains/nodes/httpClient.js'
import { serviceVariables } from '../../src/config/environment.js'
import { ConfigError, readConfig } from '../../src/config.js'
import { AppError } from '../../src/errors.js'
import { describeError, scrubFields, scrubText } from '../../src/platform/scrub.js'
import { Secret } from '../../src/platform/secret.js'

const hex = 'ab'.repeat(32)

describe('a text', () => {
  it.each([
    ['https://rpc.example/v2/key', 'https://rpc.example'],
    ['https://rpc.example:8545/?apikey=key', 'https://rpc.example:8545'],
    ['wss://user:word@rpc.example/key', 'wss://rpc.example'],
    ['postgres://admin:word@db.internal:5432/quittance', 'postgres://db.internal:5432'],
    ['redis://:word@cache:6379/0', 'redis://cache:6379'],
    ['(https://rpc.example/key)', '(https://rpc.example'],
    ['"https://rpc.example/key", and more', '"https://rpc.example", and more'],
    ['https://[2001:db8::1]:8545/key', 'https://[2001:db8::1]:8545'],
    ['two: http://a/b http://c/d', 'two: http://a http://c'],
    ['http://:0/key', '[url]'],
  ])('keeps only the origin of the URL in %o', (text, expected) => {
    expect(scrubText(text).startsWith(expected)).toBe(true)
    expect(scrubText(text)).not.toMatch(/key|word|admin|quittance/)
  })

  it.each([
    `0x${hex}`,
    hex,
    hex.toUpperCase(),
    `key=${hex}end`,
    `0x${'12'.repeat(65)}`,
    '5'.repeat(70) + 'Kd'.repeat(9),
    Buffer.from('x'.repeat(120)).toString('base64'),
    'Bearer abc.def.ghi',
    'Authorization: Basic dXNlcjpwYXNz',
    'qtn_sk_0123456789abcdef',
    'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw',
    'EVM_PRIVATE_KEY=tooShortToBeAKey',
    '{"password": "letmein", "api_key":"abc"}',
    'legal winner thank year wave sausage worth useful legal winner thank yellow',
    'TON_MNEMONIC: legal winner thank year wave sausage worth useful legal winner thank yellow',
    'mnemonic=must winner thank year wave sausage worth useful legal winner thank yellow',
    '{"password": "correct horse battery staple"}',
    "passphrase: 'correct horse battery staple'",
    String.raw`{"body":"{\"password\":\"letmein\",\"apiKey\": \"letthemin\"}"}`,
    'OPERATOR_TOKEN=an-operator-token',
    'METRICS_TOKEN: a-metrics-token',
    'password: mustard',
    'password:must',
    'KEY_ENCRYPTION_SECRET=must be',
    'secret: must-not-be-seen',
  ])('has possible secrets removed: %s', (secret) => {
    const scrubbed = scrubText(`before ${secret} after`)
    const kept = scrubbed.split(/[^A-Za-z0-9]+/).filter((word) => word.length > 3 && secret.includes(word))
    const harmless = [
      ...['Bearer', 'Basic', 'Authorization', 'password', 'PRIVATE', 'key=', 'before', 'after'],
      ...['MNEMONIC', 'mnemonic', 'passphrase', 'body', 'apiKey', 'OPERATOR', 'METRICS', 'TOKEN', 'secret'],
      ...['ENCRYPTION', 'SECRET'],
    ]
    expect(kept.filter((word) => !harmless.includes(word))).toEqual([])
  })

  it.each([
    'insufficient funds for gas * price + value: address 0x18f77dd01186556F1F745E7847A4686421dEE072 have 0 want 1',
    'at settle (file:///srv/app/dist/usecases/core/settleAuthorization.js:120:11)',
    'at /srv/quittance/node_modules/fastify/lib/some-longer-folder-name/another_folder/yet-another/handle-request.js:1:1',
    `amount ${2n ** 256n - 1n} is too large`,
    'The node did not answer within 5000 ms',
  ])('is kept without secrets: %s', (text) => {
    expect(scrubText(text)).toBe(text)
  })

  it('has every word of a seed phrase removed behind its name', () => {
    const phrase = 'legal winner thank year wave sausage worth useful legal winner thank yellow'
    for (const text of [`TON_MNEMONIC: ${phrase}`, `mnemonic=${phrase}`, `seed: is ${phrase}`]) {
      expect(scrubText(text)).not.toMatch(/legal|winner|thank|sausage|yellow/)
    }
  })

  it('is kept where it is a sentence about a setting, whichever setting that is', () => {
    const names = [
      ...serviceVariables,
      ...families.flatMap(({ variables }) => [
        ...(variables?.family ?? []),
        ...(variables?.perNetwork ?? []).map((name) => name.replace(/<.*>/, 'mainnet')),
      ]),
    ]
    const variants = [
      Object.fromEntries(names.map((name) => [name, '?'])),
      Object.fromEntries(names.map((name) => [`${name}S`, '?'])),
      { API_KEY_REQUIRED: 'true', DATABASE_URL: 'postgres://db.example', REGISTRATION: 'verified' },
    ]
    const problems = variants.flatMap((environment) => {
      try {
        readConfig(environment)
        return []
      } catch (error) {
        return error instanceof ConfigError ? error.problems : []
      }
    })
    expect(problems.length).toBeGreaterThan(150)
    expect(problems.map(scrubText)).toEqual(problems)
  })

  it('is truncated, never within a word', () => {
    const scrubbed = scrubText(`${'word '.repeat(799)}0x${hex}${hex}`)
    expect(scrubbed).not.toContain('abab')
    expect(scrubbed.length).toBeLessThan(4_100)
  })

  it('is scrubbed in linear time', () => {
    // Of a size at which quadratic time takes hours, far beyond the limit of a test.
    const nasty = ['a', 'a://', 'abc ', 'Bearer ', '0x'].map((part) => part.repeat(1e7))
    for (const text of nasty) expect(scrubText(text).length).toBeLessThan(6_000)
  })
})

describe('an error', () => {
  it('is described with its causes, by name, message, code and stack only', () => {
    const cause = Object.assign(new TypeError('fetch failed at https://rpc.example/key'), {
      code: 'ERR_INVALID_URL',
      request: { body: hex },
    })
    expect(describeError(new Error('No node answers', { cause }))).toEqual({
      type: 'Error',
      message: 'No node answers',
      stack: expect.stringContaining('scrub.test.ts'),
      cause: {
        type: 'TypeError',
        message: 'fetch failed at https://rpc.example',
        code: 'ERR_INVALID_URL',
        stack: expect.any(String),
      },
    })
  })

  it.each([
    Object.assign(new Error('connect ECONNREFUSED 127.0.0.1:5432'), { code: 'ECONNREFUSED' }),
    Object.assign(new Error('terminating connection'), { code: '57P01' }),
    Object.assign(new Error('Connect Timeout Error'), { code: 'UND_ERR_CONNECT_TIMEOUT' }),
    new DOMException('The operation was aborted due to timeout', 'TimeoutError'),
    new Error('Connection terminated unexpectedly'),
    new AppError('SERVICE_UNAVAILABLE', 'The database does not answer at the moment'),
    new NoResponseError('rpc.example', 'ENOTFOUND'),
  ])('that is expected to happen has no stack, alone or as a cause: %s', (cause) => {
    expect(JSON.stringify(describeError(cause))).not.toContain('stack')
    expect(JSON.stringify(describeError(new Error('No node answers', { cause })))).not.toContain('stack')
  })

  it('that is its own cause is described', () => {
    const error = new Error('round')
    error.cause = error
    expect(JSON.stringify(describeError(error)).length).toBeLessThan(50_000)
  })

  it('that aggregates others shows some of them', () => {
    const error = new AggregateError(
      Array.from({ length: 100 }, (_, at) => new Error(`node ${at}`)),
      'all failed',
    )
    expect(describeError(error).errors).toHaveLength(5)
  })

  it.each([
    ['a word', { type: 'string', message: 'a word' }],
    [7, { type: 'number', message: '7' }],
    [null, { type: 'object', message: 'not an Error' }],
    [undefined, { type: 'undefined', message: 'undefined' }],
    [{ privateKey: hex }, { type: 'object', message: 'not an Error' }],
    [`0x${hex}`, { type: 'string', message: '[hex]' }],
  ])('that is a thrown value such as %o is described without its content', (thrown, description) => {
    expect(describeError(thrown)).toEqual(description)
  })
})

describe('the fields of a log line', () => {
  it('keep numbers, booleans, dates and empty values', () => {
    const fields = { count: 3, isServing: true, at: new Date(0), reason: null, missing: undefined }
    expect(scrubFields(fields)).toEqual(fields)
  })

  it('print bigints in digits and Secret as [secret]', () => {
    const printed = JSON.parse(
      JSON.stringify(scrubFields({ amount: 10n ** 30n, mail: new Secret('letmein') })),
    )
    expect(printed).toEqual({ amount: '1000000000000000000000000000000', mail: '[secret]' })
  })

  it('are cut if they are too deep or cyclic', () => {
    const round: Record<string, unknown> = {}
    round.self = round
    expect(JSON.stringify(scrubFields(round))).toContain('[deep]')
  })
})
