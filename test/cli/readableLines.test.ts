import { describe, expect, it } from 'vitest'
import { createScreen, formatLogLine } from '../../src/cli/screen.js'
import { createLogger } from '../../src/platform/logger.js'

const written = (use: (logger: ReturnType<typeof createLogger>) => void, hasColours = false): string => {
  const parts: string[] = []
  const output = { write: (part: string) => parts.push(part) }
  use(createLogger({ level: 'debug', destination: createScreen(output, hasColours) }))
  return parts.join('')
}

describe('lines in a terminal', () => {
  it('have the time of day, the level, the event and its fields', () => {
    const text = written((logger) =>
      logger.info({ network: 'eip155:8453', amount: 10_000n, transactions: ['0x1'] }, 'settlement.confirmed'),
    )
    expect(text).toMatch(
      /^\d\d:\d\d:\d\d INFO {2}settlement\.confirmed network=eip155:8453 amount=10000 transactions=\["0x1"\]\n$/,
    )
  })

  it('show a request as a request', () => {
    const fields = {
      requestId: 'r1',
      method: 'POST',
      path: '/verify',
      status: 402,
      code: 'QUOTA_EXCEEDED',
      durationMs: 3.1,
      remoteAddress: '::1',
    }
    expect(written((logger) => logger.info(fields, 'request.completed'))).toMatch(
      /^\S+ INFO {2}POST \/verify 402 QUOTA_EXCEEDED 3\.1 ms from ::1\n$/,
    )
  })

  it('show an error that is expected by its sentence and causes, and a defect with its stack', () => {
    const cause = Object.assign(new Error('connect ECONNREFUSED 127.0.0.1:5432'), { code: 'ECONNREFUSED' })
    const expected = written((logger) =>
      logger.error({ error: new Error('No answer', { cause }) }, 'job.failed'),
    )
    expect(expected.split('\n').slice(1, 3)).toEqual([
      '         Error: No answer',
      '         Error ECONNREFUSED: connect ECONNREFUSED 127.0.0.1:5432',
    ])
    expect(expected).not.toContain(' at ')
    const defect = written((logger) => logger.error({ error: new TypeError('x is null') }, 'process.failed'))
    expect(defect).toContain('         TypeError: x is null\n           at ')
  })

  it('cannot be used to control the terminal', () => {
    const text = written((logger) =>
      logger.warn({ project: '\u001B[2Jshop\u0007\r\n\u202Eforged' }, 'mail.dropped'),
    )
    for (const control of ['\u001B', '\u0007', '\r', '\u202E']) expect(text).not.toContain(control)
    expect(text.split('\n')).toHaveLength(2)
  })

  it('stay as they are where they are no events', () => {
    expect(formatLogLine('plain words\n', false)).toBe('plain words')
  })

  it('have colours only where they are wanted', () => {
    expect(written((logger) => logger.warn({}, 'mail.dropped'), true)).toContain('\u001B[33mWARN')
    expect(written((logger) => logger.warn({}, 'mail.dropped'), false)).not.toContain('\u001B')
  })

  it('of the start come after the summary: warnings and errors, as the summary describes the rest', () => {
    const parts: string[] = []
    const screen = createScreen({ write: (part) => parts.push(part) }, false)
    const logger = createLogger({ level: 'info', destination: screen })
    screen.hold()
    logger.info({}, 'token.offered')
    logger.warn({}, 'network.uses_public_rpc')
    expect(parts).toEqual([])
    screen.show('summary\n', { covers: true })
    logger.info({}, 'request.completed')
    const text = parts.join('')
    expect(text).toMatch(/^summary\n\S+ WARN {2}network\.uses_public_rpc\n\S+ INFO /)
    expect(text).not.toContain('token.offered')
  })
})
