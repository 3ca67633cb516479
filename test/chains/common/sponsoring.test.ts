import { describe, expect, it } from 'vitest'
import { createSponsoring, type SponsoringTerms } from '../../../src/chains/common/sponsoring.js'
import type { SponsoringQuery, SponsoringRecord } from '../../../src/ports/settlementOverview.js'

const now = new Date('2026-01-02T00:00:00Z')
const neither: SponsoringRecord = { hasRecipientSettled: false, hasPayerFailed: false }

const create = (
  recipients: SponsoringTerms['recipients'],
  answer: (query: SponsoringQuery) => SponsoringRecord = () => neither,
) => {
  const asked: SponsoringQuery[] = []
  const read = async (query: SponsoringQuery) => {
    asked.push(query)
    return answer(query)
  }
  const sponsoring = createSponsoring({
    network: 'toy:1',
    terms: { recipients, history: { read } },
    addressForm: /^toy/i,
    normalize: (address) => (address === 'toyBad' ? null : address.toLowerCase()),
    failures: ['transaction_failed'],
    clock: { now: () => now },
  })
  const refuse = async (payTo: string, caller: string | null = 'anonymous') =>
    (await sponsoring.refuse({ payer: 'toy-payer', payTo, caller }))?.reason ?? null
  return { refuse, asked, payees: () => asked.map(({ payTo }) => payTo) }
}

const paid =
  (...known: readonly string[]) =>
  ({ payTo }: SponsoringQuery) => ({
    ...neither,
    hasRecipientSettled: payTo !== null && known.includes(payTo),
  })

describe('sponsoring', () => {
  it('is for listed recipients, in any spelling, and asks only for the payer', async () => {
    const { refuse, payees } = create(['TOY-A', 'other-family', 'toy-b'])
    expect(await refuse('toy-a')).toBeNull()
    expect(await refuse('toy-c')).toBe('recipient_not_sponsored')
    expect(payees()).toEqual([null, 'toy-c'])
  })

  it.each([
    ['of a caller with a key', [], 'an-account'],
    ['to everyone where the operator says so', '*', 'anonymous'],
  ] as const)('is for every recipient %s', async (_, recipients, caller) => {
    const { refuse, payees } = create(recipients)
    expect(await refuse('toy-c', caller)).toBeNull()
    expect(payees()).toEqual([null])
  })

  it('asks once whether a recipient has settled, and again while it has not', async () => {
    const { refuse, payees } = create([], paid('toy-a'))
    for (const payTo of ['toy-a', 'toy-a', 'toy-b', 'toy-b']) await refuse(payTo)
    expect(payees()).toEqual(['toy-a', null, 'toy-b', 'toy-b'])
  })

  it('remembers a bounded number of recipients', async () => {
    const { refuse, asked } = create([], (query) => ({
      ...neither,
      hasRecipientSettled: query.payTo !== null,
    }))
    for (let index = 0; index <= 10_000; index++) await refuse(`toy-${index}`)
    asked.length = 0
    expect([await refuse('toy-10000'), await refuse('toy-0')]).toEqual([null, null])
    expect(asked.map(({ payTo }) => payTo)).toEqual([null, 'toy-0'])
  })

  it.each(['anonymous', 'an-account'])(
    'is not for a payer that failed in the last day: %s',
    async (caller) => {
      const { refuse, asked } = create('*', () => ({ ...neither, hasPayerFailed: true }))
      expect(await refuse('toy-a', caller)).toBe('payer_not_sponsored')
      expect(asked[0]).toMatchObject({
        network: 'toy:1',
        payer: 'toy-payer',
        reasons: ['transaction_failed'],
        since: new Date('2026-01-01T00:00:00Z'),
      })
    },
  )

  it('is refused, not granted, while the database does not answer', async () => {
    const { refuse } = create('*', () => {
      throw new Error('The database is gone')
    })
    await expect(refuse('toy-a')).rejects.toThrow('The database is gone')
  })

  it('refuses to start with a damaged address of the family', () => {
    expect(() => create(['toyBad'])).toThrow('SPONSORED_RECIPIENTS: toyBad is not an address of toy:1')
  })
})
