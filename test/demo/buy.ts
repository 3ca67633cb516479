import type { SchemeNetworkClient } from '@x402/core/types'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { z } from 'zod'
import { readArguments } from '../support/readArguments.js'
import { createNarrator, formatAmount, type Narrator } from './narrator.js'
import { openClient } from './openClient.js'
import { buyReport } from './purchase.js'
import { readOffer } from './readOffer.js'

const usage = `Usage: npm run buy [-- option]

Buys the report of a running npm run demo with its customer's wallet, or what any other shop sells.

  --url <url>      what to buy, such as http://127.0.0.1:4021/report; its 402 must offer \`exact\`, version 2
  --key <0x…>      pays with this key. Default: the wallet of the running demo; without a demo a new key, which
                   pays in the sandbox
  --max <amount>   pays at most this, in smallest units of the token (default 100000, 0.10 USDC)
  -h, --help       shows this text

SHOP_PORT names the port of the demo's shop (default 4021).`

const options = {
  url: { type: 'string' },
  key: { type: 'string' },
  max: { type: 'string', default: '100000' },
} as const

const shopUrl = `http://127.0.0.1:${process.env.SHOP_PORT ?? 4_021}`

const customerShape = z.object({
  network: z.templateLiteral([z.string(), ':', z.string()]),
  symbol: z.string(),
  address: z.string(),
  balance: z.string(),
  wallet: z.object({ key: z.string(), rpcUrl: z.string() }).nullable(),
})

/** Null if no demo runs. */
const findCustomer = async () => {
  const response = await fetch(`${shopUrl}/customer`).catch(() => null)
  return response?.ok === true ? customerShape.parse(await response.json()) : null
}

const readCustomer = async () => {
  const customer = await findCustomer()
  if (customer !== null) return customer
  throw new Error(`No demo answers at ${shopUrl}. Run npm run demo in another terminal.`)
}

const buyFromDemo = async (key: string | undefined, narrator: Narrator): Promise<void> => {
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

const buyFrom = async (
  url: string,
  { key, max }: { readonly key: string | undefined; readonly max: bigint },
  narrator: Narrator,
): Promise<void> => {
  const { network } = await readOffer(url)
  const customer = key === undefined ? await findCustomer() : null
  const payer = customer?.network === network ? customer : null
  if (payer === null && !network.startsWith('eip155:')) {
    throw new Error(
      `Only the wallet of npm run demo -- --network … pays on ${network}, and none runs with it`,
    )
  }
  const own = key ?? generatePrivateKey()
  narrator.title(describePayer(payer?.address ?? null, { key, own }))
  const wallet = payer === null ? { key: own, rpcUrl: '' } : payer.wallet
  const client = await openClient({ network, shopUrl, wallet })
  await buyReport({ url, network, client: limit(client, max) }, narrator)
}

const describePayer = (
  customer: string | null,
  { key, own }: { readonly key: string | undefined; readonly own: string },
): string => {
  if (customer !== null) return `${customer}, the demo's customer, buys`
  if (key !== undefined) return 'The owner of your key buys'
  return `${privateKeyToAccount(`0x${own.slice(2)}`).address} buys: a new key without funds, which pays in a sandbox`
}

/** Checked where it is signed: a shop may ask for another price each time. */
const limit = (client: SchemeNetworkClient, max: bigint): SchemeNetworkClient => {
  const sign: SchemeNetworkClient['createPaymentPayload'] = (version, requirements, ...rest) => {
    const { amount } = requirements
    if (BigInt(amount) > max) {
      throw new Error(`The shop asks for ${amount} smallest units, and --max allows ${max}`)
    }
    return client.createPaymentPayload(version, requirements, ...rest)
  }
  // Inherits what the client knows of assets, too.
  const limited: SchemeNetworkClient = Object.create(client, { createPaymentPayload: { value: sign } })
  return limited
}

try {
  const { url, key, max } = readArguments({ usage, options }).values
  if (!/^[0-9]+$/.test(max)) throw new Error('--max must be a whole number of smallest units')
  const narrator = createNarrator()
  if (url === undefined) await buyFromDemo(key, narrator)
  else await buyFrom(url, { key, max: BigInt(max) }, narrator)
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : error}\n`)
  process.exitCode = 1
}
