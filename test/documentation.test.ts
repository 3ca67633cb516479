import { existsSync, readdirSync } from 'node:fs'
import { posix } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseEnv } from 'node:util'
import { describe, expect, it } from 'vitest'
import { parse as parseYaml } from 'yaml'
import { z } from 'zod'
import { knownNetworks as evmNetworks } from '../src/chains/evm/networks.js'
import { evmVariables, readEvmSettings, wellKnownFactories } from '../src/chains/evm/settings.js'
import { knownNetworks as solanaClusters } from '../src/chains/solana/networks.js'
import { readSolanaSettings, solanaVariables } from '../src/chains/solana/settings.js'
import { readTonSettings, tonVariables } from '../src/chains/ton/settings.js'
import { readTronSettings, tronVariables } from '../src/chains/tron/settings.js'
import { serviceVariables } from '../src/config/environment.js'
import { readConfig } from '../src/config.js'
import { errorStatus } from '../src/errors.js'
import { rules as declarationRules } from '../src/extensions/bazaar/rules.js'
import { createMetrics } from '../src/platform/metrics.js'
import { listNetworkAliases } from '../src/protocol/network.js'
import { operationalCodes } from '../src/protocol/reasons/reasonEntry.js'
import { findOperationalCode, isReason, reasons, remedies } from '../src/protocol/reasons.js'
import { tiers } from '../src/protocol/tiers.js'
import { createListReasons } from '../src/usecases/core/explain/listReasons.js'
import { settlementRules } from '../src/usecases/discovery/resolveConflict.js'
import { directVariables } from './support/directVariables.js'
import { readAnchors, readCodeBlocks, readCodeSpans, readLinks, readTable } from './support/markdown.js'
import { readText } from './support/readText.js'

const families = [
  evmVariables,
  solanaVariables,
  tonVariables,
  tronVariables,
  ...directVariables.map(({ variables }) => variables),
]
const settings = [
  ...serviceVariables,
  ...families.flatMap(({ family, perNetwork }) => [...family, ...perNetwork]),
]

/** `EVM_TOKENS_8453` stands for `EVM_TOKENS_<chain id>`. */
const generalName = (name: string): string => {
  const stem = name.replace(/_(?:[1-9][0-9]*|[a-z]+)$/, '_<')
  return settings.find((setting) => stem.endsWith('<') && setting.startsWith(stem)) ?? name
}

const listMissing = (named: readonly string[]) => settings.filter((name) => !named.includes(name))
const listUnknown = (named: readonly string[]) => named.filter((name) => !settings.includes(name))
const listTwice = (named: readonly string[]) => named.filter((name, at) => named.indexOf(name) !== at)

const example = readText('.env.example')
// `parseEnv` gives plain strings to a null prototype.
const shown = Object.entries(parseEnv(example.replaceAll(/^#(?=[A-Z]\w*=)/gm, ''))).map(([name, value]) => ({
  name,
  value: value ?? '',
}))

describe('.env.example', () => {
  const text = example
  const named = shown.map(({ name }) => generalName(name))
  const environment = Object.fromEntries(shown.map(({ name, value }) => [name, value]))

  it('contains every setting of the schema', () => {
    expect(listMissing(named), 'not in .env.example').toEqual([])
  })

  it('contains only settings of the schema, each once', () => {
    const lines = [...text.matchAll(/^#([A-Z]\w*)=/gm)].map(([, name]) => generalName(name ?? ''))
    expect(listUnknown(lines), 'no setting').toEqual([])
    expect(listTwice(lines), 'stands twice').toEqual([])
  })

  it('has every setting commented out', () => {
    expect(text.split('\n').filter((line) => line !== '' && !line.startsWith('#'))).toEqual([])
  })

  it('describes each setting with its default', () => {
    const blocks = text.split(/\n\n+/).filter((block) => /^#[A-Z]\w*=/m.test(block))
    expect(blocks).toHaveLength(shown.length)
    expect(blocks.filter((block) => !/^# .*\bDefault: /ms.test(block))).toEqual([])
  })

  it('shows the actual defaults of the service', () => {
    const { EVM_PRIVATE_KEY: _none, ...rest } = environment
    const service = Object.fromEntries(
      Object.entries(rest).filter(([name]) => serviceVariables.includes(name)),
    )
    expect(readConfig(service, [])).toEqual(readConfig({}, []))
  })

  const node = 'https://node.example'
  it.each<readonly [string, Record<string, string>, (environment: Record<string, string>) => unknown]>([
    ['EVM', { EVM_PRIVATE_KEY: '11'.repeat(32), EVM_NETWORKS: '8453' }, readEvmSettings],
    [
      'Solana',
      { SOLANA_PRIVATE_KEY: JSON.stringify(Array(64).fill(1)), SOLANA_NETWORKS: 'mainnet' },
      readSolanaSettings,
    ],
    ['TRON', { TRON_RPC_URL_mainnet: node }, readTronSettings],
    ['TON', { TON_MNEMONIC: Array(24).fill('word').join(' '), TON_NETWORKS: 'mainnet' }, readTonSettings],
    ...directVariables.map(({ name, endpoint, read }) => [name, { [endpoint]: node }, read] as const),
  ])('shows the actual defaults of the %s family', (_, least, read) => {
    const family = Object.fromEntries(
      shown.filter(({ value }) => value !== '').map(({ name, value }) => [name, value]),
    )
    expect(read({ ...family, ...least })).toEqual(read(least))
  })
})

const root = fileURLToPath(new URL('..', import.meta.url))

/** Every file under a folder of the project, by the ending of its name. */
const listFiles = (folder: string, ending: string): readonly string[] =>
  readdirSync(posix.join(root, folder), { recursive: true, encoding: 'utf8' })
    .map((name) => posix.join(folder, name.replaceAll('\\', '/')))
    .filter((path) => path.endsWith(ending))
    .sort()

const docsPages = listFiles('docs', '.md')
const guides = ['README.md', ...docsPages]
const everyPage = [...guides, ...listFiles('.github', '.md'), ...listFiles('src', '.md')]

/** The one code span that a cell consists of or begins with; empty without one. */
const readName = (cell = ''): string => /^`([^`]+)`/.exec(cell)?.[1] ?? ''

const readNames = (path: string, heading: string): readonly string[] =>
  readTable(readText(path), heading).map((row) => readName(row[heading]))

const inOrder = (names: readonly string[]): readonly string[] => [...names].sort()

describe('the documentation', () => {
  it('has a README of at most 8 kB', () => {
    expect(Buffer.byteLength(readText('README.md'))).toBeLessThanOrEqual(8_192)
  })

  it.each(docsPages)('%s opens with one line on what its reader can do afterwards', (path) => {
    const [heading, blank, opening] = readText(path).split('\n')
    expect(heading).toMatch(/^# \S/)
    expect(blank).toBe('')
    expect(opening).toMatch(/^After reading this page you can [^.]+\.$/)
  })

  it('has no page that neither the README nor the index links to', () => {
    const linked = ['README.md', 'docs/README.md'].flatMap((from) =>
      readLinks(readText(from)).map((target) => posix.join(posix.dirname(from), target.replace(/#.*/, ''))),
    )
    expect(docsPages.filter((path) => path !== 'docs/README.md' && !linked.includes(path))).toEqual([])
  })

  it.each(everyPage)('%s links only to files and headings that exist', (path) => {
    const broken = readLinks(readText(path)).filter((link) => !isExternal(link) && !resolves(path, link))
    expect(broken).toEqual([])
  })

  it.each(guides)('%s calls only npm scripts that package.json has', (path) => {
    const { scripts } = z
      .object({ scripts: z.record(z.string(), z.string()) })
      .parse(JSON.parse(readText('package.json')))
    const called = readCodeBlocks(readText(path)).flatMap((code) =>
      [...code.matchAll(/\bnpm (?:run ([\w:-]+)|(start|test)\b)/g)].map(
        ([, run, short]) => run ?? short ?? '',
      ),
    )
    expect(called.filter((script) => !Object.hasOwn(scripts, script))).toEqual([])
  })

  it.each(guides)('%s uses the terms of the field: nodes and callers are not persons', (path) => {
    const words =
      /\b(?:nobody|somebody|anybody|everybody|whoever|who comes|hears?|tells?|lent|lends|for ever)\b/gi
    expect(readText(path).match(words) ?? []).toEqual([])
  })
})

const isExternal = (link: string): boolean => /^(?:https?|mailto):/.test(link)

const resolves = (from: string, link: string): boolean => {
  const [file = '', anchor] = link.split('#')
  const target = file === '' ? from : posix.join(posix.dirname(from), file)
  if (!existsSync(posix.join(root, target))) return false
  return anchor === undefined || readAnchors(readText(target)).includes(anchor)
}

describe('docs/reference/settings.md and chain-settings.md', () => {
  const pages = ['docs/reference/settings.md', 'docs/reference/chain-settings.md']
  const rows = pages.flatMap((page) => readTable(readText(page), 'Variable'))
  const named = rows.map(({ Variable: cell }) => readName(cell))

  it('has a row for every setting of the schema', () => {
    expect(listMissing(named)).toEqual([])
  })

  it('has no row for what is no setting, and none twice', () => {
    expect(listUnknown(named), 'no setting').toEqual([])
    expect(listTwice(named), 'stands twice').toEqual([])
  })

  it('explains every setting', () => {
    expect(rows.filter(({ Meaning: meaning = '' }) => meaning === '')).toEqual([])
  })

  // .env.example is compared with the schema above. Where it has no value, the page has words instead.
  it('shows the defaults of .env.example', () => {
    const examples = new Map(shown.map(({ name, value }) => [generalName(name), value]))
    // The addresses are in docs/networks/evm.md.
    examples.set('EVM_SMART_WALLET_FACTORIES', '')
    const defaults = rows.map((row) => [readName(row.Variable), readName(row.Default)])
    expect(Object.fromEntries(defaults)).toEqual(Object.fromEntries(examples))
  })
})

describe('docs/networks', () => {
  it('has a page for every family, linked from the README', () => {
    const pages = families.map(
      ({ family }) => `docs/networks/${family[0]?.split('_')[0]?.toLowerCase() ?? ''}.md`,
    )
    expect(inOrder(docsPages.filter((path) => path.startsWith('docs/networks/')))).toEqual(inOrder(pages))
    expect(readLinks(readText('README.md'))).toEqual(expect.arrayContaining(pages))
  })

  it('lists the built-in EVM networks as the source has them', () => {
    expect(readTable(readText('docs/networks/evm.md'), 'Chain id')).toEqual(
      evmNetworks.map(({ chainId, name, isTestnet, tokens, finalityDepth, coinUsd }) => ({
        'Chain id': String(chainId),
        Network: isTestnet ? `${name} (test)` : name,
        'Short name': listNetworkAliases(`eip155:${chainId}`)
          .map(({ name }) => `\`${name}\``)
          .join(', '),
        'Known tokens': tokens.map(({ symbol }) => symbol).join(', '),
        'Finality depth': String(finalityDepth),
        'Coin, USD': coinUsd === null ? 'none' : String(coinUsd),
      })),
    )
  })

  it('lists the factories that may deploy smart wallets', () => {
    const listed = readTable(readText('docs/networks/evm.md'), 'Factory').map((row) => readName(row.Address))
    expect(listed).toEqual(wellKnownFactories)
  })

  it('lists the built-in Solana clusters as the source has them', () => {
    const listed = readTable(readText('docs/networks/solana.md'), 'Network id').map((row) => ({
      network: readName(row['Network id']),
      tokens: row['Known tokens'],
    }))
    expect(listed).toEqual(
      solanaClusters.map(({ reference, tokens }) => ({
        network: `solana:${reference}`,
        tokens: tokens.map(({ symbol }) => symbol).join(', '),
      })),
    )
  })
})

describe('docs/discovery.md', () => {
  const page = readText('docs/discovery.md')
  const readRules = (column: string) =>
    readTable(page, column)
      .filter((row) => row.Rule !== undefined)
      .map(({ Rule: rule, Effect: effect, Meaning: meaning }) => [readName(rule), effect, meaning])

  it('lists every rule of a declaration, in the order of checking', () => {
    expect(readRules('Effect')).toEqual(
      declarationRules.map(({ name, effect, sentence }) => [name, effect, sentence]),
    )
  })

  it('lists every rule of a settlement', () => {
    const missing = Object.entries(settlementRules).filter(
      ([name, sentence]) => !page.includes(`| \`${name}\` | ${sentence} |`),
    )
    expect(missing).toEqual([])
  })
})

describe('docs/reference/endpoints.md', () => {
  it('lists every endpoint of the OpenAPI document, and no other', () => {
    const { paths } = z
      .object({ paths: z.record(z.string(), z.record(z.string(), z.unknown())) })
      .parse(parseYaml(readText('openapi/openapi.yaml')))
    const served = Object.entries(paths).flatMap(([path, methods]) =>
      Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
    )
    const listed = readTable(readText('docs/reference/endpoints.md'), 'Access').map(({ Endpoint: cell }) =>
      readName(cell),
    )
    expect(inOrder(listed)).toEqual(inOrder(served))
  })
})

describe('docs/keys.md', () => {
  it('lists the tiers as the source has them', () => {
    const listed = readTable(readText('docs/keys.md'), 'Tier').map((row) => ({
      tier: readName(row.Tier),
      monthlyQuota:
        row['Transactions per month'] === 'unlimited' ? -1 : Number(row['Transactions per month']),
      rpmLimit: Number(row['Requests per minute']),
      feeRate: Number(row['Fee rate']),
      priceCents: Number(row['Price per month (cents)']),
    }))
    expect(listed).toEqual(
      Object.entries(tiers).map(([tier, { name: _name, ...rest }]) => ({ tier, ...rest })),
    )
  })
})

describe('docs/decisions.md', () => {
  it('names the packages that only tests use, and those of the service, as package.json has them', () => {
    const versions = z.record(z.string(), z.string())
    const installed = z
      .object({ dependencies: versions, devDependencies: versions })
      .parse(JSON.parse(readText('package.json')))
    const rows = readTable(readText('docs/decisions.md'), 'Only in tests')
    const listIn = (heading: string) => rows.flatMap(({ [heading]: cell = '' }) => readCodeSpans(cell))
    expect(rows.length).toBeGreaterThan(0)
    expect(Object.keys(installed.devDependencies)).toEqual(expect.arrayContaining(listIn('Only in tests')))
    expect(Object.keys(installed.dependencies)).toEqual(expect.arrayContaining(listIn('In the service')))
  })
})

describe('docs/errors.md', () => {
  const page = readText('docs/errors.md')

  it('lists every error code with its status', () => {
    const listed = readTable(page, 'Status')
      .filter(({ Code: cell }) => cell !== undefined)
      .map((row) => [readName(row.Code), Number(row.Status)])
    expect(listed).toHaveLength(Object.keys(errorStatus).length)
    expect(Object.fromEntries(listed)).toEqual(errorStatus)
  })

  /** Without links and code marks, as `GET /v1/reasons` answers it. */
  const plain = (cell: string | undefined) =>
    (cell ?? '').replaceAll(/\[([^\]]+)\]\([^)]+\)/g, '$1').replaceAll('`', '')

  it('says of every reason and error code what GET /v1/reasons says', () => {
    const catalogue = createListReasons()()
    const listed = readTable(page, 'Reason').map((row) => ({
      reason: readName(row.Reason),
      explanation: plain(row.Meaning),
      remedy: plain(row['What to do']),
    }))
    const codes = readTable(page, 'Status').map((row) => ({
      code: readName(row.Code),
      explanation: plain(row.Meaning),
      remedy: plain(row['What to do']),
    }))
    expect(
      catalogue.reasons.map(({ reason, explanation, remedy }) => ({ reason, explanation, remedy })),
    ).toEqual(expect.arrayContaining(listed))
    expect(listed).toHaveLength(catalogue.reasons.length)
    expect(
      catalogue.errorCodes.map(({ code, explanation, remedy }) => ({ code, explanation, remedy })),
    ).toEqual(expect.arrayContaining(codes))
    expect(codes).toHaveLength(catalogue.errorCodes.length)
  })

  it('lists every reason with its operational code and its remedy', () => {
    const known = Object.keys(reasons).filter(isReason)
    const listed = readTable(page, 'Reason').map((row) => [
      readName(row.Reason),
      { code: row['Operational code'], remedy: readName(row.Remedy) },
    ])
    expect(listed).toHaveLength(known.length)
    expect(Object.fromEntries(listed)).toEqual(
      Object.fromEntries(
        known.map((reason) => [
          reason,
          { code: findOperationalCode(reason) ?? '', remedy: reasons[reason].remedy },
        ]),
      ),
    )
  })

  it('lists every remedy with its class and advice', () => {
    const listed = readTable(page, 'Class').map((row) => [
      readName(row.Remedy),
      { isFinal: row.Class === 'final', advice: (row['What to do'] ?? '').replace(/\.$/, '') },
    ])
    expect(Object.fromEntries(listed)).toEqual(remedies)
  })

  it('lists every operational code with its meaning', () => {
    const section = page.slice(page.indexOf('## Operational codes'))
    const listed = readTable(section, 'Code').map((row) => [row.Code, row.Meaning])
    expect(Object.fromEntries(listed)).toEqual(operationalCodes)
  })

  it('agrees with the enumerations of the OpenAPI document', () => {
    const { components } = z
      .object({
        components: z.object({
          schemas: z.object({
            Reason: z.object({ enum: z.array(z.string()) }),
            OperationalCode: z.object({ enum: z.array(z.string()) }),
          }),
        }),
      })
      .parse(parseYaml(readText('openapi/openapi.yaml')))
    expect(components.schemas.Reason.enum).toEqual(Object.keys(reasons))
    expect(components.schemas.OperationalCode.enum).toEqual(Object.keys(operationalCodes))
  })
})

describe('docs/reference/metrics.md', () => {
  const path = 'docs/reference/metrics.md'

  it('lists every metric of our own, and no other', () => {
    const { registry } = createMetrics({ kinds: [], measuresProcess: false })
    const served = registry.getMetricsAsArray().map(({ name }) => name)
    expect(inOrder(readNames(path, 'Metric'))).toEqual(inOrder(served))
  })
})

describe('docs/monitoring.md', () => {
  const path = 'docs/monitoring.md'

  it('alerts on metrics that exist', () => {
    const known = readNames('docs/reference/metrics.md', 'Metric')
    const expressions = readTable(readText(path), 'Expression').flatMap(({ Expression: cell = '' }) =>
      readCodeSpans(cell).flatMap((code) => code.match(/\b(?:quittance|facilitator)_\w+/g) ?? []),
    )
    expect(expressions.length).toBeGreaterThan(0)
    const isKnown = (name: string) => known.includes(name.replace(/_bucket$/, ''))
    expect(expressions.filter((name) => !isKnown(name))).toEqual([])
  })

  it('links every alert to its runbook', () => {
    const unlinked = readTable(readText(path), 'Runbook').filter(
      ({ Runbook: cell = '' }) => readLinks(cell).length !== 1,
    )
    expect(unlinked).toEqual([])
  })
})

describe('docs/reference/log-events.md', () => {
  const path = 'docs/reference/log-events.md'
  const logEvents = Array.from(
    readText('src/ports/logger.ts').matchAll(/\| '(.+)'/g),
    ([, name = '']) => name,
  )

  it('lists every log event, and no other', () => {
    expect(logEvents.length).toBeGreaterThan(100)
    const listed = readTable(readText(path), 'Event').flatMap(({ Event: cell = '' }) => readCodeSpans(cell))
    expect(inOrder(listed)).toEqual(inOrder(logEvents))
  })

  it('lists only log events that the source logs, all in the same form', () => {
    const sources = listFiles('src', '.ts').filter((file) => file !== 'src/ports/logger.ts')
    const source = sources.map(readText).join('\n')
    const isLogged = (event: string) =>
      source.includes(`'${event}'`) || source.includes(`\`${event.split('.')[0]}.\${`)
    expect(logEvents.filter((event) => !isLogged(event))).toEqual([])
    expect(logEvents.filter((event) => !/^[a-z_]+\.[a-z_]+$/.test(event))).toEqual([])
  })
})
