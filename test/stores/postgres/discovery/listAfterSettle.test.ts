import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createSchemaValidator } from '../../../../src/platform/schemaValidator.js'
import type { DiscoveryCatalogue } from '../../../../src/ports/discovery.js'
import { createDiscoveryCatalogue } from '../../../../src/stores/postgres/discovery/discoveryCatalogue.js'
import {
  bazaarOf,
  clearDiscovery,
  createTestDiscovery,
  type SettlementOptions,
} from '../../../support/discovery.js'
import { pollUntil } from '../../../support/pollUntil.js'
import { useTestDatabase } from '../../../support/postgres.js'
import {
  backtracking,
  createPatientValidator,
  useManualDeadlines,
  victim,
} from '../../../support/schemaValidator.js'

const queued = { status: 'processing', listing: 'pending', rule: 'listing_queued' }
const honest: SettlementOptions = {
  url: 'https://honest.example/',
  requester: { name: '203.0.113.9', site: null },
}
const requester = (name: string) => ({ requester: { name, site: null } })
/** Takes a validator as long as it may. */
const costly = (seed: string) => ({
  info: { input: { type: 'http', method: 'GET', queryParams: { seed, text: victim } } },
  schema: {
    properties: {
      input: { properties: { queryParams: { properties: { text: backtracking } } } },
    },
  },
})

/** Notes what it judges, in this order. */
const createNotingValidator = () => {
  const validator = createPatientValidator()
  const verdicts: string[] = []
  const noting: typeof validator = {
    ...validator,
    validate: async (...given) => {
      const verdict = await validator.validate(...given)
      verdicts.push(verdict.kind)
      return verdict
    },
  }
  return { validator: noting, verdicts }
}

describe('a listing after a settlement', () => {
  useManualDeadlines()
  const { pool } = useTestDatabase()
  beforeEach(() => clearDiscovery(pool))
  const opened: { close(): Promise<void> }[] = []
  afterEach(() => Promise.all(opened.splice(0).map((discovery) => discovery.close())))

  const open = (
    change: (catalogue: DiscoveryCatalogue) => Partial<DiscoveryCatalogue> = () => ({}),
    given: Parameters<typeof createTestDiscovery>[1] = {},
  ) => {
    const catalogue = createDiscoveryCatalogue(pool)
    const discovery = createTestDiscovery({ ...catalogue, ...change(catalogue) }, given)
    opened.push(discovery)
    return discovery
  }
  /** Records nothing before `release`; `recorded` are the keys in their order. */
  const openHeld = (given: Parameters<typeof createTestDiscovery>[1] = {}) => {
    const recorded: string[] = []
    let release = () => {}
    const held = new Promise<void>((resolve) => {
      release = resolve
    })
    const discovery = open(
      (catalogue) => ({
        record: async (settlement) => {
          await held
          recorded.push(settlement.key.url)
          return await catalogue.record(settlement)
        },
      }),
      given,
    )
    return { ...discovery, recorded, release }
  }

  /** The honest settlement is queued beside what waits, and listed once the catalogue answers. */
  const expectListed = async ({
    answerSettle,
    settle,
    recorded,
    release,
  }: ReturnType<typeof openHeld>): Promise<void> => {
    expect(await answerSettle(honest)).toMatchObject(queued)
    const outcome = settle(honest)
    release()
    expect(await outcome).toMatchObject({ listing: 'listed' })
    expect(recorded).toContain(honest.url)
  }

  it('is not waited for: the settlement is answered while the catalogue is locked, and listed afterwards', async () => {
    const { answerSettle, list } = open()
    const blocker = await pool.connect()
    try {
      await blocker.query('begin')
      await blocker.query('lock table discovery_resources in access exclusive mode')
      expect(await answerSettle()).toMatchObject(queued)
    } finally {
      await blocker.query('rollback')
      blocker.release()
    }
    await pollUntil(async () => (await list()).items.length === 1, 'the resource to be listed')
  })

  it('is named by the answer to the next settlement with the same text', async () => {
    const { settle, answerSettle } = open()
    await settle()
    expect(await answerSettle()).toMatchObject({
      status: 'success',
      listing: 'listed',
      id: expect.any(String),
    })
    expect(await answerSettle({ details: { description: 'new' } })).toMatchObject(queued)
    expect(await answerSettle({ caller: 'another account' })).toMatchObject(queued)
  })

  it('is refused by the answer where no schema has to be judged', async () => {
    const { answerSettle } = open()
    expect(await answerSettle({ bazaar: bazaarOf({ type: 'http', method: 'BREW' }) })).toMatchObject({
      status: 'rejected',
      rule: 'method',
    })
  })

  it('is repeated while the database fails, each time later', async () => {
    let failures = 3
    const { answerSettle, list, clock } = open((catalogue) => ({
      record: async (settlement) => {
        failures -= 1
        if (failures >= 0) throw new Error('connection lost')
        return await catalogue.record(settlement)
      },
    }))
    expect(await answerSettle()).toMatchObject(queued)
    for (const delayMs of [1_000, 10_000, 60_000]) {
      await pollUntil(() => clock.countSleepers() === 1, 'the repetition to wait')
      expect((await list()).items).toEqual([])
      await clock.advance(delayMs)
    }
    await pollUntil(async () => (await list()).items.length === 1, 'the resource to be listed')
  })

  it('is given up after four attempts, and left to the next settlement', async () => {
    let attempts = 0
    const { settle, clock } = open(() => ({
      record: async () => {
        attempts += 1
        throw new Error('connection lost')
      },
    }))
    const outcome = settle()
    for (const delayMs of [1_000, 10_000, 60_000]) {
      await pollUntil(() => clock.countSleepers() === 1, 'the repetition to wait')
      await clock.advance(delayMs)
    }
    expect(await outcome).toMatchObject({ status: 'processing', rule: 'catalogue_unavailable' })
    expect(attempts).toBe(4)
  })

  it.each<[string, (index: number) => SettlementOptions]>([
    ['one caller with many hosts', (n) => ({ ...requester('h'), url: `https://h${n}.example/` })],
    [
      'one /48 of IPv6',
      (n) => ({
        requester: { name: `2001:db8:0:${n}::/64`, site: '2001:db8::/48' },
        url: `https://h${n}.example/`,
      }),
    ],
  ])('is not crowded out by %s', async (_case, hostile) => {
    const held = openHeld()
    const { answerSettle } = held
    const answers = []
    for (let index = 0; index < 300; index += 1) answers.push(await answerSettle(hostile(index)))
    expect(answers[0]).toMatchObject(queued)
    expect(answers.filter((answer) => answer?.rule === 'listing_queued').length).toBeLessThan(40)
    expect(answers.at(-1)).toMatchObject({ status: 'processing', rule: 'catalogue_busy' })
    await expectListed(held)
  })

  it('is not crowded out by strangers who settle for resources of the same host', async () => {
    const held = openHeld()
    const { answerSettle } = held
    for (let index = 0; index < 60; index += 1) {
      expect(
        await answerSettle({ ...requester(`h${index}`), url: `https://honest.example/${index}` }),
      ).toMatchObject(queued)
    }
    await expectListed(held)
  })

  it('takes turns with those of a caller that settled before', async () => {
    const { settle, answerSettle, recorded, release } = openHeld()
    for (let index = 0; index < 20; index += 1) {
      await answerSettle({ ...requester('h'), url: `https://h${index}.example/` })
    }
    const outcome = settle(honest)
    release()
    await outcome
    expect(recorded.indexOf(String(honest.url))).toBeLessThan(3)
  })

  it('waits for at most one schema of a caller whose schemas are costly', async () => {
    const { validator, verdicts } = createNotingValidator()
    const { settle } = open(undefined, { validators: { explained: validator, settled: validator } })
    const hostile = ['1', '2', '3'].map((seed) => settle({ ...requester('h'), bazaar: costly(seed) }))
    const [listed, ...refused] = await Promise.all([settle(honest), ...hostile])
    expect(listed).toMatchObject({ listing: 'listed' })
    expect(refused.map((answer) => answer?.rule)).toEqual(hostile.map(() => 'validation_time'))
    expect(verdicts).toEqual(['timeout', 'valid', 'timeout', 'timeout'])
  })

  it('does not wait for what POST /discovery/validate explains', async () => {
    const explained = createSchemaValidator({ deadlineMs: 600_000 })
    const settled = createPatientValidator()
    const { settle, useCases } = open(undefined, { validators: { explained, settled } })
    const turn = { owner: 'h', signal: new AbortController().signal }
    const explaining = useCases.validateDeclaration({ ...costly('1'), resource: honest.url }, turn)
    expect(await settle(honest)).toMatchObject({ listing: 'listed' })
    await explained.close()
    expect(await explaining).toMatchObject({ rule: 'validation_time' })
  })

  it('judges a declaration once, whether it is valid or not', async () => {
    const { validator, verdicts } = createNotingValidator()
    const { settle, answerSettle } = open(undefined, {
      validators: { explained: validator, settled: validator },
    })
    const mismatch = { bazaar: { ...bazaarOf(), schema: { required: ['none'] } } }
    for (let time = 0; time < 3; time += 1) {
      expect(await settle()).toMatchObject({ listing: 'listed' })
      expect(await settle(mismatch)).toMatchObject({ rule: 'info_matches_schema' })
    }
    expect(verdicts).toEqual(['valid', 'mismatch'])
    expect(await answerSettle(mismatch)).toMatchObject({ status: 'rejected', rule: 'info_matches_schema' })
  })

  it('whose schema is costly is judged again ten minutes later', async () => {
    const { validator, verdicts } = createNotingValidator()
    const { settle, answerSettle, clock } = open(undefined, {
      validators: { explained: validator, settled: validator },
    })
    const slow = { bazaar: costly('1') }
    for (let time = 0; time < 3; time += 1) {
      expect(await settle(slow)).toMatchObject({ rule: 'validation_time' })
    }
    expect(verdicts).toHaveLength(1)
    expect(await answerSettle(slow)).toMatchObject({ status: 'rejected', rule: 'validation_time' })
    await clock.advance(600_000)
    expect(await settle(slow)).toMatchObject({ rule: 'validation_time' })
    expect(verdicts).toHaveLength(2)
  })

  it('under way when the service ends is finished, and nothing is repeated or taken afterwards', async () => {
    const { settle, answerSettle, close, recorded, release } = openHeld()
    const outcome = settle()
    const closing = close()
    release()
    await closing
    expect(await outcome).toMatchObject({ listing: 'listed' })
    expect(await answerSettle(honest)).toMatchObject({ rule: 'catalogue_busy' })
    expect(recorded).toHaveLength(1)
    const failing = open(() => ({
      record: async () => {
        throw new Error('connection lost')
      },
    }))
    const failed = failing.settle()
    await pollUntil(() => failing.clock.countSleepers() === 1, 'the repetition to wait')
    await failing.close()
    expect(await failed).toMatchObject({ rule: 'catalogue_unavailable' })
  })
})
