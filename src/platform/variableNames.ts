/*
 * Tells settings of the service, misspelt ones, and variables of other programs apart by their names alone.
 */

interface NetworkNames {
  /** Names without their suffix, such as `EVM_RPC_URL`. */
  readonly names: readonly string[]
  /** Form of the suffix. */
  readonly suffix: RegExp
}

/** Names of the settings of one part of the service. */
export interface KnownNames {
  readonly names: readonly string[]
  readonly perNetwork?: NetworkNames
}

/** Candidates for a name: every setting, those of networks with the suffix that the name has. */
const listCandidates = (name: string, known: readonly KnownNames[]): readonly string[] =>
  known.flatMap(({ names, perNetwork }) => {
    const suffix = /_([^_]*)$/.exec(name)?.[1] ?? ''
    if (perNetwork === undefined || !new RegExp(`^(?:${perNetwork.suffix.source})$`).test(suffix))
      return names
    return [...names, ...perNetwork.names.map((each) => `${each}_${suffix}`)]
  })

export const isKnownName = (name: string, known: readonly KnownNames[]): boolean =>
  listCandidates(name, known).includes(name)

/** The setting that a misspelt name is meant to be; null if it resembles none. */
export const findMeantName = (name: string, known: readonly KnownNames[]): string | null => {
  let nearest: { readonly name: string; readonly edits: number } | null = null
  for (const candidate of listCandidates(name, known)) {
    const edits = countSlips(name, candidate)
    if (edits !== null && edits < (nearest?.edits ?? Number.POSITIVE_INFINITY)) {
      nearest = { name: candidate, edits }
    }
  }
  return nearest?.name ?? null
}

const maxSlips = 2

/**
 * Edits by which a name differs from a setting, if it can be a slip, otherwise null. Words are compared one by one, so
 * that a short word is not taken for another one: DATABASE_SSL is not DATABASE_URL, but DATABASE_URI is.
 */
const countSlips = (name: string, setting: string): number | null => {
  const [given, meant] = [splitWords(name), splitWords(setting)]
  if (given.length !== meant.length) {
    const edits = countEdits(given.join(''), meant.join(''))
    return edits <= 1 ? edits : null
  }
  const edits = meant.map((word, index) => ({
    count: countEdits(given[index] ?? '', word),
    allowed: word.length < 7 ? 1 : maxSlips,
  }))
  const total = edits.reduce((sum, { count }) => sum + count, 0)
  return total <= maxSlips && edits.every(({ count, allowed }) => count <= allowed) ? total : null
}

const splitWords = (name: string): readonly string[] => name.toUpperCase().split(/[_.-]/)

/** Insertions, deletions, substitutions, and transpositions of neighbours (optimal string alignment). */
const countEdits = (from: string, to: string): number => {
  if (Math.abs(from.length - to.length) > maxSlips) return maxSlips + 1
  let beforeLast: readonly number[] = []
  let last: readonly number[] = Array.from({ length: to.length + 1 }, (_, index) => index)
  for (let row = 1; row <= from.length; row += 1) {
    const current = [row]
    for (let column = 1; column <= to.length; column += 1) {
      const isSame = from[row - 1] === to[column - 1]
      const isSwapped = from[row - 1] === to[column - 2] && from[row - 2] === to[column - 1]
      current[column] = Math.min(
        at(last, column) + 1,
        at(current, column - 1) + 1,
        at(last, column - 1) + (isSame ? 0 : 1),
        ...(isSwapped ? [at(beforeLast, column - 2) + 1] : []),
      )
    }
    beforeLast = last
    last = current
  }
  return at(last, to.length)
}

const at = (row: readonly number[], column: number): number => row[column] ?? Number.POSITIVE_INFINITY

// HOST, PORT and TIERS resemble words of other programs, such as PORTS, HOSTS and POST.
const shortestCompared = 7

/** Whether a variable of the environment is a misspelt setting; null: it is another program's. */
export const findMisspelt = (name: string, known: readonly KnownNames[]): string | null => {
  const meant = findMeantName(name, known)
  return meant !== null && meant.length >= shortestCompared ? meant : null
}

// Kubernetes adds these to every container, for each service of the namespace: a service `evm-node` gives EVM_NODE_PORT.
const kubernetesForms = [
  /_SERVICE_(?:HOST|PORT(?:_[A-Z0-9_]+)?)$/,
  /_PORT(?:_[0-9]+_(?:TCP|UDP|SCTP)(?:_(?:PROTO|PORT|ADDR))?)?$/,
]

/** Variables that an orchestrator adds to the environment; they do not stand in files. */
export const isOfOrchestrator = (name: string): boolean => kubernetesForms.some((form) => form.test(name))

const forms = [
  // Node.js, libuv, npm.
  /^(?:NODE(?:_\w+)?|UV_\w+|npm_\w+|NPM_\w+|NO_COLOR|FORCE_COLOR|DEBUG|CI)$/,
  // The C library, the loader, OpenSSL, the shell.
  /^(?:TZ|LANG|LANGUAGE|LC_\w+|LD_\w+|MALLOC_\w+|SSL_CERT_(?:FILE|DIR)|OPENSSL_\w+|PATH|HOME|USER|SHELL|PWD|TERM)$/,
  /^(?:https?|all|no)_proxy$/i,
  // Compose reads the file .env too, and so do the images beside the service.
  /^(?:COMPOSE|DOCKER|BUILDKIT|POSTGRES)_\w+$/,
  // libpq's, which the Postgres driver reads.
  /^PG[A-Z_]+$/,
  // Other libraries that the service loads, and tools for these chains, read them.
  /^(?:APTOS_SDK_WARNINGS|HIRO_API_KEY|UNDICI_NO_FG)$/,
  /^(?:NEAR_(?:ENV|HOME|CLI_\w+)|SOLANA_METRICS_CONFIG|TEZOS_(?:LOG|CLIENT_\w+|NODE_\w+))$/,
  // `npm run demo` and `npm run bench`.
  /^(?:SHOP_PORT|BENCH_\w+)$/,
]

/** Variables of the runtime, of libraries, and of tools that share an environment or a file with the service. */
export const isOfPlatform = (name: string): boolean => forms.some((form) => form.test(name))
