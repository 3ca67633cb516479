import { mkdtemp, rm } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ExactEvmScheme } from '@x402/evm'
import { decodePaymentResponseHeader, wrapFetchWithPaymentFromConfig } from '@x402/fetch'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { type LocalChain, startLocalChain } from '../support/evm/localChain.js'
import { exactPayment } from '../support/evm/payment.js'
import { createEoa } from '../support/evm/wallets.js'
import { startFacilitator } from '../support/facilitator.js'
import { createNarrator, formatUsdc, type Narrator } from './narrator.js'
import { openShop } from './shop.js'

/*
 * A whole payment on this machine: a chain, the facilitator, a shop and a customer. The shop and the customer
 * are built from the protocol's published packages; nothing here is a mock.
 */

const facilitatorPort = Number(process.env.PORT ?? 8_080)
const shopPort = Number(process.env.SHOP_PORT ?? 4_021)
const purse = 5_000_000n

/** Everything that must end with the demo, newest last. */
const closers: (() => Promise<unknown>)[] = []

const closeAll = async (): Promise<void> => {
  for (const close of closers.splice(0).reverse()) await close().catch(() => undefined)
}

const run = async (narrator: Narrator): Promise<void> => {
  await refuseBusyPort(facilitatorPort, 'PORT')
  await refuseBusyPort(shopPort, 'SHOP_PORT')

  narrator.title('Quittance: one payment, start to end')
  // One block a second, as a fast public chain has it.
  const chain = await startLocalChain({ chainId: 84_532, blockTimeSeconds: 1, facilitatorCount: 1 })
  closers.push(() => chain.stop())
  narrator.step('A local EVM chain runs (Base Sepolia’s id), with Circle’s USDC at its real address', {
    rpc: chain.url,
    usdc: chain.token.verifyingContract,
  })

  const dataFolder = await mkdtemp(join(tmpdir(), 'quittance-demo-'))
  closers.push(() => rm(dataFolder, { recursive: true, force: true }))
  const facilitator = await startFacilitator(
    {
      PORT: String(facilitatorPort),
      HOST: '127.0.0.1',
      DATA_FOLDER: dataFolder,
      EVM_PRIVATE_KEY: chain.facilitators.map(({ privateKey }) => privateKey).join(','),
      EVM_RPC_URL_84532: chain.url,
      EVM_POLL_INTERVAL_MS_84532: '100',
    },
    (line) => tell(narrator, line),
  )
  closers.push(facilitator.stop)
  facilitator.ended.then((code) => {
    if (closers.length > 0) narrator.line(`The facilitator ended by itself (code ${code}).`)
  })
  narrator.step('The facilitator runs, with its embedded database', {
    url: facilitator.url,
    docs: `${facilitator.url}/docs`,
    gas: `paid by ${chain.facilitators[0]?.address}`,
  })

  const customer = privateKeyToAccount(generatePrivateKey())
  const merchant = privateKeyToAccount(generatePrivateKey()).address
  await chain.mint(customer.address, purse)
  const wallet = createEoa()
  await chain.mint(wallet.address, purse)
  const shop = await openShop({
    port: shopPort,
    facilitatorUrl: facilitator.url,
    network: 'eip155:84532',
    payTo: merchant,
    signPayment: () => exactPayment({ chain, wallet, payTo: merchant, amount: 10_000n }),
  })
  closers.push(shop.close)
  narrator.step('A shop sells a report for one cent', { url: `${shop.url}/report` })

  narrator.title('The customer buys')
  await showBalances(narrator, chain, customer.address, merchant)
  const begun = performance.now()
  const response = await buy(narrator, `${shop.url}/report`, customer)
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
  await showBalances(narrator, chain, customer.address, merchant)
  if ((await chain.balanceOf(merchant)) !== 10_000n) throw new Error('The merchant was not paid')
}

/** Fetches as the published client does, and tells the two requests that it makes of one. */
const buy = (narrator: Narrator, url: string, customer: ReturnType<typeof privateKeyToAccount>) => {
  const tellingFetch: typeof fetch = async (input, init) => {
    const request = new Request(input, init)
    const isPaid = request.headers.has('PAYMENT-SIGNATURE')
    narrator.step(`GET ${url}${isPaid ? ' again, with PAYMENT-SIGNATURE' : ''}`)
    const answer = await fetch(request)
    const required = answer.headers.get('PAYMENT-REQUIRED')
    if (answer.status === 402 && required !== null) {
      narrator.step('402 Payment Required', describeRequirements(required))
    }
    return answer
  }
  const fetchWithPayment = wrapFetchWithPaymentFromConfig(tellingFetch, {
    schemes: [{ network: 'eip155:84532', client: new ExactEvmScheme(customer) }],
  })
  return fetchWithPayment(url)
}

const describeRequirements = (header: string): Record<string, string> => {
  const { accepts } = JSON.parse(Buffer.from(header, 'base64').toString('utf8'))
  const [{ amount, asset, payTo, network }] = accepts
  return { amount: formatUsdc(BigInt(amount)), asset, payTo, network }
}

/** The facilitator's log, for people: only what happens to money. */
const tell = (narrator: Narrator, line: string): void => {
  const entry = parseLogLine(line)
  const { msg, transaction = '', amount = '0', payer = '' } = entry
  if (msg === 'payment.valid')
    narrator.step('facilitator: verified', { payer, amount: formatUsdc(BigInt(amount)) })
  if (msg === 'settlement.opened') narrator.step('facilitator: claimed in the journal')
  if (msg === 'settlement.broadcast') narrator.step('facilitator: recorded, then sent', { transaction })
  if (msg === 'settlement.confirmed') narrator.step('facilitator: confirmed by receipt and Transfer log')
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
  chain: LocalChain,
  customer: `0x${string}`,
  merchant: `0x${string}`,
): Promise<void> => {
  narrator.step('Balances', {
    customer: `${customer}  ${formatUsdc(await chain.balanceOf(customer))}`,
    merchant: `${merchant}  ${formatUsdc(await chain.balanceOf(merchant))}`,
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
  if (process.argv.includes('--once')) {
    await closeAll()
    process.exit(0)
  }
  invite(narrator)
} catch (error) {
  narrator.line(`\nThe demo failed: ${error instanceof Error ? error.message : error}`)
  await closeAll()
  process.exit(1)
}
