import { mkdtemp, rm } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { decodePaymentResponseHeader, wrapFetchWithPaymentFromConfig } from '@x402/fetch'
import { startFacilitator } from '../support/facilitator.js'
import { createNarrator, formatAmount, type Narrator } from './narrator.js'
import { openShop } from './shop.js'
import type { DemoWorld } from './world.js'
import { worlds } from './worlds/index.js'

/*
 * A complete payment on this machine: a chain, the facilitator, a shop and a customer. Shop and customer are
 * built from the protocol's published packages; nothing is mocked.
 */

const facilitatorPort = Number(process.env.PORT ?? 8_080)
const shopPort = Number(process.env.SHOP_PORT ?? 4_021)
const { network: family, once } = parseArgs({
  options: { network: { type: 'string', default: 'evm' }, once: { type: 'boolean', default: false } },
}).values

/** Closed in reverse order. */
const closers: (() => Promise<unknown>)[] = []

const closeAll = async (): Promise<void> => {
  for (const close of closers.splice(0).reverse()) await close().catch(() => undefined)
}

const run = async (narrator: Narrator): Promise<void> => {
  await refuseBusyPort(facilitatorPort, 'PORT')
  await refuseBusyPort(shopPort, 'SHOP_PORT')

  const open = worlds[family]
  if (open === undefined) throw new Error(`--network must be one of ${Object.keys(worlds).join(', ')}`)
  narrator.title('Quittance: one payment, start to end')
  const world = await open()
  closers.push(world.close)
  narrator.step(world.introduction, world.details)

  const dataFolder = await mkdtemp(join(tmpdir(), 'quittance-demo-'))
  closers.push(() => rm(dataFolder, { recursive: true, force: true }))
  const facilitator = await startFacilitator(
    { PORT: String(facilitatorPort), HOST: '127.0.0.1', DATA_FOLDER: dataFolder, ...world.environment },
    (line) => printEvent(narrator, line, world.symbol),
  )
  closers.push(facilitator.stop)
  facilitator.ended.then((code) => {
    if (closers.length > 0) narrator.line(`The facilitator ended by itself (code ${code}).`)
  })
  narrator.step('The facilitator runs, with its embedded database', {
    url: facilitator.url,
    docs: `${facilitator.url}/docs`,
    fees: `paid by ${world.feesPaidBy}`,
  })

  const shop = await openShop({ port: shopPort, facilitatorUrl: facilitator.url, world })
  closers.push(shop.close)
  narrator.step('A shop sells a report for one cent', { url: `${shop.url}/report` })

  narrator.title('The customer buys')
  await showBalances(narrator, world)
  const begun = performance.now()
  const response = await buy(narrator, `${shop.url}/report`, world)
  const receipt = response.headers.get('PAYMENT-RESPONSE')
  if (response.status !== 200 || receipt === null) {
    throw new Error(`The shop answered ${response.status}: ${await response.text()}`)
  }
  const { success, transaction } = decodePaymentResponseHeader(receipt)
  narrator.step(`200 OK, with PAYMENT-RESPONSE, after ${Math.round(performance.now() - begun)} ms`, {
    success: String(success),
    transaction,
    body: await response.text(),
  })
  await showBalances(narrator, world)
  if ((await world.balanceOf(world.merchant)) !== 10_000n) throw new Error('The merchant was not paid')
}

/** The published client, with both of its requests printed. */
const buy = (narrator: Narrator, url: string, { network, client, symbol }: DemoWorld) => {
  const printingFetch: typeof fetch = async (input, init) => {
    const request = new Request(input, init)
    const isPaid = request.headers.has('PAYMENT-SIGNATURE')
    narrator.step(`GET ${url}${isPaid ? ' again, with PAYMENT-SIGNATURE' : ''}`)
    const answer = await fetch(request)
    const required = answer.headers.get('PAYMENT-REQUIRED')
    if (answer.status === 402 && required !== null) {
      narrator.step('402 Payment Required', describeRequirements(required, symbol))
    }
    return answer
  }
  const fetchWithPayment = wrapFetchWithPaymentFromConfig(printingFetch, { schemes: [{ network, client }] })
  return fetchWithPayment(url)
}

const describeRequirements = (header: string, symbol: string): Record<string, string> => {
  const { accepts } = JSON.parse(Buffer.from(header, 'base64').toString('utf8'))
  const [{ amount, asset, payTo, network }] = accepts
  return { amount: formatAmount(BigInt(amount), symbol), asset, payTo, network }
}

/** Prints the log events about the payment. */
const printEvent = (narrator: Narrator, line: string, symbol: string): void => {
  const entry = parseLogLine(line)
  const { msg, transaction = '', amount = '0', payer = '' } = entry
  if (msg === 'payment.valid')
    narrator.step('facilitator: verified', { payer, amount: formatAmount(BigInt(amount), symbol) })
  if (msg === 'settlement.opened') narrator.step('facilitator: claimed in the journal')
  if (msg === 'settlement.broadcast') narrator.step('facilitator: recorded, then sent', { transaction })
  if (msg === 'settlement.confirmed') narrator.step('facilitator: confirmed on chain')
}

const parseLogLine = (line: string): Record<string, string> => {
  try {
    return JSON.parse(line)
  } catch {
    return {}
  }
}

const showBalances = async (
  narrator: Narrator,
  { customer, merchant, balanceOf, symbol }: DemoWorld,
): Promise<void> => {
  narrator.step('Balances', {
    customer: `${customer}  ${formatAmount(await balanceOf(customer), symbol)}`,
    merchant: `${merchant}  ${formatAmount(await balanceOf(merchant), symbol)}`,
  })
}

const refuseBusyPort = (port: number, variable: string): Promise<void> =>
  new Promise((resolve, reject) => {
    const probe = createServer()
    probe.once('error', () =>
      reject(new Error(`Port ${port} is in use. Try: ${variable}=${port + 1} npm run demo`)),
    )
    probe.listen(port, '127.0.0.1', () => probe.close(() => resolve()))
  })

const invite = (narrator: Narrator): void => {
  const facilitator = `http://127.0.0.1:${facilitatorPort}`
  const shop = `http://127.0.0.1:${shopPort}`
  narrator.title('Everything keeps running. Try it yourself, and end it with Ctrl-C:')
  for (const line of [
    `curl -s ${facilitator}/supported`,
    `curl -i ${shop}/report                       # 402, with what it costs`,
    `curl -s ${shop}/sign > payment.json          # a signed payment of one cent`,
    `curl -s -H 'content-type: application/json' -d @payment.json ${facilitator}/verify`,
    `curl -s -H 'content-type: application/json' -d @payment.json ${facilitator}/settle`,
    `curl -s -H 'content-type: application/json' -d @payment.json ${facilitator}/settle    # paid once: duplicate_settlement`,
  ]) {
    narrator.line(`  ${line}`)
  }
}

const narrator = createNarrator()
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => {
    narrator.line('\nClosing …')
    closeAll().then(() => process.exit(0))
  })
}

try {
  await run(narrator)
  if (once) {
    await closeAll()
    process.exit(0)
  }
  invite(narrator)
} catch (error) {
  narrator.line(`\nThe demo failed: ${error instanceof Error ? error.message : error}`)
  await closeAll()
  process.exit(1)
}
