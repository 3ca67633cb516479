import { parseArgs } from 'node:util'
import { z } from 'zod'
import { createNarrator, formatAmount } from './narrator.js'
import { openClient } from './openClient.js'
import { buyReport } from './purchase.js'

/* `npm run buy`: buys the report of a running `npm run demo` with its customer's key, or with another one. */

const shopUrl = `http://127.0.0.1:${process.env.SHOP_PORT ?? 4_021}`

const customerShape = z.object({
  network: z.templateLiteral([z.string(), ':', z.string()]),
  symbol: z.string(),
  address: z.string(),
  balance: z.string(),
  wallet: z.object({ key: z.string(), rpcUrl: z.string() }).nullable(),
})

const readCustomer = async () => {
  const response = await fetch(`${shopUrl}/customer`).catch(() => null)
  if (response === null)
    throw new Error(`No demo answers at ${shopUrl}. Run npm run demo in another terminal.`)
  return customerShape.parse(await response.json())
}

const buy = async (key: string | undefined): Promise<void> => {
  const narrator = createNarrator()
  const { network, symbol, address, wallet } = await readCustomer()
  if (key !== undefined && wallet === null) throw new Error(`--key: no client is published for ${network}`)
  const chosen = wallet === null || key === undefined ? wallet : { ...wallet, key }
  narrator.title(key === undefined ? `${address} buys` : 'The owner of your key buys')
  const client = await openClient({ network, shopUrl, wallet: chosen })
  await buyReport({ url: `${shopUrl}/report`, network, client }, narrator)
  if (key !== undefined) return
  const { balance } = await readCustomer()
  narrator.step('Left in the wallet', { balance: formatAmount(BigInt(balance), symbol) })
}

try {
  const { key } = parseArgs({ options: { key: { type: 'string' } } }).values
  await buy(key)
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : error}\n`)
  process.exitCode = 1
}
