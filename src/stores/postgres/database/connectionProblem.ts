import type { Pool } from 'pg'
import { scrubText } from '../../../platform/scrub.js'
import type { Secret } from '../../../platform/secret.js'
import { StartError } from '../../../platform/startError.js'
import { type Migrated, type MigrateOptions, migrate } from './migrate.js'

/** As `migrate`; throws `StartError` for DATABASE_URL if it cannot be connected to or refuses its user. Null: embedded. */
export const migrateNamed = async (
  pool: Pool,
  folder: URL,
  { url, ...options }: MigrateOptions & { readonly url: Secret | null },
): Promise<Migrated> => {
  if (url === null) return await migrate(pool, folder, options)
  try {
    await pool.query('select')
  } catch (cause) {
    throw new StartError('DATABASE_URL', describeConnectionProblem(cause, url.reveal()), { cause })
  }
  try {
    return await migrate(pool, folder, options)
  } catch (cause) {
    // Without a code it is a sentence of our own about a migration.
    if (readCode(cause) === null && findProblem(cause) === undefined) throw cause
    throw new StartError('DATABASE_URL', describeConnectionProblem(cause, url.reveal()), { cause })
  }
}

/** One sentence on why the database of this URL cannot be used, and what to do. Never the URL's user or password. */
export const describeConnectionProblem = (error: unknown, url: string): string => {
  const { place, database } = describeTarget(url)
  const known = findProblem(error)
  if (known !== undefined) return known.describe(place, database)
  const message = error instanceof Error ? error.message : String(error)
  return `the database at ${place} cannot be used: ${scrubText(message)}`
}

const findProblem = (error: unknown): Problem | undefined => {
  const code = readCode(error)
  const message = error instanceof Error ? error.message : ''
  return problems.find(({ codes, texts = [] }) =>
    code === null ? texts.some((text) => message.includes(text)) : codes.includes(code),
  )
}

interface Problem {
  /** They are codes of Node.js, or SQLSTATE. */
  readonly codes: readonly string[]
  /** They identify errors of the driver, which have no code. */
  readonly texts?: readonly string[]
  readonly describe: (place: string, database: string) => string
}

const isPostgresThere = 'Check that Postgres answers there, or correct the URL.'

const problems: readonly Problem[] = [
  {
    // Without a server a Unix socket is not there.
    codes: ['ECONNREFUSED', 'ENOENT'],
    describe: (place) => `no server listens at ${place}. Start Postgres there, or correct the URL.`,
  },
  {
    codes: ['ENOTFOUND', 'EAI_AGAIN'],
    describe: (place) => `the host of ${place} is unknown. Correct the URL, or check DNS.`,
  },
  {
    codes: ['ETIMEDOUT', 'EHOSTUNREACH', 'ENETUNREACH', 'EHOSTDOWN'],
    texts: [
      'timeout exceeded when trying to connect',
      'timeout expired',
      'connection timeout',
      'Query read timeout',
    ],
    describe: (place) => `${place} does not answer. Check the network and its firewall, or correct the URL.`,
  },
  {
    codes: ['ECONNRESET', 'EPIPE'],
    texts: ['Connection terminated', 'connection is closed'],
    describe: (place) => `${place} closed the connection. ${isPostgresThere}`,
  },
  {
    codes: [],
    texts: ['client password must be a string'],
    describe: (place) =>
      `the server at ${place} requires a password, and the URL has none. Add it, or set DATABASE_PASSWORD.`,
  },
  {
    codes: ['28P01', '28000'],
    describe: (place) =>
      `the server at ${place} refuses this user or password. Correct the URL, or DATABASE_PASSWORD.`,
  },
  {
    codes: ['3D000'],
    describe: (place, database) =>
      `the database "${database}" does not exist at ${place}. Create it, or correct the URL.`,
  },
  {
    codes: ['42501'],
    describe: (place, database) =>
      `the user may not create tables in the database "${database}" at ${place}. Make it the owner: alter database ${database} owner to <user>.`,
  },
  {
    codes: ['53300'],
    describe: (place) =>
      `the server at ${place} has no free connection. Raise its max_connections, or lower DATABASE_POOL_SIZE.`,
  },
  {
    codes: ['57P03'],
    describe: (place) => `the server at ${place} is starting or stopping. Start again when it is ready.`,
  },
  {
    codes: ['25006'],
    describe: (place) => `the server at ${place} refuses writes: it is a standby. Name the primary.`,
  },
  {
    codes: [],
    texts: ['does not support SSL'],
    describe: (place) => `the server at ${place} does not speak TLS. Remove sslmode from the URL.`,
  },
  {
    codes: [
      'DEPTH_ZERO_SELF_SIGNED_CERT',
      'SELF_SIGNED_CERT_IN_CHAIN',
      'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
      'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
      'CERT_HAS_EXPIRED',
      'ERR_TLS_CERT_ALTNAME_INVALID',
    ],
    describe: (place) =>
      `the certificate of ${place} is not trusted. Name its authority with NODE_EXTRA_CA_CERTS.`,
  },
]

const readCode = (error: unknown): string | null =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : null

/** Host and port only, or the folder of the Unix socket. */
const describeTarget = (url: string): { readonly place: string; readonly database: string } => {
  if (!URL.canParse(url)) return { place: 'its host', database: '' }
  const { hostname, port, pathname, searchParams } = new URL(url)
  return {
    place: searchParams.get('host') ?? `${hostname}:${port === '' ? '5432' : port}`,
    database: decodeURIComponent(pathname.slice(1)),
  }
}
