import { describe, expect, it } from 'vitest'
import { createFailureLog, nameLines } from '../src/failureLog.js'
import type { LogEvent } from '../src/ports/logger.js'
import { createMemoryLogger } from './support/memoryLogger.js'

const second = 1_000
const outage = new Error('connect ECONNREFUSED')

type Step = readonly [atSeconds: number, what: 'fails' | 'succeeds', key?: string]

/** What is logged when these steps are taken, with an interval of 30 s. */
const replay = (steps: readonly Step[], recovered: LogEvent | null = 'rpc.recovered') => {
  const logger = createMemoryLogger()
  let at = 0
  const log = createFailureLog({
    logger,
    event: 'rpc.failed',
    recovered,
    everyMs: 30 * second,
    now: () => at * second,
  })
  for (const [atSeconds, what, key = 'a'] of steps) {
    at = atSeconds
    if (what === 'fails') log.failed(key, { host: key, error: outage })
    else log.succeeded(key)
  }
  return logger.lines.map(({ message, fields }) => ({ message, ...fields }))
}

const first = (host = 'a') => ({ message: 'rpc.failed', host, error: outage })
const repeated = (failures: number, forSeconds: number) => ({ ...first(), failures, forSeconds })
const recovered = (failures: number, forSeconds: number) => ({
  message: 'rpc.recovered',
  host: 'a',
  failures,
  forSeconds,
})
const everySecond = (from: number, to: number): readonly Step[] =>
  Array.from({ length: to - from + 1 }, (_, index) => [from + index, 'fails'] as const)

describe('a failure that repeats', () => {
  it.each<[string, readonly Step[], readonly unknown[]]>([
    ['is logged at once, with its detail', [[0, 'fails']], [first()]],
    ['is only counted within the interval', everySecond(0, 29), [first()]],
    ['is one line with a count after the interval', everySecond(0, 30), [first(), repeated(31, 30)]],
    [
      'is one line per interval while it lasts',
      everySecond(0, 95),
      [first(), repeated(31, 30), repeated(61, 60), repeated(91, 90)],
    ],
    [
      'ends with one line',
      [...everySecond(0, 9), [10, 'succeeds'], [11, 'succeeds']],
      [first(), recovered(10, 10)],
    ],
    [
      'is not mentioned where all succeeds',
      [
        [0, 'succeeds'],
        [1, 'succeeds'],
      ],
      [],
    ],
    [
      'that comes and goes is one incident per interval',
      [
        [0, 'fails'],
        [1, 'succeeds'],
        [2, 'fails'],
        [3, 'succeeds'],
        [4, 'fails'],
        [5, 'succeeds'],
      ],
      [first(), recovered(1, 1)],
    ],
    [
      'that comes back and stays is logged when the interval ends',
      [[0, 'fails'], [1, 'succeeds'], ...everySecond(20, 31), [40, 'succeeds']],
      [first(), recovered(1, 1), repeated(11, 10), recovered(12, 20)],
    ],
    [
      'that comes back later is a new one, with its detail',
      [
        [0, 'fails'],
        [1, 'succeeds'],
        [60, 'fails'],
      ],
      [first(), recovered(1, 1), first()],
    ],
    [
      'is counted for each key alone',
      [
        [0, 'fails', 'a'],
        [1, 'fails', 'b'],
        [2, 'fails', 'a'],
        [3, 'fails', 'b'],
      ],
      [first('a'), first('b')],
    ],
  ])('%s', (_title, steps, lines) => {
    expect(replay(steps)).toEqual(lines)
  })

  it('ends without a line where recovery cannot be observed', () => {
    expect(
      replay(
        [
          [0, 'fails'],
          [1, 'succeeds'],
        ],
        null,
      ),
    ).toEqual([first()])
  })

  it('is kept for a bounded number of keys', () => {
    const keys = Array.from({ length: 1_001 }, (_, index): Step => [0, 'fails', `key${index}`])
    const lines = replay([...keys, [1, 'fails', 'key0'], [1, 'fails', 'key1000']])
    expect(lines).toHaveLength(1_002)
  })
})

it('lines of a named logger have its fields, and those of the line instead of them', () => {
  const logger = createMemoryLogger()
  const named = nameLines(logger, { job: 'detectReorgs', network: 'eip155:1' })
  named.warn({ settlementId: 's' }, 'settlement.reorged')
  named.error({ network: 'eip155:10' }, 'job.failed')
  expect(logger.lines).toEqual([
    {
      level: 'warn',
      message: 'settlement.reorged',
      fields: { job: 'detectReorgs', network: 'eip155:1', settlementId: 's' },
    },
    { level: 'error', message: 'job.failed', fields: { job: 'detectReorgs', network: 'eip155:10' } },
  ])
})
