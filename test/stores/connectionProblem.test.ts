import { describe, expect, it } from 'vitest'
import { describeConnectionProblem } from '../../src/stores/postgres/database/connectionProblem.js'
import { describeRedisProblem } from '../../src/stores/redis/client.js'

const url = 'postgres://ada:hunter2@db.example:6543/payments'
const coded = (code: string, message = 'library words') => Object.assign(new Error(message), { code })

describe('a database that cannot be used', () => {
  it.each<[Error, string]>([
    [coded('ECONNREFUSED'), 'no server listens at db.example:6543'],
    [coded('ENOTFOUND'), 'the host of db.example:6543 is unknown'],
    [coded('EHOSTUNREACH'), 'db.example:6543 does not answer'],
    [new Error('timeout exceeded when trying to connect'), 'db.example:6543 does not answer'],
    [new Error('Connection terminated due to connection timeout'), 'db.example:6543 does not answer'],
    [coded('ECONNRESET'), 'db.example:6543 closed the connection'],
    [new Error('Connection terminated unexpectedly'), 'db.example:6543 closed the connection'],
    [coded('28P01'), 'the server at db.example:6543 refuses this user or password'],
    [new Error('SASL: client password must be a string'), 'requires a password, and the URL has none'],
    [coded('3D000'), 'the database "payments" does not exist at db.example:6543'],
    [coded('42501'), 'the user may not create tables in the database "payments"'],
    [coded('53300'), 'has no free connection'],
    [coded('57P03'), 'is starting or stopping'],
    [coded('25006'), 'it is a standby'],
    [new Error('The server does not support SSL connections'), 'does not speak TLS'],
    [coded('DEPTH_ZERO_SELF_SIGNED_CERT'), 'the certificate of db.example:6543 is not trusted'],
    [coded('XX000', `odd words about ${url}`), 'cannot be used: odd words about postgres://db.example:6543'],
  ])('by %s is described as a problem of its URL, in words of our own', (error, words) => {
    const sentence = describeConnectionProblem(error, url)
    expect(sentence).toContain(words)
    expect(sentence).not.toMatch(/hunter2|library words/)
  })

  it('without its Unix socket is described by the folder of the socket', () => {
    const overSocket = `${url}?host=%2Fvar%2Flib%2Fquittance`
    expect(describeConnectionProblem(coded('ENOENT'), overSocket)).toContain(
      'no server listens at /var/lib/quittance',
    )
  })
})

describe('a Redis that cannot be used', () => {
  const redis = 'redis://:hunter2@cache.example/0'

  it.each<[Error, string]>([
    [coded('ECONNREFUSED'), 'cache.example:6379: no server listens there'],
    [coded('ENOTFOUND'), 'cache.example:6379: the host is unknown'],
    [
      new Error('WRONGPASS invalid username-password pair'),
      'cache.example:6379: it refuses this user or password (WRONGPASS)',
    ],
    [
      new Error('NOAUTH Authentication required.'),
      'cache.example:6379: it refuses this user or password (NOAUTH)',
    ],
    [new Error('odd words'), 'cache.example:6379: odd words'],
  ])('by %s is described without its password', (error, words) => {
    expect(describeRedisProblem(error, redis)).toBe(words)
  })
})
