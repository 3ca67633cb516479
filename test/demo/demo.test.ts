import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { type Started, startProcess } from '../start/support.js'
import { findChromium } from '../support/chromium.js'
import { compiledFolderVariable, findProgram } from '../support/program.js'
import { registerAccount } from '../support/registerAccount.js'
import { reservePort } from '../support/reservePort.js'
import { patientTimeoutMs } from '../support/rpcProxy.js'
import { openConsole, signInWith, waitForCount, waitUntilLive } from '../web/support.js'

const chromium = findChromium()
const root = fileURLToPath(new URL('../../', import.meta.url))

/** The programs, and the service that the demo starts, are the compiled ones of this run. */
const run = (
  program: 'main.ts' | 'buy.ts',
  environment: Readonly<Record<string, string>>,
  ...args: readonly string[]
): Started => {
  const { flags, file } = findProgram(new URL(program, import.meta.url))
  const compiled = process.env[compiledFolderVariable]
  return startProcess([process.execPath, ...flags, file, ...args], {
    cwd: root,
    environment: {
      ...environment,
      ...(compiled === undefined ? {} : { [compiledFolderVariable]: compiled }),
    },
  })
}
const runDemo = (environment: Readonly<Record<string, string>>): Started => run('main.ts', environment)
const runBuy = (environment: Readonly<Record<string, string>>, ...args: readonly string[]): Started =>
  run('buy.ts', environment, ...args)

const body = z.looseObject({ balance: z.string() })

describe('npm run demo', () => {
  let ports: Record<string, string>
  let shop: string
  let demo: Started

  beforeAll(async () => {
    ports = { PORT: String(await reservePort()), SHOP_PORT: String(await reservePort()) }
    shop = `http://127.0.0.1:${ports.SHOP_PORT}`
    demo = runDemo({
      ...ports,
      API_KEY_REQUIRED: 'true',
      REGISTRATION: 'once',
      ANONYMOUS_REQUESTS_PER_MINUTE: '77',
      // A busy machine must not turn a success into a pending settlement, or end a verification.
      SETTLE_WAIT_SECONDS: '60',
      VERIFY_DEADLINE_SECONDS: '60',
      EVM_RPC_TIMEOUT_MS: patientTimeoutMs,
    })
    await demo.waitFor(/Everything keeps running/)
  })
  afterAll(async () => {
    demo.child.kill('SIGTERM')
    await demo.ended
  })

  it('makes a whole payment and shows the 402 decoded', () => {
    expect(demo.text()).toMatch(
      /402 Payment Required[\s\S]*"amount": "10000"[\s\S]*200 OK, with PAYMENT-RESPONSE/,
    )
  })

  it('applies settings of the environment: here a key is required, and the shop has one', async () => {
    expect(demo.text()).toContain('its own, from POST /register')
    const payment = await (await fetch(`${shop}/sign`)).text()
    const response = await fetch(`http://127.0.0.1:${ports.PORT}/verify`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: payment,
    })
    expect(response.status).toBe(401)
    expect((await fetch(`http://127.0.0.1:${ports.PORT}/info`)).headers.get('x-ratelimit-limit')).toBe('77')
  })

  it('lets you buy with npm run buy, and with the printed key', async () => {
    const [, key = ''] = /npm run buy -- --key (0x[0-9a-f]{64})/.exec(demo.text()) ?? []
    const bought = await runBuy(ports).ended
    expect(bought).toMatchObject({ code: 0, errors: '' })
    expect(bought.output).toMatch(/"scheme": "exact"[\s\S]*200 OK[\s\S]*4\.980000 USDC/)
    const again = await runBuy(ports, '--key', key).ended
    expect(again).toMatchObject({ code: 0, output: expect.stringContaining('200 OK') })
  })

  it.skipIf(chromium === null)('shows what the shop sells as it happens, in the console', async () => {
    const [, key = ''] = /sign in with (qtn_sk_\w+)/.exec(demo.text()) ?? []
    const browser = await openConsole(chromium ?? '', `http://127.0.0.1:${ports.PORT}`)
    try {
      const { page } = browser
      await page.goto(`http://127.0.0.1:${ports.PORT}/console/payments`)
      await signInWith(page, key)
      await waitUntilLive(page)
      const rows = page.getByRole('table', { name: 'Payments, newest first' }).locator('tbody tr')
      await rows.first().waitFor()
      const before = await rows.count()
      expect((await runBuy(ports).ended).code).toBe(0)
      await waitForCount(rows.filter({ hasText: 'Confirmed' }), before + 1)
      await rows.first().getByRole('link').click()
      await page.getByText('the recipient was paid').waitFor()
      browser.expectNoProblems()
    } finally {
      await browser.close()
    }
  })

  it("pays with the customer's wallet at any shop of its network", async () => {
    const bought = await runBuy(ports, '--url', `${shop}/report`).ended
    expect(bought).toMatchObject({ code: 0, errors: '' })
    expect(bought.output).toMatch(/the demo's customer, buys[\s\S]*200 OK/)
  })

  it('signs payments under upto, for a settlement of a part and for a stream', async () => {
    const facilitator = `http://127.0.0.1:${ports.PORT}`
    const key = await registerAccount(facilitator, { email: 'meter@example.com', projectName: 'Meter' })
    const post = async (path: string, given: unknown) => {
      const headers = { 'content-type': 'application/json', authorization: `Bearer ${key}` }
      const request = { method: 'POST', headers, body: JSON.stringify(given) }
      return z.looseObject({}).parse(await (await fetch(`${facilitator}${path}`, request)).json())
    }
    const sign = async (query: string) => (await fetch(`${shop}/sign?scheme=${query}`)).json()

    expect(await post('/settle', await sign('upto&settleAmount=7000'))).toMatchObject({
      success: true,
      settledAmount: '7000',
      maxAmount: '10000',
    })
    const { stream } = await post('/v1/stream/open', await sign('upto'))
    const { id: streamId } = z.looseObject({ id: z.string() }).parse(stream)
    await post('/v1/stream/update', { streamId, amount: '2500' })
    expect(await post('/v1/stream/close', { streamId })).toMatchObject({
      stream: { status: 'closed', settledAmount: '2500' },
    })
    expect(await sign('exact-direct')).toEqual({ error: 'scheme must be exact or upto on eip155:84532' })
  })

  it('answers the 402 of curl with its content in plain JSON', async () => {
    const response = await fetch(`${shop}/report`)
    expect(response.status).toBe(402)
    expect(await response.json()).toMatchObject({ accepts: [{ scheme: 'exact', amount: '10000' }] })
  })

  it('fills any wallet from its faucet, and refuses what is no address', async () => {
    const address = '0x18f77dd01186556F1F745E7847A4686421dEE072'
    const fill = (to: string) => fetch(`${shop}/faucet?address=${to}`, { method: 'POST' })
    expect(body.parse(await (await fill(address)).json()).balance).toBe('5000000')
    expect(body.parse(await (await fill(address)).json()).balance).toBe('10000000')
    expect((await fill('gold')).status).toBe(400)
  })
})

describe('npm run buy', () => {
  it('says what to do where no demo runs', async () => {
    const { code, errors } = await runBuy({ SHOP_PORT: String(await reservePort()) }).ended
    expect(code).toBe(1)
    expect(errors).toMatch(
      /^No demo answers at http:\/\/127\.0\.0\.1:\d+\. Run npm run demo in another terminal\.\n$/,
    )
  })
})
