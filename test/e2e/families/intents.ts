import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  changedIntent,
  createdIntent,
  executedIntent,
  intentWithRoutes,
  routedIntent,
} from '../../../src/protocol/intents.js'
import type { DemoWorld } from '../../demo/world.js'
import { directWorlds, worlds } from '../../demo/worlds/index.js'
import { openTronWorld } from '../../demo/worlds/tron.js'
import { callIntents, payByIntent, signAsCustomer } from '../../support/intents.js'
import { pollUntil } from '../../support/pollUntil.js'
import { useTestDatabase } from '../../support/postgres.js'
import { startService, type TestService } from '../../support/service.js'
import { environmentOf, getWorld, type OpenedWorlds } from './openedWorlds.js'

/* One service that settles on every family: the payer names a currency and wallets, and the intent finds the network. */

const price = 10_000n

/** As the issuer writes it. */
const symbolOf = ({ symbol }: DemoWorld): string => (symbol === 'USDt' ? 'USDT' : symbol)

export const describeIntents = (shared: OpenedWorlds): void => {
  describe('an intent on every family that settles', () => {
    const database = useTestDatabase()
    let opened: OpenedWorlds
    let service: TestService

    const findWorld = (family: string) => getWorld(opened, family)

    beforeAll(async () => {
      // Its customer's free bandwidth of a day is enough for one transfer.
      opened = new Map([...shared, ['tron', await openTronWorld()]])
      service = await startService({ databaseUrl: database.url, environment: environmentOf(opened) })
    })
    afterAll(async () => {
      await service.close()
      await findWorld('tron').close()
    })

    /** Wallets by namespace. */
    const walletsOf = (party: 'customer' | 'merchant') =>
      Object.fromEntries(
        [...opened.values()].map((world) => [
          world.network.slice(0, world.network.indexOf(':')),
          world[party],
        ]),
      )
    const partiesOf = () => ({ payer: walletsOf('customer'), payee: walletsOf('merchant') })
    const networksWith = (symbol: string): readonly string[] =>
      [...opened.values()].filter((world) => symbolOf(world) === symbol).map(({ network }) => network)

    it('is planned over all of them at once, without testnets that are not named', async () => {
      const { availableRoutes, unavailable } = await callIntents({ url: service.url }, '', {
        body: { ...partiesOf(), amount: price.toString(), asset: 'USDC' },
        shape: intentWithRoutes,
      })
      const { network } = findWorld('solana')
      expect(availableRoutes.map((route) => route.network)).toEqual([network])
      const others = [...opened.values()].map((world) => world.network).filter((each) => each !== network)
      const excluded = unavailable.filter(({ scheme }) => scheme === 'exact' || scheme === 'exact-direct')
      expect(excluded.map((each) => `${each.network} ${each.reason}`)).toEqual(
        others.map((each) => `${each} testnet`).toSorted(),
      )
    })

    it('is paid on the one that is chosen of several families', async () => {
      const world = findWorld('near')
      const holders = networksWith('USDC')
      const paidBefore = await world.balanceOf(world.merchant)
      const { created, executed } = await payByIntent({
        url: service.url,
        terms: {
          ...partiesOf(),
          asset: 'USDC',
          sourceNetworks: [...opened.values()].map(({ network }) => network),
        },
        sign: signAsCustomer(world),
        choose: (routes) => routes.find(({ network }) => network === world.network),
      })
      expect(holders.length).toBeGreaterThan(3)
      expect(created.availableRoutes.map(({ network }) => network).toSorted()).toEqual(holders.toSorted())
      for (const { network, payer, payTo } of created.availableRoutes) {
        const each = [...opened.values()].find((other) => other.network === network)
        expect([payer, payTo]).toEqual([each?.customer, each?.merchant])
      }
      const others = created.unavailable.filter(({ network }) => !holders.includes(network))
      expect(others.length).toBeGreaterThan(3)
      expect(new Set(others.map(({ reason }) => reason))).toEqual(new Set(['unsupported_asset']))
      expect(executed.status).toBe('completed')
      expect((await world.balanceOf(world.merchant)) - paidBefore).toBe(price)
    })

    it.each(Object.keys(worlds))(
      '%s: routed by the currency and the wallets, signed by the client, paid once',
      async (family) => {
        const world = findWorld(family)
        const { network, customer, merchant } = world
        const isDirect = family in directWorlds
        const paidBefore = await world.balanceOf(merchant)
        const heldBefore = await world.balanceOf(customer)

        const { created, executed, execute } = await payByIntent({
          url: service.url,
          terms: {
            payer: customer,
            payee: merchant,
            asset: symbolOf(world),
            amount: price.toString(),
            sourceNetworks: [network],
          },
          sign: signAsCustomer(world),
        })

        expect(created.availableRoutes).toEqual([
          expect.objectContaining({
            scheme: isDirect ? 'exact-direct' : 'exact',
            network,
            symbol: symbolOf(world),
            amount: price.toString(),
            balance: heldBefore.toString(),
            estimatedSeconds: expect.any(Number),
          }),
        ])
        expect(executed).toMatchObject({ status: 'completed', intent: { settledAmount: price.toString() } })
        expect((await world.balanceOf(merchant)) - paidBefore).toBe(price)
        const spent = heldBefore - (await world.balanceOf(customer))
        // Fees of Cosmos are paid in the token.
        if (isDirect) expect(spent).toBeGreaterThanOrEqual(price)
        else expect(spent).toBe(price)

        expect(await execute()).toEqual(executed)
        expect((await world.balanceOf(merchant)) - paidBefore).toBe(price)
      },
    )

    it.each(Object.keys(directWorlds))(
      '%s: completed by a transfer that arrived before its cancellation',
      async (family) => {
        const world = findWorld(family)
        const { network, customer, merchant } = world
        const call = { url: service.url }
        const { intent, intentToken, recommendedRoute } = await callIntents(call, '', {
          body: {
            payer: customer,
            payee: merchant,
            asset: symbolOf(world),
            amount: price.toString(),
            sourceNetworks: [network],
          },
          shape: createdIntent,
        })
        const path = `/${intent.id}`
        const { paymentRequirements } = await callIntents(call, `${path}/route`, {
          body: { routeId: recommendedRoute?.id },
          shape: routedIntent,
        })
        const paidBefore = await world.balanceOf(merchant)
        const paymentPayload = await signAsCustomer(world)(paymentRequirements)
        await pollUntil(async () => (await world.balanceOf(merchant)) > paidBefore, 'the transfer')
        const headers = { 'x-intent-token': intentToken ?? '' }
        const cancelled = await callIntents({ ...call, headers }, `${path}/cancel`, {
          body: {},
          shape: changedIntent,
        })
        expect(cancelled.intent.status).toBe('cancelled')
        const execute = () =>
          callIntents(call, `${path}/execute`, { body: { paymentPayload }, shape: executedIntent })
        expect(await execute()).toMatchObject({ status: 'completed' })
      },
    )
  })
}
