import { randomBytes, randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:net'
import { base58 } from '@scure/base'
import { Account, Keypair, Networks, Operation, TransactionBuilder } from '@stellar/stellar-base'
import { beginCell, type Cell } from '@ton/core'
import { encodeFunctionData, getAddress, type Hex, serializeErc6492Signature } from 'viem'
import { createApiKey } from '../../src/usecases/dashboard/apiKey.js'
import { randomAddress, randomHex } from '../../test/support/evm/authorization.js'
import { exactPayment } from '../../test/support/evm/payment.js'
import { uptoPayment } from '../../test/support/evm/uptoPermit2.js'
import { hostileFactoryAbi } from '../../test/support/evm/wallets.js'
import { encode as encodeTezos } from '../../test/support/tezos/base58.js'
import { type WalletForms, walletForms } from '../../test/support/walletForms.js'
import { createPayer } from '../createPayer.js'
import {
  askOnce,
  type Flood,
  floodRequests,
  inTurn,
  keepOpen,
  randomBase58,
  randomHexDigits,
  writeRequest,
} from './flood.js'

export interface Attack {
  readonly name: string
  /** One line for the list of attacks. */
  readonly what: string
  /**
   * What it needs beside an EVM network: a node of each family, a catalogue of 100,000 resources, or another instance, at
   * which it is aimed.
   */
  readonly needs?: 'families' | 'catalogue' | 'other instance'
  /** API keys of different mailboxes; default 5, which one address may register in an hour. */
  readonly apiKeys?: number
  /** Floods until the signal aborts. */
  flood(flood: Flood): Promise<void>
}

/** Below the cap of one address. */
const manyConnections = 1_900
const maxBodyBytes = 65_000

const flooding =
  (
    prepare: (flood: Flood) => (() => Buffer) | Promise<() => Buffer>,
    connections?: number,
  ): Attack['flood'] =>
  async (flood) =>
    await floodRequests(flood, await prepare(flood), connections)

const getting = (path: string): Attack['flood'] => {
  const request = writeRequest(`GET ${path}`)
  return flooding(() => () => request)
}

const post = (path: string, body: unknown, apiKey?: string): Buffer =>
  writeRequest(`POST ${path}`, { body: typeof body === 'string' ? body : JSON.stringify(body), apiKey })

/** Bodies of `/verify` in turn. */
const verifying = (prepare: (flood: Flood) => readonly string[]): Attack['flood'] =>
  flooding((flood) => inTurn(prepare(flood).map((body) => post('/verify', body))))

/** One packet of many requests on each connection; what follows the eighth is refused, and the connection closed. */
const pipelining: Attack['flood'] = async (flood) => {
  const request = writeRequest('GET /api/openapi.json')
  const requests = Math.floor(65_536 / request.length)
  const packet = Buffer.concat(Array.from({ length: requests }, () => request))
  await keepOpen(flood, { most: 64 }, (socket) => {
    socket.resume()
    socket.setTimeout(1_000, () => socket.destroy())
    socket.write(packet)
    flood.count('sent', requests)
  })
}

const leavingUnread: Attack['flood'] = async (flood) => {
  const request = writeRequest('GET /api/openapi.json')
  const requests = 8
  const packet = Buffer.concat(Array.from({ length: requests }, () => request))
  await keepOpen(flood, { most: manyConnections }, (socket) => {
    socket.pause()
    socket.write(packet)
    flood.count('sent', requests)
  })
}

const sendingSlowly: Attack['flood'] = async (flood) => {
  const head =
    'POST /verify HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\ncontent-length: 60000\r\n\r\n'
  await keepOpen(flood, { most: manyConnections }, (socket) => {
    socket.resume()
    socket.write(`${head}{`)
    flood.count('begun')
    const timer = setInterval(() => socket.write(' '), 1_000)
    socket.once('close', () => clearInterval(timer))
  })
}

const stayingSilent: Attack['flood'] = async (flood) =>
  await keepOpen(flood, { most: 10_000 }, (socket) => {
    socket.resume()
    flood.count('opened')
  })

const nestedBodies = (): readonly string[] => {
  const half = maxBodyBytes / 2
  const objects = Math.floor(maxBodyBytes / 6)
  const keys = Array.from({ length: 6_000 }, (_, index) => `"k${index}":0`)
  const inside = [
    `${'['.repeat(half)}${']'.repeat(half)}`,
    `${'{"a":'.repeat(objects)}0${'}'.repeat(objects)}`,
    `{${keys.join(',')}}`,
  ]
  return inside.map((value) => `{"paymentPayload":${value.slice(0, maxBodyBytes)},"paymentRequirements":{}}`)
}

/** A copy for each text within the proof, with that text replaced. */
const replaceTexts = (value: unknown, replacement: string): readonly unknown[] => {
  if (typeof value === 'string') return [replacement]
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([key, inner]) =>
    replaceTexts(inner, replacement).map((replaced) => ({ ...value, [key]: replaced })),
  )
}

interface Body {
  readonly paymentPayload: { readonly payload: unknown }
}

const isBody = (value: unknown): value is Body =>
  typeof value === 'object' && value !== null && 'paymentPayload' in value

const listBodies = ({ payments }: Flood): readonly Body[] => Object.values(payments).filter(isBody)

/** 64 kB of one alphabet in each text of each family's proof. */
const filling = (fill: (length: number) => string): Attack['flood'] =>
  verifying((flood) =>
    listBodies(flood).flatMap((body) => {
      const text = fill(maxBodyBytes - JSON.stringify(body).length)
      const { paymentPayload } = body
      return replaceTexts(paymentPayload.payload, text).map((payload) =>
        JSON.stringify({ ...body, paymentPayload: { ...paymentPayload, payload } }),
      )
    }),
  )

/** Cells that each refer four times to the next one: 4^n cells for a reader that does not remember them. */
const writeBoc = (length: number): string => {
  let cell: Cell = beginCell().endCell()
  const cells = Math.floor((length * 3) / 4 / 142)
  for (let depth = 0; depth < cells; depth += 1) {
    const builder = beginCell().storeBuffer(randomBytes(127))
    for (let reference = 0; reference < 4; reference += 1) builder.storeRef(cell)
    cell = builder.endCell()
  }
  return cell.toBoc().toString('base64').slice(0, length)
}

const hashNames = ['txHash', 'opHash', 'extrinsicHash', 'txId']

/** Of the same form, so that a node is asked. */
const changeHash = (hash: string): string => {
  if (/^0x[0-9a-f]{64}$/i.test(hash)) return `0x${randomHexDigits(32)}`
  if (/^[0-9A-F]{64}$/.test(hash)) return randomHexDigits(32).toUpperCase()
  if (/^[0-9a-f]{64}$/.test(hash)) return randomHexDigits(32)
  if (/^o[1-9A-HJ-NP-Za-km-z]{50}$/.test(hash)) return encodeTezos('operation', randomBytes(32))
  return base58.encode(randomBytes(32))
}

const namingUnknownHashes: Attack['flood'] = flooding((flood) => {
  const direct = listBodies(flood).flatMap((body) => {
    const { paymentPayload } = body
    const fields = Object.entries(paymentPayload.payload ?? {})
    const [name, hash] = fields.find(([key]) => hashNames.includes(key)) ?? []
    return name === undefined || typeof hash !== 'string' ? [] : [{ body, paymentPayload, name, hash }]
  })
  const next = inTurn(direct)
  return () => {
    const { body, paymentPayload, name, hash } = next()
    const payload = { ...Object(paymentPayload.payload), [name]: changeHash(hash) }
    return post('/verify', { ...body, paymentPayload: { ...paymentPayload, payload } })
  }
})

const readNetwork = (body: unknown): string => /"network":"([^"]+)"/.exec(JSON.stringify(body))?.[1] ?? ''

const namespaceOf = (network: string): string => network.slice(0, network.indexOf(':'))

/** Of wallets that nobody asked for yet, on the network of each open family. */
const createIntent = ({ payments }: Flood) => {
  const forms = Object.values(payments).flatMap((body) => {
    const network = readNetwork(body)
    const isFitting = (form: WalletForms) => namespaceOf(form.network) === namespaceOf(network)
    const form = Object.values(walletForms).find(isFitting)
    return form === undefined ? [] : [{ network, spell: form.spell }]
  })
  const spellAll = () =>
    Object.fromEntries(forms.map(({ network, spell }) => [network, spell(randomBytes(32))[0]]))
  return () => ({
    payer: spellAll(),
    payee: spellAll(),
    amount: '10000',
    asset: 'USDC',
    sourceNetworks: forms.map(({ network }) => network),
  })
}

const readingBalances: Attack['flood'] = flooding((flood) => {
  const create = createIntent(flood)
  const apiKey = inTurn([undefined, ...flood.apiKeys])
  return () => post('/v1/intent', create(), apiKey())
})

/** Real signatures of payers without funds, each of them sent several times. */
const preparedPayments = 100

const settlingWithoutFunds: Attack['flood'] = flooding(async (flood) => {
  const bodies: string[] = []
  while (bodies.length < preparedPayments) {
    bodies.push(JSON.stringify(await exactPayment({ chain: flood.evm, wallet: createPayer() })))
  }
  const next = inTurn(bodies)
  const apiKey = inTurn(flood.apiKeys)
  return () => post('/settle', next(), apiKey())
})

const openingStreams: Attack['flood'] = flooding(async (flood) => {
  const { evm, apiKeys } = flood
  const bodies: string[] = []
  while (bodies.length < preparedPayments) {
    const payment = await uptoPayment({ chain: evm, wallet: createPayer(), facilitator: evm.facilitator })
    bodies.push(JSON.stringify(payment))
  }
  const next = inTurn(bodies)
  const apiKey = inTurn(apiKeys)
  return () => post('/v1/stream/open', next(), apiKey())
})

/** A wallet whose check uses up its gas, with a signature that is no key's. */
const payingByContract: Attack['flood'] = flooding(async ({ evm, apiKeys }) => {
  const wallet = {
    address: evm.burningWallet,
    deployment: null,
    signTypedData: async () => randomHex(130),
  }
  const bodies: string[] = []
  while (bodies.length < preparedPayments) {
    bodies.push(JSON.stringify(await exactPayment({ chain: evm, wallet })))
  }
  const next = inTurn(bodies)
  const apiKey = inTurn(apiKeys)
  return () => post('/verify', next(), apiKey())
})

interface SignIn {
  readonly address: string
  readonly chainId: string
  readonly signature: string
  readonly nonce?: string
}

const signInUri = 'https://api.example.com/premium'
const signInDomain = 'api.example.com'

const writeSignIn = ({ nonce = randomHexDigits(16), ...given }: SignIn): Buffer => {
  const now = Date.now()
  const proof = {
    domain: signInDomain,
    uri: signInUri,
    version: '1',
    nonce,
    issuedAt: new Date(now).toISOString(),
    expirationTime: new Date(now + 300_000).toISOString(),
    resources: [signInUri],
    ...given,
  }
  return post('/v1/siwx/verify', { proof, uri: signInUri })
}

const signing = (write: (flood: Flood) => () => SignIn): Attack['flood'] =>
  flooding((flood) => {
    const next = write(flood)
    return () => writeSignIn(next())
  })

/** Recovers to some other key, so that the address may still be a contract. */
const foreignKeySignature = (): Hex => `0x${randomHexDigits(32)}0${randomHexDigits(32).slice(1)}1b`

const writeChallenge = () => {
  const keypair = Keypair.random()
  const [address, nonce] = [keypair.publicKey(), randomHexDigits(16)]
  const now = Math.floor(Date.now() / 1_000)
  const builder = new TransactionBuilder(new Account(address, '-1'), {
    fee: '100',
    networkPassphrase: Networks.PUBLIC,
    timebounds: { minTime: now - 60, maxTime: now + 600 },
  })
  builder.addOperation(Operation.manageData({ source: address, name: `${signInDomain} auth`, value: nonce }))
  for (let index = 0; index < 60; index += 1) {
    builder.addOperation(
      Operation.manageData({ source: address, name: `filler ${index}`, value: randomBytes(64) }),
    )
  }
  const transaction = builder.build()
  transaction.sign(keypair)
  return { address, nonce, chainId: 'stellar:pubnet', signature: transaction.toXDR() }
}

/** Never answers. */
const startSlowHost = async ({ address, signal }: Flood): Promise<string> => {
  const server = createServer((socket) => socket.on('error', () => undefined).resume())
  server.listen(0, address)
  await once(server, 'listening')
  signal.addEventListener('abort', () => server.close())
  const bound = server.address()
  if (bound === null || typeof bound === 'string') throw new Error('The slow host has no port')
  return `http://${address}:${bound.port}/`
}

const notifyingSlowHost: Attack['flood'] = async (flood) => {
  const webhookUrl = await startSlowHost(flood)
  for (const apiKey of flood.apiKeys) await askOnce(flood, post('/dashboard/webhook', { webhookUrl }, apiKey))
  const create = createIntent(flood)
  const apiKey = inTurn(flood.apiKeys)
  const test = inTurn([false, false, false, true])
  await floodRequests(flood, () =>
    test() ? post('/dashboard/webhook/test', {}, apiKey()) : post('/v1/intent', create(), apiKey()),
  )
}

const searching: Attack['flood'] = flooding(() => {
  const paths = [
    '/discovery/search?query=topic3%20topic4&limit=100',
    '/discovery/search?query=api%20data&limit=100',
    '/discovery/resources?offset=10000&limit=100',
    '/discovery/resources?q=api&network=base&offset=10000&limit=100',
    '/discovery/resources?minAmount=9990&maxAmount=9999&limit=100',
  ]
  return inTurn(paths.map((path) => writeRequest(`GET ${path}`)))
})

/** As many alternatives as a declaration may have, all of which are tried. */
const validating: Attack['flood'] = flooding(() => {
  const alternatives = Array.from({ length: 300 }, (_, index) => ({ pattern: `^(a|a?)+${index}$` }))
  const body = {
    info: { input: { type: 'http', method: 'GET', queryParams: { text: 'a'.repeat(4_000) } } },
    schema: {
      type: 'object',
      properties: {
        input: {
          type: 'object',
          properties: { queryParams: { type: 'object', properties: { text: { anyOf: alternatives } } } },
        },
      },
    },
  }
  const request = post('/discovery/validate', body)
  return () => request
})

const usingManyKeys: Attack['flood'] = flooding(({ apiKeys, payments }) => {
  const body = JSON.stringify(payments.evm).replace(/"signature":"0x[0-9a-f]{8}/, '"signature":"0x00000000')
  return inTurn(apiKeys.map((apiKey) => post('/verify', body, apiKey)))
}, 256)

/** Waits on each key, on as many connections as the attacker can have. */
const waiting: Attack['flood'] = flooding(
  ({ apiKeys }) =>
    inTurn(apiKeys.map((apiKey) => writeRequest('GET /v1/events?cursor=latest&wait=30', { apiKey }))),
  manyConnections,
)

const registering: Attack['flood'] = flooding(() => {
  const projectName = 'hostile'
  return () => post('/register', { email: `${randomHexDigits(8)}@example.org`, projectName })
})

const completing: Attack['flood'] = flooding(({ payments }) => {
  const draft = () => ({
    network: readNetwork(payments.evm),
    amount: '10000',
    payTo: randomAddress(),
    description: 'x'.repeat(3_000),
  })
  const request = post('/accepts', { x402Version: 2, accepts: Array.from({ length: 20 }, draft) })
  return () => request
})

const sendingHeaders: Attack['flood'] = flooding(() => {
  const headers = Array.from({ length: 400 }, (_, index) => `x-${index}: ${'v'.repeat(30)}`)
  const request = writeRequest('GET /supported', { headers })
  return () => request
})

/** One table: the name is that of `--attack`. Each begins with fresh counts, as each has a server of its own. */
export const attacks: readonly Attack[] = [
  { name: 'openapi', what: 'the OpenAPI document, again and again', flood: getting('/api/openapi.json') },
  { name: 'docs', what: 'the largest file of /docs', flood: getting('/docs/static/swagger-ui-bundle.js') },
  { name: 'supported', what: 'GET /supported', flood: getting('/supported') },
  { name: 'metrics', what: 'GET /metrics, which has no rate limit', flood: getting('/metrics') },
  { name: 'probes', what: 'GET /ready, which has no rate limit', flood: getting('/ready') },
  {
    name: 'elsewhere',
    what: 'GET /ready of another instance on this machine: what the processors alone cost',
    needs: 'other instance',
    flood: getting('/ready'),
  },
  {
    name: 'pipelining',
    what: '64 kB of requests for the OpenAPI document in each packet',
    flood: pipelining,
  },
  { name: 'unread', what: 'answers that are never read, on 1,900 connections', flood: leavingUnread },
  { name: 'slow-bodies', what: 'a byte a second of a body on 1,900 connections', flood: sendingSlowly },
  { name: 'silent', what: 'connections that send nothing', flood: stayingSilent },
  ...[
    { name: 'unread-elsewhere', flood: leavingUnread },
    { name: 'slow-elsewhere', flood: sendingSlowly },
    { name: 'silent-elsewhere', flood: stayingSilent },
  ].map((attack) => ({
    ...attack,
    what: 'the same at another instance on this machine: what the processors alone cost',
    needs: 'other instance' as const,
  })),
  { name: 'headers', what: '16 kB of headers', flood: sendingHeaders },
  { name: 'nested-json', what: '64 kB of nested arrays, objects, and keys', flood: verifying(nestedBodies) },
  {
    name: 'base58',
    what: "64 kB of base58 in each text of each family's proof",
    needs: 'families',
    flood: filling(randomBase58),
  },
  {
    name: 'base64',
    what: 'the same of base64',
    needs: 'families',
    flood: filling((length) =>
      randomBytes(length)
        .toString('base64')
        .slice(0, length & ~3),
    ),
  },
  {
    name: 'hex',
    what: 'the same of hexadecimal digits',
    needs: 'families',
    flood: filling((length) => `0x${randomHexDigits(Math.floor(length / 2) - 1)}`),
  },
  {
    name: 'boc',
    what: 'the same of TON cells that refer to each other',
    needs: 'families',
    flood: filling(writeBoc),
  },
  {
    name: 'unknown-hashes',
    what: 'transactions that no node knows, of each family whose customers send',
    needs: 'families',
    flood: namingUnknownHashes,
  },
  {
    name: 'intents',
    what: 'intents of new wallets on each network, whose balances are read',
    needs: 'families',
    flood: readingBalances,
  },
  { name: 'accepts', what: '60 kB of requirements to complete', flood: completing },
  { name: 'settle', what: 'payments without funds', flood: settlingWithoutFunds },
  { name: 'contract-wallets', what: 'payments of a wallet that burns gas', flood: payingByContract },
  { name: 'stream-open', what: 'streams without funds', flood: openingStreams },
  {
    name: 'stream-update',
    what: 'updates of streams that do not exist',
    flood: flooding(({ apiKeys }) => {
      const apiKey = inTurn(apiKeys)
      return () => post('/v1/stream/update', { streamId: randomUUID(), amount: '10', token: 'x' }, apiKey())
    }),
  },
  {
    name: 'credit',
    what: 'recounts of wallets',
    flood: flooding(() => () => post('/v1/credit/refresh', { wallet: getAddress(randomAddress()) })),
  },
  {
    name: 'nonces',
    what: 'nonces for sign-ins with 20 chains',
    flood: flooding(() => {
      const chains = Array.from({ length: 20 }, (_, index) => `eip155:${index + 1}`)
      const request = post('/v1/siwx/nonce', { uri: signInUri, chains })
      return () => request
    }),
  },
  {
    name: 'sign-in-key',
    what: 'sign-ins by a key (eip191, eip712) of another address',
    flood: signing(({ evm }) => () => ({
      address: getAddress(randomAddress()),
      chainId: evm.network,
      signature: foreignKeySignature(),
    })),
  },
  {
    name: 'sign-in-contract',
    what: 'sign-ins by a wallet (eip1271) that burns gas',
    flood: signing(({ evm }) => () => ({
      address: getAddress(evm.burningWallet),
      chainId: evm.network,
      signature: randomHex(130),
    })),
  },
  {
    name: 'sign-in-factory',
    what: 'sign-ins by a wallet whose factory (eip6492) burns gas',
    flood: signing(({ evm }) => {
      const data = encodeFunctionData({ abi: hostileFactoryAbi, functionName: 'burnEverything' })
      const signature = serializeErc6492Signature({ address: evm.burningFactory, data, signature: '0xabcd' })
      return () => ({ address: getAddress(randomAddress()), chainId: evm.network, signature })
    }),
  },
  {
    name: 'sign-in-solana',
    what: 'sign-ins of Solana (siws)',
    flood: signing(() => () => ({
      address: base58.encode(randomBytes(32)),
      chainId: 'solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp',
      signature: base58.encode(randomBytes(64)),
    })),
  },
  {
    name: 'sign-in-stellar',
    what: 'challenges of Stellar (sep10) with 61 operations',
    flood: signing(() => {
      const challenge = writeChallenge()
      return () => challenge
    }),
  },
  {
    name: 'webhooks',
    what: 'events to a host that accepts connections and never answers',
    flood: notifyingSlowHost,
  },
  { name: 'events', what: 'requests that wait for events, on 1,900 connections', flood: waiting },
  { name: 'search', what: 'the dearest queries of 100,000 resources', needs: 'catalogue', flood: searching },
  { name: 'validate', what: 'a declaration with 300 patterns', flood: validating },
  { name: 'keys', what: 'bad signatures with 1,000 keys in turn', apiKeys: 1_000, flood: usingManyKeys },
  {
    name: 'wrong-keys',
    what: 'keys that do not exist, each once',
    flood: flooding(({ payments }) => {
      const body = JSON.stringify(payments.evm)
      return () => post('/verify', body, createApiKey())
    }),
  },
  {
    name: 'refused',
    what: 'requests that get 429, on 256 connections',
    flood: flooding(() => {
      const request = writeRequest('GET /tiers')
      return () => request
    }, 256),
  },
  { name: 'registration', what: 'registrations of new mailboxes', flood: registering },
]
