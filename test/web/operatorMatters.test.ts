import { describe, expect, it } from 'vitest'
import { overviewExample } from '../../src/http/schemas/operatorExamples.js'
import { listMatters } from '../../web/src/operator/matters.js'

type Overview = Parameters<typeof listMatters>[0]

const nameOf = (network: string) => network
const { instance } = overviewExample
const shared: Overview['shared'] = { ...overviewExample.shared, reconciliation: null }
const [network] = instance.networks
const [endpoint] = network?.endpoints ?? []
const [signer] = network?.signers ?? []
if (network === undefined || endpoint === undefined || signer === undefined) throw new Error('No example')

const calm: Overview = {
  ...overviewExample,
  shared,
  instance: { ...instance, networks: [{ ...network, paused: [] }] },
  unread: [],
}
const titlesOf = (overview: Overview) => listMatters(overview, nameOf).map(({ title }) => title)
const ofNetwork = (changes: Partial<typeof network>) =>
  titlesOf({ ...calm, instance: { ...instance, networks: [{ ...network, paused: [], ...changes }] } })
const ofInstance = (changes: Partial<typeof instance>) =>
  titlesOf({ ...calm, instance: { ...calm.instance, ...changes } })
const ofShared = (changes: Partial<typeof shared>) => titlesOf({ ...calm, shared: { ...shared, ...changes } })

describe('what needs the attention of operators', () => {
  it('is nothing while all is well', () => {
    expect(listMatters(calm, nameOf)).toEqual([])
  })

  it.each([
    [{ isServing: false }, `${network.network} does not serve`],
    [{ paused: [{ scheme: null, reason: 'Why' }] }, `All on ${network.network} is paused`],
    [{ paused: [{ scheme: 'upto', reason: 'Why' }] }, `upto on ${network.network} is paused`],
    [{ reorgs: { reorged: 2, lost: 1 } }, `1 lost on ${network.network}`],
    [{ balanceLevel: 'empty' as const }, `A signer of ${network.network} is empty`],
    [{ balanceLevel: 'low' as const }, `A signer of ${network.network} is low`],
    [{ signers: [{ ...signer, daysLeft: 2.9 }] }, `A signer of ${network.network} has 2.9 days left`],
    [{ stuckLanes: [signer.address] }, `A lane of ${network.network} is stuck`],
    [{ endpoints: [{ ...endpoint, isUp: false }] }, `${endpoint.host} is down`],
    [{ endpoints: [{ ...endpoint, wrongChain: 'eip155:1' }] }, `${endpoint.host} serves another chain`],
  ])('is a network with %j', (changes, title) => {
    expect(ofNetwork(changes)).toEqual([title])
  })

  it('is an instance whose limiter, pools or jobs have trouble', () => {
    const [pool] = instance.pools
    const [job] = instance.jobs
    if (pool === undefined || job === undefined) throw new Error('No example')
    expect(ofInstance({ limiter: { store: 'redis', isDegraded: true } })).toEqual(['The limiter is degraded'])
    expect(ofInstance({ pools: [{ ...pool, waiting: 3 }] })).toEqual(['3 wait for a connection'])
    expect(ofInstance({ jobs: [{ ...job, failures: 2 }] })).toEqual([`The job ${job.name} fails`])
  })

  it('is what waits too long, was lost, differs, or could not be read', () => {
    const open = { network: network.network, state: 'pending', count: 2, oldestSeconds: 121 }
    const day = { network: network.network, confirmed: 1, failed: 1, lost: 1 }
    const last = { day: '2026-01-01', finishedAt: overviewExample.at, settlements: 9, open: 0, unchecked: 0 }
    const counts = [{ kind: 'payment_missing' as const, count: 4 }]
    const nightly = { ...last, waiting: 0, differences: 4, counts, listed: [] }
    expect(ofShared({ openSettlements: [open] })).toEqual([
      `The oldest pending settlement on ${network.network} is 2 min old`,
    ])
    expect(ofShared({ lastDay: [day] })).toEqual([`1 lost on ${network.network} in 24 hours`])
    expect(ofShared({ webhooks: { waiting: 9, isCountLimited: false, oldestSeconds: 301 } })).toEqual([
      'Webhooks wait for up to 5 min',
    ])
    expect(ofShared({ reconciliation: { last: nightly } })).toEqual([
      'The reconciliation of 2026-01-01 found 4 differences',
    ])
    expect(ofShared({ database: 'read_only' })).toEqual(['The database is read-only'])
    expect(titlesOf({ ...calm, unread: [{ part: 'lanes', reason: 'Why' }] })).toEqual([
      '“lanes” could not be read',
    ])
  })

  it('is said with what stops payments first', () => {
    expect(
      ofShared({ webhooks: { waiting: 9, isCountLimited: true, oldestSeconds: 301 }, database: null }),
    ).toEqual(['The database does not answer', 'Webhooks wait for up to 5 min'])
  })
})
