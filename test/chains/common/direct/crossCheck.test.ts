import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { createCheckedLookUp, type ReadTransaction } from '../../../../src/chains/common/direct/crossCheck.js'
import type { Ask, DirectNode } from '../../../../src/chains/common/direct/node.js'
import type { Endpoint } from '../../../../src/chains/nodes/endpoint.js'
import type { DirectTransfer, LookUp, LookUpQuery } from '../../../../src/schemes/exactDirect/directChain.js'
import { rejectionOf } from '../../../support/rejectionOf.js'

const transfer: DirectTransfer = { asset: 'gold', from: 'alice', to: 'bob', amount: 100n, memo: null }
const includedAt = new Date('2026-01-01T00:00:00Z')
const paid = (changes: Partial<DirectTransfer> = {}): LookUp => ({
  state: 'successful',
  includedAt,
  transfers: [{ ...transfer, ...changes }],
})

const query = (amount: bigint): LookUpQuery => ({
  transaction: 'tx-1',
  asset: 'gold',
  from: 'alice',
  to: 'bob',
  amount,
  notBefore: includedAt,
  hints: {},
})

interface SetupOptions {
  readonly isFresh?: boolean
  /** The first endpoint reports it once the nodes were asked for a newer block, with which they are fresh. */
  readonly freshReport?: LookUp | null
  readonly healthy?: number
}

/** Each endpoint reports what is listed for it; the first one is read from. */
const setup = (
  reports: readonly (LookUp | Error)[],
  { isFresh = true, freshReport = null, healthy = reports.length }: SetupOptions = {},
) => {
  let isFreshNow = isFresh
  const reads: number[] = []
  const endpoints = reports.map((_report, index): Endpoint => ({ host: `node-${index}`, request: never }))
  // The number of the endpoint stands for its requests.
  const askFirst: Ask = never
  const node: DirectNode = {
    network: 'toy:1',
    endpoints,
    ask: askFirst,
    listWitnesses: () => endpoints.slice(0, healthy),
    probe: async () => true,
    listHealth: () => [],
    findHeadAgeSeconds: () => 0,
    isFresh: () => isFreshNow,
    refresh: async () => {
      isFreshNow ||= freshReport !== null
    },
  }
  const read: ReadTransaction = async (_query, ask) => {
    const index = ask === askFirst ? 0 : await indexOf(ask)
    reads.push(index)
    const report = index === 0 && !isFresh && isFreshNow ? freshReport : reports[index]
    if (report === undefined || report === null || report instanceof Error) throw report
    return report
  }
  for (const [index, endpoint] of endpoints.entries()) {
    Object.assign(endpoint, { request: async () => index })
  }
  return { lookUp: createCheckedLookUp(node, read, 1_000n), reads }
}

const never = () => Promise.reject(new Error('Not asked in this test'))

const indexOf = async (ask: Ask): Promise<number> => {
  const answer: unknown = await ask('which', null, z.unknown())
  if (typeof answer !== 'number') throw new Error('The endpoint has no number')
  return answer
}

describe('a look-up', () => {
  it('asks one endpoint below the cross-check amount', async () => {
    const { lookUp, reads } = setup([paid(), { state: 'failed' }])
    expect(await lookUp(query(999n))).toEqual(paid())
    expect(reads).toEqual([0])
  })

  it.each<[string, readonly (LookUp | Error)[], LookUp['state']]>([
    ['two report the same', [paid(), paid()], 'successful'],
    ['two of three report the same', [paid(), paid(), new Error('down')], 'successful'],
    ['the second does not know it yet', [paid(), { state: 'missing' }], 'pending'],
    ['the second reports another amount', [paid(), paid({ amount: 99n })], 'pending'],
    ['the second reports another payer', [paid(), paid({ from: 'carol' })], 'pending'],
    ['the second reports another memo', [paid(), paid({ memo: 'order 7' })], 'pending'],
    ['the second reports a failure', [paid(), { state: 'failed' }], 'pending'],
    ['the second does not answer', [paid(), new Error('down')], 'pending'],
    ['two report a failure', [{ state: 'failed' }, { state: 'failed' }], 'failed'],
    ['one of three contradicts a failure', [{ state: 'failed' }, { state: 'failed' }, paid()], 'pending'],
    ['one of three contradicts a success', [paid(), paid(), { state: 'failed' }], 'pending'],
    ['one of three reports another amount', [paid(), paid(), paid({ amount: 99n })], 'pending'],
    ['only one is configured', [paid()], 'successful'],
  ])('from the cross-check amount on, when %s', async (_name, reports, expected) => {
    const { lookUp } = setup(reports)
    expect(await lookUp(query(1_000n))).toMatchObject({ state: expected })
  })

  it('is compared by what would be credited, where that is more than what is required', async () => {
    const surplus = paid({ amount: 1_000n })
    expect(await setup([surplus, paid()]).lookUp(query(100n))).toEqual({ state: 'pending' })
    expect(await setup([surplus, surplus]).lookUp(query(100n))).toEqual(surplus)
    // Several transfers are credited together.
    const half = { ...transfer, amount: 500n }
    const twice: LookUp = { state: 'successful', includedAt, transfers: [half, half] }
    expect(await setup([twice, paid()]).lookUp(query(100n))).toEqual({ state: 'pending' })
  })

  it('counts what is configured, so that an outage leaves no single witness', async () => {
    const { lookUp } = setup([paid(), paid()], { healthy: 1 })
    expect(await lookUp(query(1_000n))).toEqual({ state: 'pending' })
  })

  it.each(['missing', 'pending'] as const)('is an outage while nodes lag and report %s', async (state) => {
    const stale = setup([{ state }], { isFresh: false })
    expect(await rejectionOf(stale.lookUp(query(1n)))).toMatchObject({
      code: 'SERVICE_UNAVAILABLE',
      operationalCode: 'SVC-2004',
    })
    expect(await setup([{ state }]).lookUp(query(1n))).toEqual({ state })
  })

  it.each([{ state: 'missing' }, paid()] as const)(
    'reads again from nodes that no round has asked for long, and answers what they say: $state',
    async (freshReport) => {
      const late = setup([{ state: 'missing' }], { isFresh: false, freshReport })
      expect(await late.lookUp(query(1n))).toEqual(freshReport)
      expect(late.reads).toEqual([0, 0])
    },
  )

  it('has another endpoint confirm what it read again', async () => {
    const reports = [{ state: 'missing' }, { state: 'missing' }] as const
    const late = setup(reports, { isFresh: false, freshReport: paid() })
    expect(await late.lookUp(query(1_000n))).toEqual({ state: 'pending' })
    expect(late.reads).toContain(1)
  })

  it('trusts what lagging nodes know: final blocks stay', async () => {
    expect(await setup([paid()], { isFresh: false }).lookUp(query(1n))).toEqual(paid())
  })
})
