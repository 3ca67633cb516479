import { createServer } from 'node:net'
import { buildWeb } from '../../scripts/buildWeb.mjs'
import { readArguments } from '../support/readArguments.js'
import { setWebhook } from '../support/setWebhook.js'
import { showAllFamilies } from './allFamilies.js'
import { createCustomerRoutes } from './customerRoutes.js'
import { startDemoFacilitator } from './demoFacilitator.js'
import { createInbox, type Inbox } from './inbox.js'
import { createNarrator, formatAmount, type Narrator } from './narrator.js'
import { buyReport } from './purchase.js'
import { openShop, type Shop } from './shop.js'
import { openAccount } from './shopAccount.js'
import type { DemoWorld } from './world.js'
import { worlds } from './worlds/index.js'

/*
 * A complete payment on this machine: a chain, the facilitator, a shop and a customer. Shop and customer are
 * built from the protocol's published packages; nothing is mocked.
 */

const facilitatorPort = Number(process.env.PORT ?? 8_080)
const shopPort = Number(process.env.SHOP_PORT ?? 4_021)
const usage = `Usage: npm run demo [-- option]

Runs a local chain, the facilitator and a shop on this machine, makes one payment, and keeps running until Ctrl-C.

  --network <family>   ${['all', ...Object.keys(worlds)].join(', ')} (default evm); all: one payment each, then it ends
  --once               ends after the payment
  -h, --help           shows this text

PORT and SHOP_PORT move the facilitator (default 8080) and the shop (4021). Settings of the service apply.`
const { network: family, once } = readArguments({
  usage,
  options: { network: { type: 'string', default: 'evm' }, once: { type: 'boolean', default: false } },
}).values

// The facilitator serves it at /console.
await buildWeb()

interface RunningDemo {
  readonly world: DemoWorld
  /** Of the shop's account; null: it has none. */
  readonly apiKey: string | null
}

/** Closed in reverse order. */
const closers: (() => Promise<unknown>)[] = []
const onClose = (close: () => Promise<unknown>): void => {
  closers.push(close)
}

const closeAll = async (): Promise<void> => {
  for (const close of closers.splice(0).reverse()) await close().catch(() => undefined)
}

const run = async (narrator: Narrator): Promise<RunningDemo> => {
  await refuseBusyPort(shopPort, 'SHOP_PORT')
  const open = worlds[family]
  if (open === undefined)
    throw new Error(`--network must be all, or one of ${Object.keys(worlds).join(', ')}`)
  narrator.title('Quittance: one payment, start to end')
  const world = await open()
  closers.push(world.close)
  narrator.step(world.introduction, world.details)

  const facilitator = await startDemoFacilitator({
    port: facilitatorPort,
    environment: world.environment,
    onLogLine: (line) => printEvent(narrator, line, world.symbol),
    onClose,
  })
  facilitator.ended.then((code) => {
    if (closers.length > 0) narrator.line(`The facilitator ended by itself (code ${code}).`)
  })
  narrator.step('The facilitator runs, with its embedded database', {
    url: facilitator.url,
    docs: `${facilitator.url}/docs`,
    fees: `paid by ${world.feesPaidBy}`,
  })

  const apiKey = await openAccount(facilitator.url)
  const inbox = createInbox(({ type, data }) =>
    narrator.step(`webhook: ${type}`, { settlement: String(data.id ?? '') }),
  )
  const shop = await openShop({
    port: shopPort,
    facilitatorUrl: facilitator.url,
    world,
    ...(apiKey === null ? {} : { apiKey }),
    routers: [createCustomerRoutes(world), inbox.router],
  })
  closers.push(shop.close)
  narrator.step('A shop sells a report for one cent', {
    url: `${shop.url}/report`,
    key: apiKey === null ? 'none: the shop calls without one' : 'its own, from POST /register',
    events: await describeWebhooks({ facilitatorUrl: facilitator.url, shop, apiKey, inbox }),
  })

  narrator.title('The customer buys')
  await showBalances(narrator, world)
  const { network, client } = world
  await buyReport({ url: `${shop.url}/report`, network, client }, narrator)
  await showBalances(narrator, world)
  if ((await world.balanceOf(world.merchant)) !== 10_000n) throw new Error('The merchant was not paid')
  return { world, apiKey }
}

interface WebhookOptions {
  readonly facilitatorUrl: string
  readonly shop: Shop
  readonly apiKey: string | null
  readonly inbox: Inbox
}

const describeWebhooks = async ({ facilitatorUrl, shop, apiKey, inbox }: WebhookOptions): Promise<string> => {
  if (apiKey === null) return 'none: they belong to an account'
  const secret = await setWebhook(facilitatorUrl, { apiKey, webhookUrl: `${shop.url}/webhooks` })
  if (secret === null) return 'none: this facilitator sends webhooks to public addresses only'
  inbox.setSecret(secret)
  return `arrive at ${shop.url}/webhooks`
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

const invite = (narrator: Narrator, { world: { wallet, customer }, apiKey }: RunningDemo): void => {
  const facilitator = `http://127.0.0.1:${facilitatorPort}`
  const shop = `http://127.0.0.1:${shopPort}`
  const buy = shopPort === 4_021 ? 'npm run buy' : `SHOP_PORT=${shopPort} npm run buy`
  const json = `-H 'content-type: application/json' -d @payment.json`
  narrator.title('Everything keeps running. Try it yourself, and end it with Ctrl-C:')
  for (const line of [
    `${buy.padEnd(56)} # pays with the customer's wallet, in another terminal`,
    ...(wallet === null ? [] : [`${buy} -- --key ${wallet.key}`]),
    `curl -s ${shop}/report                      # 402, decoded`,
    `curl -s -X POST '${shop}/faucet?address=${customer}'    # 5 more, for any address`,
    `curl -s ${shop}/webhooks                    # events that arrived`,
    `curl -s ${shop}/sign > payment.json         # a signed payment of one cent (?scheme=upto: at most that)`,
    `curl -s ${json} ${facilitator}/verify`,
    `curl -s ${json} ${facilitator}/settle`,
    `curl -s ${json} ${facilitator}/settle    # paid once: duplicate_settlement`,
    `open ${facilitator}                         # the page of this facilitator`,
    ...(apiKey === null
      ? []
      : [`open ${facilitator}/console                 # the shop's payments, live: sign in with ${apiKey}`]),
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
  await refuseBusyPort(facilitatorPort, 'PORT')
  const running = family === 'all' ? null : await run(narrator)
  if (running === null) await showAllFamilies({ narrator, port: facilitatorPort, onClose })
  if (running === null || once) {
    await closeAll()
    process.exit(0)
  }
  invite(narrator, running)
} catch (error) {
  narrator.line(`\nThe demo failed: ${error instanceof Error ? error.message : error}`)
  await closeAll()
  process.exit(1)
}
