import { decodePaymentResponseHeader, wrapFetchWithPaymentFromConfig } from '@x402/fetch'
import { getAddress, isAddress } from 'viem'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { creditScore } from '../../../src/protocol/credit.js'
import { canonicalNetwork, listNetworkAliases } from '../../../src/protocol/network.js'
import { settleResult } from '../../../src/protocol/results.js'
import { openShop } from '../../demo/shop.js'
import { directWorlds, signedWorlds, worlds } from '../../demo/worlds/index.js'
import { uptoPayment } from '../../support/evm/upto.js'
import { createEoa } from '../../support/evm/wallets.js'
import { fetchServed } from '../../support/fetchServed.js'
import { pollUntil } from '../../support/pollUntil.js'
import { useTestDatabase } from '../../support/postgres.js'
import { readReconciliation } from '../../support/readReconciliation.js'
import { type RpcProxy, startRpcProxy } from '../../support/rpcProxy.js'
import { startService, type TestService } from '../../support/service.js'
import { environmentOf, getWorld, type OpenedWorlds } from './openedWorlds.js'

const supported = z.object({
  kinds: z.array(
    z.looseObject({
      x402Version: z.int(),
      scheme: z.string(),
      network: z.string(),
      extra: z.looseObject({}).optional(),
      minimumPayments: z.looseObject({}).optional(),
    }),
  ),
  signers: z.record(z.string(), z.array(z.string())),
})

const uptoExtra = z.looseObject({ facilitatorAddress: z.templateLiteral(['0x', z.string()]) })

const paymentBody = z.looseObject({
  paymentPayload: z.looseObject({}),
  paymentRequirements: z.looseObject({}),
})

/** The same payment as clients of that version write it. */
const rename = (
  { paymentPayload, paymentRequirements }: z.infer<typeof paymentBody>,
  network: string,
  version: number,
) => {
  const { amount, ...rest } = paymentRequirements
  const terms = { ...rest, network }
  const { payload } = paymentPayload
  if (version === 2) {
    const requirements = { ...terms, amount }
    const written = { x402Version: 2, accepted: requirements, payload }
    return { x402Version: 2, paymentPayload: written, paymentRequirements: requirements }
  }
  const resource = { resource: 'https://shop.example/old', description: '', mimeType: '' }
  return {
    x402Version: 1,
    paymentPayload: { x402Version: 1, scheme: paymentRequirements.scheme, network, payload },
    paymentRequirements: { ...terms, ...resource, maxAmountRequired: amount },
  }
}

/** The kinds of each network, with the names of what clients need in order to sign. */
const describeKinds = async (url: string): Promise<Map<string, string[]>> => {
  const byNetwork = new Map<string, string[]>()
  const { kinds } = supported.parse(await (await fetch(`${url}/supported`)).json())
  for (const { scheme, network, extra = {}, minimumPayments = {} } of kinds) {
    const fields = [Object.keys(extra), Object.keys(minimumPayments)].map((names) => names.sort().join())
    const canonical = canonicalNetwork(network)
    byNetwork.set(canonical, [...(byNetwork.get(canonical) ?? []), [scheme, network, ...fields].join(' ')])
  }
  return byNetwork
}

const operatorToken = 'token-of-the-operator-of-all-families'

export const describeShops = (opened: OpenedWorlds): void => {
  describe('one service for all chain families', () => {
    const database = useTestDatabase()
    let service: TestService

    const findWorld = (family: string) => getWorld(opened, family)

    const post = async (path: string, body: unknown): Promise<unknown> => {
      const headers = { 'content-type': 'application/json' }
      const response = await fetchServed(`${service.url}${path}`, {
        method: 'POST',
        headers,
        body: JSON.stringify(body),
      })
      expect(response.ok).toBe(true)
      return await response.json()
    }

    beforeAll(async () => {
      service = await startService({
        databaseUrl: database.url,
        environment: { ...environmentOf(opened), OPERATOR_TOKEN: operatorToken },
      })
    })
    afterAll(() => service.close())

    it('offers the network of each family, with its signers where we send', async () => {
      // A network is left out while its nodes do not answer.
      const { kinds, signers } = await pollUntil(async () => {
        const answer = supported.parse(await (await fetch(`${service.url}/supported`)).json())
        const offered = new Set(answer.kinds.map(({ network }) => network))
        return [...opened.values()].every(({ network }) => offered.has(network)) && answer
      }, 'the networks of all families')
      for (const [family, { network, client }] of opened) {
        expect(kinds).toContainEqual(expect.objectContaining({ scheme: client.scheme, network }))
        if (family in directWorlds) expect(client.scheme).toBe('exact-direct')
        else expect(signers[`${network.split(':')[0]}:*`]?.length).toBeGreaterThan(0)
      }
    })

    it('lists a network completely as soon as its nodes answer, whatever others do, and is not ready before', async () => {
      const silent = findWorld('near').network
      const proxies = new Map<string, RpcProxy[]>()
      const environment: Record<string, string> = {}
      for (const { network, environment: own } of opened.values()) {
        for (const [name, value] of Object.entries(own)) {
          if (!value.startsWith('http://')) {
            environment[name] = value
            continue
          }
          const { origin } = new URL(value)
          const proxy = await startRpcProxy(origin)
          proxy.setFault('*', { kind: 'refuse' })
          proxies.set(network, [...(proxies.get(network) ?? []), proxy])
          environment[name] = value.replace(origin, proxy.url)
        }
      }
      const late = await startService({ databaseUrl: database.url, environment })
      try {
        expect([...(await describeKinds(late.url)).keys()]).toEqual([])
        expect((await fetch(`${late.url}/ready`)).status).toBe(503)
        for (const [network, ofNetwork] of proxies) {
          if (network !== silent) for (const proxy of ofNetwork) proxy.clearFaults()
        }
        const expected = await describeKinds(service.url)
        expected.delete(silent)
        const first = new Map<string, unknown>()
        await pollUntil(
          async () => {
            for (const [network, kinds] of await describeKinds(late.url)) {
              if (!first.has(network)) first.set(network, kinds)
            }
            return first.size === expected.size
          },
          'the networks to be listed',
          () => [...first.keys()],
        )
        expect(first).toEqual(expected)
        await pollUntil(async () => (await fetch(`${late.url}/ready`)).ok, 'the service to be ready')
      } finally {
        await late.close()
        await Promise.all([...proxies.values()].flat().map((proxy) => proxy.stop()))
      }
    })

    it('settles upto by permit, and opens a stream of it, on the chain of the demo as it starts', async () => {
      const { network, details, fund } = findWorld('evm')
      const verifyingContract = details.usdc
      if (!isAddress(verifyingContract ?? '')) throw new Error('The demo names no token')
      const kinds = supported.parse(await (await fetch(`${service.url}/supported`)).json()).kinds
      const offered = kinds.find((kind) => kind.scheme === 'upto' && kind.network === network)
      const { facilitatorAddress: router } = uptoExtra.parse(offered?.extra)
      const token = {
        name: 'USDC',
        version: '2',
        chainId: 84_532,
        verifyingContract: getAddress(verifyingContract ?? ''),
      }
      const pay = async () => {
        const wallet = createEoa()
        await fund(wallet.address, 10_000n)
        return await uptoPayment({ chain: { network, token }, wallet, router })
      }
      const settled = await post('/settle', { ...(await pay()), settleAmount: '7000' })
      expect(settled).toMatchObject({ success: true, amount: '7000' })
      expect(await post('/v1/stream/open', await pay())).toMatchObject({ stream: { status: 'active' } })
    })

    it.each(Object.keys(signedWorlds).filter((family) => family !== 'evm'))(
      'refuses EVM authorizations on %s as unsupported_asset_transfer_method, not as malformed',
      async (family) => {
        const body = paymentBody.parse(await findWorld(family).signPayment())
        const authorization = { from: '0x11', to: '0x22', value: '1', nonce: '0x33' }
        for (const payload of [
          { signature: '0x11', authorization },
          { signature: '0x11', permit2Authorization: { from: '0x11' } },
        ]) {
          const foreign = { ...body, paymentPayload: { ...body.paymentPayload, payload } }
          const reason = 'unsupported_asset_transfer_method'
          expect(await post('/verify', foreign)).toMatchObject({ isValid: false, invalidReason: reason })
          expect(await post('/settle', foreign)).toMatchObject({ success: false, errorReason: reason })
        }
      },
    )

    it.each(Object.keys(worlds))('accepts payments on %s under every announced name', async (family) => {
      const world = findWorld(family)
      const response = await fetch(`${service.url}/supported`)
      const kinds = supported
        .parse(await response.json())
        .kinds.filter(
          ({ scheme, network }) =>
            scheme === world.client.scheme && canonicalNetwork(network) === world.network,
        )
      expect(kinds.map(({ network }) => network).toSorted()).toEqual(
        [world.network, ...listNetworkAliases(world.network).map(({ name }) => name)].toSorted(),
      )
      const signed = paymentBody.parse(await world.signPayment())
      for (const { network, x402Version } of kinds) {
        const body = rename(signed, network, x402Version)
        expect(await post('/verify', body), network).toMatchObject({ isValid: true })
      }
    })

    it.each(Object.keys(worlds))(
      'sells through a shop to a customer on %s, and the merchant receives the funds',
      async (family) => {
        const world = findWorld(family)
        const shop = await openShop({ port: 0, facilitatorUrl: service.url, world })
        try {
          const before = await world.balanceOf(world.customer)
          const receivedBefore = await world.balanceOf(world.merchant)
          const { network, client } = world
          const pay = wrapFetchWithPaymentFromConfig(fetch, { schemes: [{ network, client }] })
          const response = await pay(`${shop.url}/report`)
          expect(response.status).toBe(200)
          const receipt = decodePaymentResponseHeader(response.headers.get('PAYMENT-RESPONSE') ?? '')
          expect(receipt).toMatchObject({ success: true, network })
          expect((await world.balanceOf(world.merchant)) - receivedBefore).toBe(10_000n)
          const spent = before - (await world.balanceOf(world.customer))
          // Fees of Cosmos are paid in the token.
          if (family in directWorlds) expect(spent).toBeGreaterThanOrEqual(10_000n)
          else expect(spent).toBe(10_000n)
        } finally {
          await shop.close()
        }
      },
    )

    describe.each(Object.keys(worlds))('on %s', (family) => {
      let body: z.infer<typeof paymentBody>
      beforeAll(async () => {
        body = paymentBody.parse(await findWorld(family).signPayment())
      })

      it.each(['/verify', '/settle'].flatMap((path) => ['payTo', 'asset'].map((field) => [path, field])))(
        '%s names a malformed %s of the requirements as INVALID_REQUEST',
        async (path, field = '') => {
          const terms = { ...body.paymentRequirements, [field]: 'no gold!' }
          const response = await fetchServed(`${service.url}${path}`, {
            method: 'POST',
            headers: { 'content-type': 'application/json' },
            body: JSON.stringify({
              ...body,
              paymentPayload: { ...body.paymentPayload, accepted: terms },
              paymentRequirements: terms,
            }),
          })
          expect(response.status).toBe(400)
          expect(await response.json()).toMatchObject({
            code: 'INVALID_REQUEST',
            message: expect.stringMatching(`^paymentRequirements.${field}: must be an (address|asset) of `),
          })
        },
      )
    })

    it.each(Object.keys(worlds))(
      'settles a payment on %s once, and answers a second request as a duplicate',
      async (family) => {
        const world = findWorld(family)
        const before = await world.balanceOf(world.merchant)
        const body = JSON.stringify(await world.signPayment())
        const settle = async () => {
          const headers = { 'content-type': 'application/json' }
          const response = await fetch(`${service.url}/settle`, { method: 'POST', headers, body })
          return settleResult.parse(await response.json())
        }
        const answers = await Promise.all([settle(), settle(), settle()])
        expect(answers.filter(({ success }) => success)).toHaveLength(1)
        const duplicate = { success: false, errorReason: 'duplicate_settlement', retryable: false }
        expect(await settle()).toMatchObject(duplicate)
        expect(await world.balanceOf(world.merchant)).toBe(before + 10_000n)
        expect(await post('/verify', JSON.parse(body))).toMatchObject({
          isValid: false,
          invalidReason: 'duplicate_settlement',
          retryable: false,
        })
      },
    )

    it.each(Object.keys(worlds))('knows the wallet of a payer on %s in one spelling', async (family) => {
      const { network, customer } = findWorld(family)
      const query = new URLSearchParams({ wallet: customer, network })
      const response = await fetchServed(`${service.url}/v1/credit/score?${query}`)
      const { wallet, namespace } = creditScore.parse(await response.json())
      expect(network.startsWith(`${namespace}:`)).toBe(true)
      const { rows } = await database.pool.query(
        'select distinct payer_wallet from settlements where network = $1',
        [network],
      )
      expect(rows).toContainEqual({ payer_wallet: wallet })
    })

    it('finds every settlement on its chain again, in a reconciliation', async () => {
      const read = () => readReconciliation(service.url, operatorToken)
      const page = await read()
      expect(page).toMatchObject({ isBalanced: true, differences: [] })
      const networks = new Set([...opened.values()].map(({ network }) => network))
      expect(new Set(page.settlements.map(({ network }) => network))).toEqual(networks)

      await database.pool.query('update settlements set settled_amount = 9999')
      const kinds = (await read()).differences.map(({ kind, network }) => `${kind} ${network}`)
      expect(new Set(kinds)).toEqual(new Set([...networks].map((network) => `payment_differs ${network}`)))
    })
  })
}
