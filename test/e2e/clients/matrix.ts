import type { Family } from './scene.js'

/** Why no purchase can succeed, whatever this service answers. */
interface Obstacle {
  readonly why: string
  /** Part of what the client reports. */
  readonly seen: string
}

/** One published client that buys from one published server. */
export interface Pair {
  /** Programs in `programs/clients` and `programs/servers`. */
  readonly client: keyof typeof clients
  readonly server: keyof typeof servers
  /** Of x402 or t402; `MPP` is the Machine Payments Protocol. */
  readonly version: 1 | 2 | 'MPP'
  readonly families: readonly Family[]
  readonly obstacle?: Obstacle
}

/** The packages under test in each program. */
export const clients = {
  'x402-fetch-2': ['@x402/fetch'],
  'x402-fetch-2-channel': ['@x402/fetch'],
  'x402-fetch-2-capture': ['@x402/fetch'],
  'x402-axios-2': ['@x402/axios'],
  'x402-fetch-1': ['x402-fetch'],
  'x402-axios-1': ['x402-axios'],
  'x402-mcp-1': ['x402-mcp'],
  t402: ['@t402/core', '@t402/evm', '@t402/svm'],
  faremeter: ['@faremeter/fetch'],
  thirdweb: ['thirdweb'],
  'payai-x402': ['@payai/x402'],
  mppx: ['mppx'],
  dexter: ['@dexterai/x402'],
  'x402-solana': ['x402-solana'],
} as const

export const servers = {
  'x402-express-2': ['@x402/express'],
  'x402-express-2-upfront': ['@x402/express'],
  'x402-express-2-channel': ['@x402/express'],
  'x402-express-2-capture': ['@x402/express'],
  'x402-hono-2': ['@x402/hono'],
  'x402-next-2': ['@x402/next'],
  'x402-express-1': ['x402-express'],
  'x402-hono-1': ['x402-hono'],
  'x402-next-1': ['x402-next'],
  'x402-mcp-1': ['x402-mcp'],
  't402-next': ['@t402/next'],
  't402-core-1': ['@t402/core'],
  'faremeter-express': ['@faremeter/middleware'],
  'faremeter-hono': ['@faremeter/middleware'],
  thirdweb: ['thirdweb'],
  'openfacilitator-express': ['@openfacilitator/sdk'],
  'payai-facilitator': ['@payai/facilitator'],
  'payai-x402': ['@payai/x402'],
  'mppx-express': ['mppx'],
  'dexter-express': ['@dexterai/x402'],
  'x402-solana': ['x402-solana'],
} as const

/** Of servers whose package has several, or none of its own; and the payment flow or scheme, where it is not the usual one. */
export const frameworks: Partial<Readonly<Record<keyof typeof servers, string>>> = {
  'dexter-express': 'Express',
  'faremeter-express': 'Express',
  'faremeter-hono': 'Hono',
  'mppx-express': 'Express',
  'openfacilitator-express': 'Express',
  'payai-facilitator': '`@x402/express`',
  'payai-x402': 'no framework',
  't402-core-1': 'no framework',
  'x402-express-2-capture': 'scheme `auth-capture`',
  'x402-express-2-channel': 'scheme `batch-settlement`',
  'x402-express-2-upfront': 'flow `upfront`',
  'x402-solana': 'no framework',
}

/** What each tested package is, in the order of the page. */
export const roles = {
  '@x402/core': 'client, server, facilitator client',
  '@x402/fetch': 'client: fetch',
  '@x402/axios': 'client: axios',
  '@x402/express': 'server: Express',
  '@x402/hono': 'server: Hono',
  '@x402/next': 'server: Next.js route handler',
  '@x402/evm': 'scheme for clients and servers',
  '@x402/svm': 'scheme for clients and servers',
  'x402-fetch': 'client: fetch',
  'x402-axios': 'client: axios',
  'x402-express': 'server: Express',
  'x402-hono': 'server: Hono',
  'x402-next': 'server: Next.js route handler',
  'x402-mcp': 'client and server: Model Context Protocol',
  '@t402/core': 'client, facilitator client',
  '@t402/evm': 'scheme for clients and servers',
  '@t402/svm': 'scheme for clients and servers',
  '@t402/next': 'server: Next.js route handler',
  '@faremeter/fetch': 'client: fetch',
  '@faremeter/middleware': 'server: Express, Hono',
  '@faremeter/payment-evm': 'scheme for clients',
  '@faremeter/payment-solana': 'scheme for clients',
  '@faremeter/wallet-evm': 'wallet for clients',
  '@faremeter/wallet-solana': 'wallet for clients',
  thirdweb: 'client: fetch; server; facilitator client',
  '@openfacilitator/sdk': 'server: Express; facilitator client',
  '@payai/facilitator': 'configuration of a facilitator client',
  '@payai/x402': 'client, server, facilitator client',
  mppx: 'client: fetch; server: Express; facilitator client',
  '@dexterai/x402': 'client: fetch; server: Express; facilitator client',
  'x402-solana': 'client: fetch; server; facilitator client',
} as const

const both: readonly Family[] = ['evm', 'solana']
const evm: readonly Family[] = ['evm']
const solana: readonly Family[] = ['solana']

export const pairs: readonly Pair[] = [
  // Every server with a client, and every client with its own server; then clients with servers of others.
  { client: 'x402-fetch-2', server: 'x402-express-2', version: 2, families: both },
  { client: 'x402-fetch-2', server: 'x402-hono-2', version: 2, families: both },
  { client: 'x402-fetch-2', server: 'x402-next-2', version: 2, families: both },
  { client: 'x402-axios-2', server: 'x402-express-2', version: 2, families: both },
  { client: 't402', server: 't402-next', version: 2, families: both },
  { client: 'faremeter', server: 'faremeter-express', version: 2, families: both },
  { client: 'faremeter', server: 'faremeter-hono', version: 2, families: both },
  { client: 'faremeter', server: 'x402-express-2', version: 2, families: both },
  { client: 'x402-fetch-2', server: 'faremeter-express', version: 2, families: both },
  { client: 'thirdweb', server: 'thirdweb', version: 2, families: evm },
  { client: 'thirdweb', server: 'x402-express-2', version: 2, families: evm },
  { client: 'payai-x402', server: 'payai-x402', version: 2, families: both },
  { client: 'payai-x402', server: 'payai-facilitator', version: 2, families: both },
  { client: 'dexter', server: 'dexter-express', version: 2, families: both },
  { client: 'dexter', server: 'x402-express-2', version: 2, families: both },
  { client: 'x402-fetch-2', server: 'dexter-express', version: 2, families: both },
  { client: 'x402-solana', server: 'x402-solana', version: 2, families: solana },
  { client: 'x402-solana', server: 'x402-express-2', version: 2, families: solana },
  { client: 'x402-fetch-2', server: 'x402-solana', version: 2, families: solana },
  { client: 'x402-solana', server: 'x402-express-1', version: 1, families: solana },
  { client: 'x402-fetch-2', server: 'x402-express-2-upfront', version: 2, families: both },
  { client: 'dexter', server: 'x402-express-2-upfront', version: 2, families: both },
  { client: 'x402-solana', server: 'x402-express-2-upfront', version: 2, families: solana },
  { client: 'x402-fetch-2-channel', server: 'x402-express-2-channel', version: 2, families: evm },
  { client: 'x402-fetch-2-capture', server: 'x402-express-2-capture', version: 2, families: evm },
  { client: 'mppx', server: 'x402-express-2-upfront', version: 2, families: evm },
  { client: 'mppx', server: 'mppx-express', version: 'MPP', families: evm },
  { client: 'x402-fetch-2', server: 'mppx-express', version: 2, families: evm },
  { client: 'mppx', server: 'x402-express-2', version: 2, families: evm },
  { client: 'x402-fetch-1', server: 'x402-express-1', version: 1, families: both },
  { client: 'x402-fetch-1', server: 'x402-hono-1', version: 1, families: both },
  { client: 'x402-fetch-1', server: 'x402-next-1', version: 1, families: both },
  { client: 'x402-axios-1', server: 'x402-express-1', version: 1, families: both },
  { client: 'x402-axios-1', server: 'x402-hono-1', version: 1, families: both },
  { client: 'x402-mcp-1', server: 'x402-mcp-1', version: 1, families: evm },
  { client: 'x402-fetch-2', server: 'x402-express-1', version: 1, families: both },
  { client: 'x402-axios-2', server: 'x402-hono-1', version: 1, families: both },
  { client: 'faremeter', server: 'x402-express-1', version: 1, families: both },
  { client: 't402', server: 't402-core-1', version: 1, families: both },
  { client: 'thirdweb', server: 'x402-express-1', version: 1, families: evm },
  { client: 'payai-x402', server: 'x402-express-1', version: 1, families: both },
  { client: 'x402-fetch-1', server: 'openfacilitator-express', version: 1, families: both },
  { client: 'faremeter', server: 'faremeter-hono', version: 1, families: both },
  {
    client: 'x402-fetch-1',
    server: 'faremeter-express',
    version: 1,
    families: both,
    obstacle: {
      why: 'the server names networks in CAIP-2 form, which the client refuses in version 1',
      seen: 'invalid_enum_value',
    },
  },
  {
    client: 'x402-fetch-2',
    server: 'openfacilitator-express',
    version: 2,
    families: both,
    obstacle: {
      why: 'the server writes version 2 into the body and reads only the header of version 1',
      seen: 'Invalid payment required response',
    },
  },
]
