import { readFileSync } from 'node:fs'
import { z } from 'zod'
import type { StandIn } from './buyAsStandIn.js'
import { clients, frameworks, type Pair, roles, servers } from './matrix.js'

export interface Outcome<Row> {
  readonly row: Row
  readonly result: string
}

const manifest = z
  .object({ dependencies: z.record(z.string(), z.string()) })
  .parse(JSON.parse(readFileSync(new URL('package.json', import.meta.url), 'utf8')))

/** The whole of docs/clients.md. */
export const renderPage = (
  pairs: readonly Outcome<Pair>[],
  standIns: readonly Outcome<StandIn>[],
): string => {
  const rows = [
    ...pairs.map(({ row, result }) => [
      name(clients[row.client]),
      nameServer(row.server),
      String(row.version),
      row.families.map((family) => familyNames[family]).join(', '),
      describe(row, result),
    ]),
    ...standIns.map(({ row, result }) => [
      `\`${row.client}\` (stand-in), ${row.form}`,
      'none',
      '2',
      row.family,
      firstLine(result),
    ]),
  ]
  const packages = Object.entries(roles).map(([each, role]) => [
    `\`${each}\``,
    manifest.dependencies[each] ?? '',
    role,
  ])
  return [
    opening,
    renderTable(['Client', 'Server', 'Version', 'Families', 'Result'], rows),
    conditions,
    examples,
    renderTable(['Package', 'Version', 'Role'], packages),
    absent,
  ].join('\n')
}

const familyNames = { evm: 'EVM', solana: 'Solana' } as const

const name = (packages: readonly string[]): string =>
  packages.map((each) => `\`${each}\` ${manifest.dependencies[each] ?? ''}`).join(', ')

const nameServer = (server: Pair['server']): string => {
  const framework = frameworks[server]
  return framework === undefined ? name(servers[server]) : `${name(servers[server])} (${framework})`
}

const describe = ({ obstacle }: Pair, result: string): string =>
  result === 'pays' || obstacle === undefined ? firstLine(result) : `does not pay: ${obstacle.why}`

const firstLine = (result: string): string => result.split('\n', 1)[0] ?? ''

const renderTable = (head: readonly string[], rows: readonly (readonly string[])[]): string =>
  [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |\n`).join('')

const opening = `# Clients

After reading this page you can see which published clients and servers pay through this service.

## Purchases

Each row is a purchase for one cent in each family. The packages are as npm serves them: the client buys from the
server, the server verifies and settles through this service, and the payee's balance on a local chain is compared
with the price. The version is that of x402 or t402; MPP is the
[Machine Payments Protocol](https://mpp.dev), by its method \`evm\` and intent \`charge\`. \`npm run clients\` makes all
purchases and writes this page; the tests fail when a run sees another result than this page shows.
`

const conditions = `- Chains are local and have the names of test networks: Base Sepolia, Solana devnet, TON testnet, TRON Nile.
- \`@payai/facilitator\` and \`thirdweb\` know hosts of their providers; a hook around \`fetch\` answers these requests
  locally. \`@payai/facilitator\` sends its provider's credentials with every request.
- \`thirdweb\` pays with an account of viem, since its own wallets need every wallet connector to be installed.
- One version of viem (\`overrides\`) serves all packages; packages that no purchase reaches, such as wallet
  connectors, are replaced by an empty one.
- npm refuses \`mppx\` beside this version of viem, whose optional peer is a later \`mppx\`; an override allows it.
- \`@openfacilitator/sdk\` sends no receipt; the payee's balance alone is compared.
- With the flow \`upfront\` a server settles before it serves and does not verify; the tested one fails if it asks to.
- With the scheme \`batch-settlement\` the client deposits, and the server claims what it charged and has it paid out.
- With the scheme \`auth-capture\` the server has the price held before it serves, and captures it afterwards. The package has its
  client and none of its server, whose terms and captures the tested program adds to that of \`exact\`.
- \`@dexterai/x402\` and \`x402-solana\` pay on Solana only payees whose token account exists.
- A stand-in is a client of this repository that sends the published form of a package that was not found on npm.
`

/** The import and the marked block of a tested program. */
const readExample = (program: string, name: string): string => {
  const source = readFileSync(new URL(`programs/servers/${program}.mjs`, import.meta.url), 'utf8')
  const lines = source.split('\n')
  const mark = lines.findIndex((line) => line.trim() === '// The page shows this block.')
  const indent = lines[mark]?.match(/^ */)?.[0] ?? ''
  const block = lines.slice(mark + 1)
  const end = block.findIndex((line) => line === '' || !line.startsWith(indent))
  const shown = block.slice(0, end).map((line) => line.slice(indent.length))
  const imported = lines.filter((line) => line.includes(`from '${name}/`))
  return ['```js', ...imported, '', ...shown, '```'].join('\n')
}

const examples = `## Servers by example

Servers that take the facilitator in a way of their own, as the tested programs write it.

### \`mppx\`

It takes MPP and x402 from the same route: it checks the challenge and the signature itself, and sends the payer's EIP-3009
authorization to \`/verify\` and \`/settle\` in version 2. The receipt of MPP is the header \`Payment-Receipt\`, whose
\`reference\` is the transaction. \`mppx\` sends no API key; its option \`x402.fetch\` takes a \`fetch\` that adds one.

${readExample('mppx-express', 'mppx')}

### \`@dexterai/x402\`

On EVM its payers sign with the \`name\` and \`version\` of the kind in \`/supported\`, whatever the asset is. They are those
of the network's first token; payments in a token with another name or version are refused.

${readExample('dexter-express', '@dexterai/x402')}

### \`x402-solana\`

The package writes neither header of version 2; without \`PAYMENT-REQUIRED\` its own client pays in version 1, which the
package's server does not read.

${readExample('x402-solana', 'x402-solana')}

## Packages

Exact versions are in \`test/e2e/clients/package.json\`, which the root package does not install.
`

const absent = `\`@x402/mcp\`, \`@t402/ton\` and \`@t402/tron\` were not found on npm.

## Contracts

Payments by Permit2 are tested with Uniswap's published code at its address. x402's two proxies are of our own source, at
their published addresses, since no package has their code. Functions, results, events, errors, addresses and the witness
that payers sign are compared with what \`@x402/evm\` publishes, and are the same. What it does not publish can differ:

- of several errors that apply, the one that the proxy reports: the service takes a used nonce for the reason first, then
  the error that is reported, then a low allowance or balance;
- whether a permit of the token that fails ends \`settleWithPermit\`: ours goes on, and the allowance decides;
- whether the proxy for \`upto\` takes a charge of 0: the service sends none;
- gas: limits have a margin for the code of the tests.
`
