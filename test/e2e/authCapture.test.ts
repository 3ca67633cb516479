import { isAddress } from 'viem'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { planHold, signCapture, signRefund, signVoid } from '../support/evm/holds.js'
import { type LocalChain, startLocalChain } from '../support/evm/localChain.js'
import { createEoa } from '../support/evm/wallets.js'
import { useTestDatabase } from '../support/postgres.js'
import { startService, type TestService } from '../support/service.js'

const supported = z.object({
  kinds: z.array(
    z.looseObject({
      scheme: z.string(),
      network: z.string(),
      extra: z
        .looseObject({
          captureAuthorizer: z.string().optional(),
          receiverAuthorizer: z.string().optional(),
        })
        .optional(),
    }),
  ),
})
const settled = z.looseObject({ success: z.boolean(), settlementId: z.string(), amount: z.string() })

describe('a hold over HTTP, by the published client', () => {
  const database = useTestDatabase()
  const agent = createEoa()
  let chain: LocalChain
  let service: TestService

  beforeAll(async () => {
    chain = await startLocalChain({ facilitatorCount: 1, hasAuthCapture: true })
    const environment = { EVM_HOLD_AUTHORIZER_KEY: agent.privateKey }
    service = await startService({ chain, databaseUrl: database.url, environment })
  })
  afterAll(async () => {
    await service.close()
    await chain.stop()
  })

  const read = async (path: string): Promise<unknown> => await (await fetch(`${service.url}${path}`)).json()
  const post = async (
    path: string,
    body: unknown,
    given: Readonly<Record<string, string>> = {},
  ): Promise<unknown> => {
    const headers = { 'content-type': 'application/json', ...given }
    const response = await fetch(`${service.url}${path}`, {
      method: 'POST',
      headers,
      body: JSON.stringify(body),
    })
    return await response.json()
  }
  const settle = async (body: unknown) => settled.parse(await post('/settle', body))
  /** The account that servers copy into their requirements. */
  const findOperator = async () => {
    const { kinds } = supported.parse(await read('/supported'))
    const kind = kinds.find(({ scheme, network }) => scheme === 'auth-capture' && network === chain.network)
    const operator = kind?.extra?.captureAuthorizer ?? ''
    if (!isAddress(operator)) throw new Error('/supported lists no operator')
    return operator
  }

  it('is captured in part, and voided: each is a settlement, and only the capture counts as paid', async () => {
    const { chainId } = chain
    const hold = await planHold(chain, await findOperator())
    expect(await post('/verify', hold.body)).toMatchObject({ isValid: true, payer: hold.payer })
    const held = await settle(hold.body)
    expect(held).toMatchObject({ success: true, amount: '0', maxAmount: '10000' })
    expect(await chain.balanceOf(hold.payTo)).toBe(0n)

    const balances = { capturable: 10_000n, refundable: 0n }
    const capture = await signCapture(hold, balances, { chainId, amount: 4_000n })
    const captured = await settle(capture)
    expect(captured).toMatchObject({ success: true, amount: '4000' })
    expect(await chain.balanceOf(hold.payTo)).toBe(4_000n)
    expect(await post('/settle', capture)).toMatchObject({
      success: false,
      errorReason: 'duplicate_settlement',
    })

    expect(await settle(await signVoid(hold, { chainId }))).toMatchObject({ success: true, amount: '0' })
    expect(await chain.balanceOf(hold.payer)).toBe(6_000n)
    expect(await chain.balanceOf(hold.payTo)).toBe(4_000n)

    expect(await read(`/v1/settlements/${held.settlementId}`)).toMatchObject({
      status: 'confirmed',
      scheme: 'auth-capture',
      amount: '0',
    })
    expect(await read(`/v1/settlements/${captured.settlementId}`)).toMatchObject({
      status: 'confirmed',
      amount: '4000',
    })
  })

  it('is moved by nobody but the authorizer whom the payer signed', async () => {
    const { chainId } = chain
    const hold = await planHold(chain, await findOperator())
    await settle(hold.body)
    const stranger = await planHold(chain, await findOperator())
    const balances = { capturable: 10_000n, refundable: 0n }
    const signer = stranger.authorizer
    for (const body of [
      await signCapture(hold, balances, { chainId, amount: 10_000n, signer }),
      await signVoid(hold, { chainId, signer }),
      await signRefund(hold, balances, { chainId, amount: 1n, signer }),
    ]) {
      expect(await post('/settle', body)).toMatchObject({
        success: false,
        errorReason: 'invalid_auth_capture_evm_authorizer_signature',
      })
    }
    expect(await chain.balanceOf(hold.payTo)).toBe(0n)
  })

  it('is captured by the API key of the account that had it held, which has no authorizer key', async () => {
    const register = async (email: string) => {
      const answer = await post('/register', { email, projectName: 'shop' })
      return { authorization: `Bearer ${z.object({ apiKey: z.string() }).parse(answer).apiKey}` }
    }
    const [shop, rival] = [await register('shop@example.com'), await register('rival@example.com')]
    const { kinds } = supported.parse(await read('/supported'))
    const receiverAuthorizer = kinds.find(({ scheme }) => scheme === 'auth-capture')?.extra
      ?.receiverAuthorizer
    expect(receiverAuthorizer).toBe(agent.address)
    const hold = await planHold(chain, await findOperator(), { extra: { receiverAuthorizer } })
    expect(await post('/settle', hold.body)).toMatchObject({ success: false })
    expect(await post('/verify', hold.body, shop)).toMatchObject({ isValid: true })
    expect(await post('/settle', hold.body, shop)).toMatchObject({ success: true })

    const list = async (key: Readonly<Record<string, string>>) => {
      const response = await fetch(`${service.url}/v1/payments`, { headers: key })
      return z
        .object({ payments: z.array(z.looseObject({ paymentInfoHash: z.string() })) })
        .parse(await response.json())
    }
    const { paymentInfoHash } = (await list(shop)).payments[0] ?? {}
    expect(paymentInfoHash).toBe(hold.hash.toLowerCase())
    expect(await list(rival)).toEqual({ payments: [] })
    const asked = { network: chain.network, paymentInfoHash, amount: '4000', voidRemainder: true }
    const keyed = { 'idempotency-key': 'order-4711' }
    expect(await post('/v1/captures', asked, { ...rival, ...keyed })).toMatchObject({ code: 'NOT_FOUND' })
    const captured = await post('/v1/captures', asked, { ...shop, ...keyed })
    expect(captured).toMatchObject({
      status: 'confirmed',
      void: { status: 'confirmed' },
      payment: { status: 'voided', capturedAmount: '4000', voidedAmount: '6000' },
    })
    expect(await post('/v1/captures', asked, { ...shop, ...keyed })).toMatchObject({
      settlementId: z.looseObject({ settlementId: z.string() }).parse(captured).settlementId,
    })
    expect(await post('/v1/captures', { ...asked, amount: '1' }, { ...shop, ...keyed })).toMatchObject({
      code: 'PAYLOAD_MISMATCH',
    })
    expect(await chain.balanceOf(hold.payTo)).toBe(4_000n)
    expect(await chain.balanceOf(hold.payer)).toBe(6_000n)
    const metrics = await (await fetch(`${service.url}/metrics`)).text()
    expect(metrics).toContain('quittance_holds_open')
  })
})
