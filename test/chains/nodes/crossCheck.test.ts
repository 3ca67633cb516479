import { describe, expect, it } from 'vitest'
import { canCrossCheck, passesCrossCheck, type Vote } from '../../../src/chains/nodes/crossCheck.js'

const table: readonly {
  readonly configured: number
  readonly votes: readonly Vote[]
  readonly success: boolean
  readonly failure: boolean
}[] = [
  { configured: 1, votes: [], success: true, failure: true },
  { configured: 1, votes: ['confirms'], success: true, failure: true },
  { configured: 2, votes: [], success: false, failure: false },
  { configured: 2, votes: ['confirms'], success: false, failure: false },
  { configured: 2, votes: ['confirms', 'confirms'], success: true, failure: true },
  { configured: 2, votes: ['confirms', 'contradicts'], success: false, failure: false },
  { configured: 2, votes: ['confirms', 'unknown'], success: false, failure: false },
  { configured: 2, votes: ['confirms', 'unreachable'], success: false, failure: false },
  { configured: 2, votes: ['contradicts', 'contradicts'], success: false, failure: false },
  { configured: 3, votes: ['confirms'], success: false, failure: false },
  { configured: 3, votes: ['confirms', 'confirms'], success: true, failure: true },
  { configured: 3, votes: ['confirms', 'confirms', 'confirms'], success: true, failure: true },
  { configured: 3, votes: ['confirms', 'confirms', 'unreachable'], success: true, failure: true },
  { configured: 3, votes: ['confirms', 'confirms', 'unknown'], success: true, failure: false },
  { configured: 3, votes: ['confirms', 'confirms', 'contradicts'], success: false, failure: false },
  { configured: 3, votes: ['confirms', 'unreachable', 'unreachable'], success: false, failure: false },
  { configured: 3, votes: ['unknown', 'unknown', 'unknown'], success: false, failure: false },
]

const describeVotes = (votes: readonly Vote[]): string => (votes.length === 0 ? 'no votes' : votes.join(', '))

const hostOf = (index: number) => `node-${index}.example`
const listHosts = (count: number) => Array.from({ length: count }, (_, index) => ({ host: hostOf(index) }))
const cast = (votes: readonly Vote[]) => ({
  ballots: votes.map((vote, index) => ({ host: hostOf(index), vote })),
})

describe('from the cross-check amount on', () => {
  it.each(table.map((row) => [row.configured, describeVotes(row.votes), row] as const))(
    'of %i configured endpoints: %s',
    (_configured, _votes, { configured, votes, success, failure }) => {
      expect({
        success: passesCrossCheck({ ...cast(votes), endpoints: listHosts(configured), outcome: 'success' }),
        failure: passesCrossCheck({ ...cast(votes), endpoints: listHosts(configured), outcome: 'failure' }),
      }).toEqual({ success, failure })
    },
  )
})

describe('endpoints', () => {
  const endpointsAt = (...urls: readonly string[]) => urls.map((url) => ({ host: new URL(url).host }))

  it.each([
    ['a slash', ['https://rpc.example/key', 'https://rpc.example/key/']],
    ['letter case', ['https://rpc.example', 'https://RPC.example']],
    ['the root of the domain name', ['https://rpc.example', 'https://rpc.example.']],
    ['the protocol', ['https://rpc.example', 'http://rpc.example']],
    ['the port', ['https://rpc.example:8545', 'https://rpc.example:8546']],
    ['the key', ['https://rpc.example/first', 'https://rpc.example/second']],
    ['names of this machine', ['http://localhost:8545', 'http://127.0.0.1:8545']],
  ])('that differ in %s are one', (_name, urls) => {
    const endpoints = endpointsAt(...urls)
    expect(canCrossCheck(endpoints)).toBe(false)
    const others = [...endpoints, ...endpointsAt('https://other.example')]
    expect(canCrossCheck(others)).toBe(true)
    const ballots = endpoints.map(({ host }) => ({ host, vote: 'confirms' as const }))
    for (const outcome of ['success', 'failure'] as const) {
      expect(passesCrossCheck({ ballots, endpoints: others, outcome })).toBe(false)
    }
  })

  it('of one host contradict what one of them contradicts', () => {
    const endpoints = endpointsAt(
      'https://a.example/1',
      'https://a.example/2',
      'https://b.example',
      'https://c.example',
    )
    const votes: readonly Vote[] = ['confirms', 'contradicts', 'confirms', 'confirms']
    const ballots = endpoints.map(({ host }, index) => ({ host, vote: votes[index] ?? 'unknown' }))
    expect(passesCrossCheck({ ballots, endpoints, outcome: 'success' })).toBe(false)
    expect(passesCrossCheck({ ballots: ballots.slice(2), endpoints, outcome: 'success' })).toBe(true)
  })

  it('on several ports of this machine are several', () => {
    expect(canCrossCheck(endpointsAt('http://127.0.0.1:8545', 'http://127.0.0.1:8546'))).toBe(true)
  })
})
