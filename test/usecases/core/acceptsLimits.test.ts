import { describe, expect, it } from 'vitest'
import { AppError } from '../../../src/errors.js'
import { acceptsRequest, isPriceRequest } from '../../../src/protocol/accepts.js'
import { createSchemeRegistry } from '../../../src/schemes/registry.js'
import { createCompleteAccepts, createPriceAccepts } from '../../../src/usecases/core/describe/accepts.js'
import { createFindTerms } from '../../../src/usecases/core/describe/completeRequirements.js'
import type { OfferDraft, Offers } from '../../../src/usecases/core/describe/offers.js'
import { createToyScheme } from '../../support/toyScheme.js'

/** From this amount on, two hosts would have to confirm. */
const limit = 10_000n

const findTerms = (isLimited: boolean) =>
  createFindTerms({
    registry: createSchemeRegistry([
      createToyScheme({
        kind: { scheme: 'exact', network: 'toy:1' },
        describeAsset: async () => ({ asset: 'gold', decimals: 6, extra: { unit: 'gram' } }),
        network: isLimited ? { isTooLarge: (amount) => amount >= limit } : {},
      }),
    ]),
    isServing: () => true,
  })

interface Asked {
  readonly amount: bigint
  readonly maxTimeoutSeconds?: number
  /** Added to the amount by the recipient's offers; null: it has none. */
  readonly tail?: bigint | null
  readonly isLimited?: boolean
}

interface Answered {
  readonly amount?: string
  readonly maxTimeoutSeconds: number
  readonly extra: object
}

type Dialect = (asked: Asked, offers: Offers) => Promise<Answered | undefined>

const parse = (body: object) => acceptsRequest.parse(body)

const complete: Dialect = async ({ amount, maxTimeoutSeconds, isLimited = true }, offers) => {
  const request = parse({
    accepts: [{ network: 'toy:1', payTo: 'bob', amount: `${amount}`, maxTimeoutSeconds }],
  })
  if (isPriceRequest(request)) throw new Error('This is a price')
  const { accepts } = await createCompleteAccepts(findTerms(isLimited), offers)(request)
  const [first] = accepts
  return first === undefined || !('amount' in first) ? undefined : first
}

const price: Dialect = async ({ amount, maxTimeoutSeconds, isLimited = true }, offers) => {
  const request = parse({
    resourceUrl: 'https://shop.example/1',
    network: 'toy:1',
    price: { amount: `${amount}`, asset: { address: 'gold' } },
    recipientAddress: 'bob',
    routeConfig: { maxTimeoutSeconds },
  })
  if (!isPriceRequest(request)) throw new Error('This is no price')
  const [first] = (await createPriceAccepts(findTerms(isLimited), offers)(request)).accepts
  return first === undefined ? undefined : { ...first, amount: first.maxAmountRequired }
}

const ask = async (dialect: Dialect, { tail = null, ...asked }: Asked) => {
  const drafts: OfferDraft[] = []
  const offers: Offers = {
    issue: async (_terms, draft) => {
      drafts.push(draft)
      return tail === null ? null : { amount: (draft.amount ?? 0n) + tail, extra: { offer: 'o-1' } }
    },
  }
  try {
    return { answered: await dialect(asked, offers), drafts }
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    return { answered: `${error.code} ${error.message}`, drafts }
  }
}

const refused = expect.stringMatching(/^INVALID_REQUEST (accepts|price): .*cross_check_unavailable/)

describe.each([
  ['requirements', complete],
  ['a price', price],
])('POST /accepts for %s', (_, dialect) => {
  it.each([
    ['below the limit', { amount: limit - 1n }, '9999'],
    ['at it', { amount: limit }, refused],
    ['above it', { amount: limit + 1n }, refused],
    ['above it, where there is none', { amount: limit + 1n, isLimited: false }, '10001'],
    ['below it, also as issued', { amount: limit - 2n, tail: 1n }, '9999'],
    ['at it as issued', { amount: limit - 1n, tail: 1n }, refused],
  ])('with an amount %s', async (_name, asked, expected) => {
    const { answered } = await ask(dialect, asked)
    expect(typeof answered === 'object' ? answered.amount : answered).toEqual(expected)
  })

  it('issues no amount for what is too large without one', async () => {
    expect((await ask(dialect, { amount: limit, tail: 1n })).drafts).toEqual([])
  })

  it('puts what is issued beside what clients need to sign', async () => {
    const { answered } = await ask(dialect, { amount: 5n, tail: 1n })
    expect(answered).toMatchObject({ amount: '6', extra: { unit: 'gram', offer: 'o-1' } })
  })

  it.each([
    ['that it names', 60, 60],
    ['of five minutes', undefined, 300],
  ])(
    'has a time-out %s, in the answer and for what is issued',
    async (_name, maxTimeoutSeconds, expected) => {
      const { answered, drafts } = await ask(dialect, {
        amount: 5n,
        ...(maxTimeoutSeconds === undefined ? {} : { maxTimeoutSeconds }),
      })
      expect(answered).toMatchObject({ maxTimeoutSeconds: expected })
      expect(drafts).toMatchObject([
        { maxTimeoutSeconds: expected, amount: 5n, payTo: 'bob', caller: 'anonymous' },
      ])
    },
  )
})

it('POST /accepts leaves out what is too large, and answers the rest', async () => {
  const request = parse({
    accepts: [limit, limit - 1n].map((amount) => ({ network: 'toy:1', payTo: 'bob', amount: `${amount}` })),
  })
  if (isPriceRequest(request)) throw new Error('This is a price')
  expect((await createCompleteAccepts(findTerms(true))(request)).accepts).toMatchObject([{ amount: '9999' }])
})
