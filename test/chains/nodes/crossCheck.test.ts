import { describe, expect, it } from 'vitest'
import { passesCrossCheck, type Vote } from '../../../src/chains/nodes/crossCheck.js'

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
  { configured: 3, votes: ['confirms', 'confirms', 'contradicts'], success: true, failure: false },
  { configured: 3, votes: ['confirms', 'unreachable', 'unreachable'], success: false, failure: false },
  { configured: 3, votes: ['unknown', 'unknown', 'unknown'], success: false, failure: false },
]

const describeVotes = (votes: readonly Vote[]): string => (votes.length === 0 ? 'no votes' : votes.join(', '))

describe('from the cross-check amount on', () => {
  it.each(table.map((row) => [row.configured, describeVotes(row.votes), row] as const))(
    'of %i configured endpoints: %s',
    (_configured, _votes, { configured, votes, success, failure }) => {
      expect({
        success: passesCrossCheck({ configured, votes, outcome: 'success' }),
        failure: passesCrossCheck({ configured, votes, outcome: 'failure' }),
      }).toEqual({ success, failure })
    },
  )
})
