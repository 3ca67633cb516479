import { HTTPFacilitatorClient } from '@t402/core/server'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { canonicalAsset, toCaip19 } from '../../../src/protocol/assetId.js'
import { settleResult, supported, verifyResult } from '../../../src/protocol/results.js'
import type { DemoWorld } from '../../demo/world.js'
import { directWorlds } from '../../demo/worlds/index.js'
import { fetchServed } from '../../support/fetchServed.js'
import { pollUntil } from '../../support/pollUntil.js'
import { useTestDatabase } from '../../support/postgres.js'
import { readReconciliation } from '../../support/readReconciliation.js'
import { registerAccount } from '../../support/registerAccount.js'
import { startService, type TestService } from '../../support/service.js'
import { environmentOf, getWorld, type OpenedWorlds } from './openedWorlds.js'

/*
 * Each family's ordinary client library pays on a local chain; the published HTTP client of t402 then asks for verify and
 * settle, with the fields that its clients send.
 */

const account = z.string().min(2)
const amount = z.string().regex(/^[0-9]+$/)
const transfer = { from: account, to: account, amount }
const hash = (form: RegExp) => z.string().regex(form)

/** What t402's clients send, by family. */
const payloads: Readonly<Record<string, z.ZodType>> = {
  near: z.strictObject({ txHash: hash(/^[1-9A-HJ-NP-Za-km-z]{43,44}$/), ...transfer }),
  aptos: z.strictObject({
    txHash: hash(/^0x[0-9a-f]{64}$/),
    ...transfer,
    metadataAddress: z.string().startsWith('0x'),
    version: z.string().optional(),
  }),
  tezos: z.strictObject({
    opHash: hash(/^o[1-9A-HJ-NP-Za-km-z]{50}$/),
    ...transfer,
    contractAddress: z.string().startsWith('KT1'),
    tokenId: z.int(),
  }),
  polkadot: z.strictObject({
    extrinsicHash: hash(/^0x[0-9a-f]{64}$/),
    blockHash: hash(/^0x[0-9a-f]{64}$/),
    extrinsicIndex: z.int(),
    ...transfer,
    assetId: z.int(),
  }),
  stacks: z.strictObject({
    txId: hash(/^(0x)?[0-9a-f]{64}$/),
    ...transfer,
    contractAddress: z.string().includes('.'),
  }),
  cosmos: z.strictObject({ txHash: hash(/^[0-9A-F]{64}$/), ...transfer, denom: z.string() }),
}
const names = Object.keys(payloads)

/** On the others clients name the asset as the chain does. */
const usesCaip19 = (network: string): boolean => /^(aptos|tezos|polkadot|stacks):/.test(network)

const usage = z.object({ usage: z.array(z.looseObject({})) })

const offered = z.object({
  accepts: z.tuple([
    z.object({
      scheme: z.literal('exact-direct'),
      network: z.templateLiteral([z.string(), ':', z.string()]),
      asset: z.string(),
      amount: z.string(),
      payTo: z.string(),
      maxTimeoutSeconds: z.int(),
      extra: z.record(z.string(), z.unknown()),
    }),
  ]),
})

const price = '10000'
const operatorToken = 'the-token-of-the-operator'

export const describeDirectClients = (opened: OpenedWorlds): void => {
  describe('the families whose clients pay themselves', () => {
    const database = useTestDatabase()
    let service: TestService
    let facilitator: HTTPFacilitatorClient

    const findWorld = (family: string) => getWorld(opened, family)

    /** As a t402 server writes requirements: with the kind's `extra`. */
    const writeRequirements = async ({ network, merchant, server }: DemoWorld) => {
      const { kinds } = supported.parse(await facilitator.getSupported())
      const kind = kinds.find((each) => each.network === network && each.scheme === 'exact-direct')
      const { asset } = await server.parsePrice('$0.01', network)
      return {
        scheme: 'exact-direct',
        network,
        asset: usesCaip19(network) ? toCaip19(network, canonicalAsset(network, asset)) : asset,
        amount: price,
        payTo: merchant,
        maxTimeoutSeconds: 300,
        extra: { ...kind?.extra },
      }
    }

    const pay = async (world: DemoWorld) => {
      const requirements = await writeRequirements(world)
      const { payload } = await world.client.createPaymentPayload(2, requirements)
      const resource = { url: 'https://shop.example/report', description: '', mimeType: '' }
      return { requirements, payload: { t402Version: 2, resource, accepted: requirements, payload } }
    }

    type Payment = Awaited<ReturnType<typeof pay>>

    /** It asks again while the transaction is not final, as clients do: a verify waits for that a little only. */
    const verify = ({ payload, requirements }: Payment) =>
      pollUntil(async () => {
        const verified = verifyResult.parse(await facilitator.verify(payload, requirements))
        return verified.invalidReason !== 'transaction_not_final' && verified
      }, 'the transaction to be final')

    beforeAll(async () => {
      const direct = new Map([...opened].filter(([family]) => family in directWorlds))
      service = await startService({
        databaseUrl: database.url,
        environment: { ...environmentOf(direct), OPERATOR_TOKEN: operatorToken },
      })
      facilitator = new HTTPFacilitatorClient({ url: service.url })
    })
    afterAll(() => service.close())

    it('are announced with what servers copy, and with signers only where the operator configures some', async () => {
      const { kinds, signers } = supported.parse(await facilitator.getSupported())
      for (const family of names) {
        const { network } = findWorld(family)
        const kind = kinds.find((each) => each.network === network && each.scheme === 'exact-direct')
        expect(kind?.extra).toMatchObject({ assetSymbol: expect.any(String), assetDecimals: 6 })
        const isAnnounced = ['near', 'stacks', 'cosmos'].includes(family)
        expect((signers[`${family}:*`] ?? []).length > 0).toBe(isAnnounced)
      }
    })

    it.each(names)('%s: paid on chain, verified, claimed once', async (family) => {
      const world = findWorld(family)
      const before = await world.balanceOf(world.merchant)
      const { requirements, payload } = await pay(world)
      expect(() => payloads[family]?.parse(payload.payload)).not.toThrow()

      expect(await verify({ payload, requirements })).toMatchObject({ isValid: true })
      const settled = settleResult.parse(await facilitator.settle(payload, requirements))
      expect(settled).toMatchObject({ success: true, network: world.network, payer: expect.any(String) })
      expect((await world.balanceOf(world.merchant)) - before).toBe(BigInt(price))

      const other = {
        ...payload,
        resource: { url: 'https://shop.example/other', description: '', mimeType: '' },
      }
      expect(await facilitator.verify(other, requirements)).toMatchObject({
        isValid: false,
        invalidReason: 'duplicate_settlement',
        retryable: false,
      })
      expect(await facilitator.settle(other, requirements)).toMatchObject({
        success: false,
        errorReason: 'duplicate_settlement',
        retryable: false,
      })
    })

    it('count for quota, usage, fees, statistics and events of the account, as every settlement does', async () => {
      const apiKey = await registerAccount(service.url, { email: 'shop@example.com', projectName: 'shop' })
      const headers = { Authorization: `Bearer ${apiKey}` }
      const createAuthHeaders = async () => ({ verify: headers, settle: headers, supported: headers })
      const ours = new HTTPFacilitatorClient({ url: service.url, createAuthHeaders })
      const read = async (path: string): Promise<unknown> =>
        (await fetchServed(`${service.url}${path}`, { headers })).json()

      const { requirements, payload } = await pay(findWorld('near'))
      const settled = settleResult.parse(await ours.settle(payload, requirements))
      expect(settled).toMatchObject({ success: true })
      const { transaction, network } = settled

      expect(usage.parse(await read('/dashboard/usage')).usage.at(-1)).toMatchObject({ count: 1 })
      expect(await read('/dashboard/settlements')).toMatchObject({
        settlements: [{ network, transaction, scheme: 'exact-direct', status: 'confirmed' }],
      })
      expect(await read('/v1/events?cursor=0')).toMatchObject({
        events: [{ type: 'settlement.confirmed', data: { transaction } }],
      })
      const { rows } = await database.pool.query('select amount::text from fee_ledger where network = $1', [
        network,
      ])
      expect(rows).toEqual([{ amount: price }])
    })

    it.each(names)(
      '%s: the ordinary client pays a unique amount, and only its offer claims it',
      async (family) => {
        const world = findWorld(family)
        const { network, merchant } = world
        const post = async (path: string, body: object, headers: Readonly<Record<string, string>> = {}) => {
          const response = await fetchServed(`${service.url}${path}`, {
            method: 'POST',
            headers: { 'content-type': 'application/json', ...headers },
            body: JSON.stringify(body),
          })
          return await response.json()
        }
        const account = { email: `${family}@shop.example`, projectName: 'Shop' }
        const apiKey = await registerAccount(service.url, account)
        const { pool } = database
        await pool.query(
          `insert into recipient_statements (network, pay_to, account_id, memo, signed_claim, own_key, unique_amount)
       select $1, $2, id, false, false, false, true from accounts where email = $3`,
          [network, merchant, account.email],
        )
        try {
          const drafted = await writeRequirements(world)
          const offer = async () => {
            const headers = { authorization: `Bearer ${apiKey}` }
            return offered.parse(await post('/accepts', { accepts: [drafted] }, headers)).accepts[0]
          }
          const requirements = await offer()
          const { payload } = await world.client.createPaymentPayload(2, requirements)
          const settle = async (terms: object) =>
            settleResult.parse(
              await post('/settle', {
                paymentPayload: { t402Version: 2, accepted: terms, payload },
                paymentRequirements: terms,
              }),
            )
          const { amount, extra } = requirements
          const { offer: _secret, ...visible } = extra
          for (const terms of [{ amount: '1' }, { extra: visible }, { amount: '1', extra: visible }]) {
            const refused = await settle({ ...requirements, ...terms })
            expect(refused).toMatchObject({ errorReason: 'offer_unknown', retryable: false })
          }
          expect((await settle(await offer())).errorReason).toMatch(
            /^(?:amount_mismatch|insufficient_amount)$/,
          )
          expect(await settle(requirements)).toMatchObject({ success: true, amount })
        } finally {
          await pool.query('delete from recipient_statements')
        }
      },
    )

    it.each(names)('%s: refuses another recipient, another payer and a higher price', async (family) => {
      const world = findWorld(family)
      const { requirements, payload } = await pay(world)
      const refuse = async (changes: object, copies: object = {}) => {
        const terms = { ...requirements, ...changes }
        const changed = { ...payload, accepted: terms, payload: { ...payload.payload, ...copies } }
        return await verify({ payload: changed, requirements: terms })
      }
      const higher = { amount: '10001' }
      expect(await refuse(higher, higher)).toMatchObject({ invalidReason: 'insufficient_amount' })
      const toCustomer = { payTo: world.customer }
      expect(await refuse(toCustomer)).toMatchObject({ invalidReason: 'recipient_mismatch' })
      expect(await refuse({}, { from: world.merchant })).toMatchObject({ invalidReason: 'self_payment' })
    })

    it('are balanced, until the recipient of a row is changed by hand', async () => {
      const reconcile = () => readReconciliation(service.url, operatorToken)
      for (const family of names) {
        const { requirements, payload } = await pay(findWorld(family))
        expect(await facilitator.settle(payload, requirements)).toMatchObject({ success: true })
      }
      const sound = await reconcile()
      expect(sound.differences).toEqual([])
      expect(new Set(sound.settlements.map(({ chain }) => chain))).toEqual(new Set(['agrees']))
      expect(new Set(sound.settlements.map(({ network }) => network)).size).toBe(names.length)

      const { rows } = await database.pool.query<{ id: string; state: string }>(
        'update settlements set pay_to = payer returning id, state',
      )
      const { differences } = await reconcile()
      const differing = (kind: string) =>
        differences.flatMap((each) => (each.kind === kind ? [each.settlementId] : [])).sort()
      const idsOf = (states: readonly string[]) =>
        rows
          .filter(({ state }) => states.includes(state))
          .map(({ id }) => id)
          .sort()
      expect(differing('payment_differs')).toEqual(idsOf(['confirmed', 'failed']))
      expect(differing('authorization_differs')).toEqual(idsOf(['confirmed']))
    })
  })
}
