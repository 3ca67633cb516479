import { describe, expect, it } from 'vitest'
import type { AppError } from '../../../src/errors.js'
import { acceptsRequest, isPriceRequest } from '../../../src/protocol/accepts.js'
import type { RecipientRouters } from '../../../src/schemes/network.js'
import { createSchemeRegistry } from '../../../src/schemes/registry.js'
import type { Scheme } from '../../../src/schemes/scheme.js'
import { createCompleteAccepts, createPriceAccepts } from '../../../src/usecases/core/describe/accepts.js'
import { createFindTerms } from '../../../src/usecases/core/describe/completeRequirements.js'
import { createFindRouter } from '../../../src/usecases/core/describe/listSupported.js'
import { rejectionOf } from '../../support/rejectionOf.js'
import { createToyScheme, type ToyScript } from '../../support/toyScheme.js'

const upto = (script: ToyScript = {}): Scheme =>
  createToyScheme({
    kind: { scheme: 'upto', network: 'eip155:84532' },
    network: { isAddress: (text) => text.startsWith('0x') },
    describeAsset: async (asset, payTo) => ({
      asset: asset ?? '0xgold',
      decimals: 6,
      extra: {
        name: 'Gold',
        version: '2',
        assetTransferMethod: 'eip2612',
        routerAddress: `router of ${payTo}`,
      },
    }),
    ...script,
  })

// As the scheme of a network whose router for any recipient is not settled through.
const overruling: ToyScript = {
  describeAsset: async () => ({
    asset: '0xgold',
    decimals: 6,
    extra: { routerAddress: '0xb0b' },
    overruled: { routerAddress: '0xABC' },
  }),
}

const findTerms = (scheme = upto()) =>
  createFindTerms({ registry: createSchemeRegistry([scheme]), isServing: () => true })

const complete = async (entry: Record<string, unknown>, version = 2, script: ToyScript = {}) => {
  const request = acceptsRequest.parse({
    x402Version: version,
    accepts: [{ scheme: 'upto', network: 'base-sepolia', payTo: '0xbob', ...entry }],
  })
  if (isPriceRequest(request)) throw new Error('This is a price')
  return (await createCompleteAccepts(findTerms(upto(script)))(request)).accepts[0]
}

const problemsOf = (entry: Record<string, unknown>) =>
  acceptsRequest
    .safeParse({ accepts: [{ scheme: 'upto', network: 'base-sepolia', payTo: '0xbob', ...entry }] })
    .error?.issues.flatMap((issue) => ('errors' in issue ? issue.errors[0] : [issue]))
    .map((issue) => issue?.path.at(-1))

const gold = { name: 'Gold', version: '2' }

describe('POST /accepts under upto', () => {
  it.each([
    ['maxAmount', { maxAmount: '10000' }],
    ['amount', { amount: '10000' }],
    ['both', { maxAmount: '10000', amount: '010000' }],
  ])('takes the maximum as %s, and returns both names', async (_name, amounts) => {
    const completed = await complete(amounts)
    expect(completed).toMatchObject({
      scheme: 'upto',
      network: 'base-sepolia',
      asset: '0xgold',
      payTo: '0xbob',
      extra: { ...gold, routerAddress: 'router of 0xbob' },
    })
    expect(
      [completed && 'amount' in completed && completed.amount, completed?.maxAmount].map(Number),
    ).toEqual([10_000, 10_000])
    expect(completed).not.toHaveProperty('minAmount')
  })

  it('keeps minAmount, in version 1 too', async () => {
    const amounts = { maxAmount: '10000', minAmount: '50' }
    expect(await complete(amounts)).toMatchObject({ amount: '10000', ...amounts })
    expect(await complete(amounts, 1)).toMatchObject({ maxAmountRequired: '10000', ...amounts })
  })

  it('replaces the domain, and keeps what the resource server decides', async () => {
    const decided = {
      assetTransferMethod: 'permit2',
      routerAddress: '0xshared',
      unit: 'token',
      unitPrice: '2.5',
      orderId: 7,
    }
    expect(
      await complete({ maxAmount: '1', extra: { ...decided, name: 'Lead', version: '1' } }),
    ).toMatchObject({
      extra: { ...decided, ...gold },
    })
    expect(await complete({ maxAmount: '1', extra: { routerAddress: null } })).toMatchObject({
      extra: { routerAddress: 'router of 0xbob' },
    })
  })

  it.each([
    ['overruled', '0xAbC', '0xb0b'],
    ['not overruled', '0xdef', '0xdef'],
  ])('keeps a router of the draft unless the scheme overrules it: %s', async (_name, routerAddress, kept) => {
    const completed = await complete({ maxAmount: '1', extra: { routerAddress } }, 2, overruling)
    expect(completed?.extra.routerAddress).toBe(kept)
  })

  it.each([
    ['no amount', {}, 'amount'],
    ['amounts that differ', { amount: '1', maxAmount: '2' }, 'maxAmount'],
    ['a minimum above the maximum', { maxAmount: '1', minAmount: '2' }, 'minAmount'],
    ['a negative minimum', { maxAmount: '1', minAmount: '-2' }, 'minAmount'],
    ['a hexadecimal maximum', { maxAmount: '0x10' }, 'maxAmount'],
  ])('refuses %s', (_name, entry, field) => {
    expect(problemsOf(entry)).toEqual([field])
  })

  it('refuses a unit of another name, and says where it is', async () => {
    await expect(complete({ maxAmount: '1', extra: { unit: 'gram' } })).rejects.toMatchObject({
      code: 'INVALID_REQUEST',
      message: 'accepts.0.extra.unit: must be one of token, request, second, minute, byte, kb, mb',
    })
  })

  it('has no maximum under exact', async () => {
    const exact = upto({ kind: { scheme: 'exact', network: 'eip155:84532' } })
    const { accepts } = await createCompleteAccepts(findTerms(exact))({
      accepts: [{ scheme: 'exact', network: 'base-sepolia', payTo: '0xbob', amount: '7', minAmount: '1' }],
    })
    expect(accepts[0]).not.toHaveProperty('maxAmount')
    expect(accepts[0]).not.toHaveProperty('minAmount')
  })

  it('makes a maximum from a price, to be signed as a Permit', async () => {
    const { accepts } = await createPriceAccepts(findTerms())({
      resourceUrl: 'https://a.example',
      network: 'eip155:84532',
      price: '$0.01',
      scheme: 'upto',
      recipientAddress: '0xbob',
    })
    expect(accepts).toMatchObject([
      { maxAmountRequired: '10000', maxAmount: '10000', extra: { primaryType: 'Permit', ...gold } },
    ])
  })
})

describe('GET /v1/router', () => {
  const found = { address: '0xrouter', isDeployed: false, shared: null }
  const find = (findOne?: RecipientRouters['find'], query = {}) =>
    createFindRouter(
      createSchemeRegistry([
        upto({
          network: {
            isAddress: (text) => text.startsWith('0x'),
            routers: findOne === undefined ? null : { find: findOne },
          },
        }),
      ]),
    )({ network: 'base-sepolia', payTo: '0xbob', ...query })
  const refusalOf = async (finding: Promise<unknown>): Promise<Partial<AppError>> => {
    const error = await rejectionOf(finding)
    return error instanceof Error ? { ...error, message: error.message } : {}
  }

  it('finds the router of the recipient, by any name of the network', async () => {
    const asked: string[] = []
    const answer = await find(async (payTo) => {
      asked.push(payTo)
      return found
    })
    expect(answer).toEqual({
      network: 'base-sepolia',
      payTo: '0xbob',
      routerAddress: '0xrouter',
      isDeployed: false,
    })
    expect(asked).toEqual(['0xbob'])
  })

  it('names the shared router where there is one', async () => {
    expect(await find(async () => ({ ...found, shared: '0xshared' }))).toMatchObject({
      sharedRouterAddress: '0xshared',
    })
  })

  it('is NOT_FOUND on a network without routers, and for a recipient without one', async () => {
    expect(await refusalOf(find())).toMatchObject({
      code: 'NOT_FOUND',
      message: expect.stringContaining('network'),
    })
    expect(await refusalOf(find(async () => found, { network: 'eip155:1' }))).toMatchObject({
      code: 'NOT_FOUND',
    })
    expect(await refusalOf(find(async () => null))).toMatchObject({
      code: 'NOT_FOUND',
      message: expect.stringContaining('payTo'),
    })
  })

  it('is INVALID_REQUEST for what is no address', async () => {
    expect(await refusalOf(find(async () => found, { payTo: 'bob' }))).toMatchObject({
      code: 'INVALID_REQUEST',
      message: expect.stringContaining('payTo'),
    })
  })

  it('is SERVICE_UNAVAILABLE while the chain cannot be read', async () => {
    const down = () => Promise.reject(new Error('down'))
    expect(await refusalOf(find(down))).toMatchObject({ code: 'SERVICE_UNAVAILABLE' })
  })
})
