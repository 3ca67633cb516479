import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { parseEnv } from 'node:util'
import { describe, expect, it } from 'vitest'
import { evmVariables, readEvmSettings } from '../src/chains/evm/settings.js'
import { readSolanaSettings, solanaVariables } from '../src/chains/solana/settings.js'
import { readTonSettings, tonVariables } from '../src/chains/ton/settings.js'
import { readTronSettings, tronVariables } from '../src/chains/tron/settings.js'
import { readConfig, serviceVariables } from '../src/config.js'

import { readText } from './support/sourceFiles.js'

const families = [evmVariables, solanaVariables, tonVariables, tronVariables]
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

describe('.env.example', () => {
  const text = readText('.env.example')
  // `parseEnv` returns an object without a prototype.
  const shown = Object.entries(parseEnv(text.replaceAll(/^#(?=[A-Z]\w*=)/gm, ''))).map(([name, value]) => ({
    name,
    value: value ?? '',
  }))
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
    expect(readConfig(service)).toEqual(readConfig({}))
  })

  it('shows the actual defaults of the EVM family', () => {
    const least = { EVM_PRIVATE_KEY: '11'.repeat(32), EVM_NETWORKS: '8453' }
    const family = Object.fromEntries(
      shown.filter(({ value }) => value !== '').map(({ name, value }) => [name, value]),
    )
    expect(readEvmSettings({ ...family, ...least })).toEqual(readEvmSettings(least))
  })

  it('shows the actual defaults of the Solana family', () => {
    const least = { SOLANA_PRIVATE_KEY: JSON.stringify(Array(64).fill(1)), SOLANA_NETWORKS: 'mainnet' }
    const family = Object.fromEntries(
      shown.filter(({ value }) => value !== '').map(({ name, value }) => [name, value]),
    )
    expect(readSolanaSettings({ ...family, ...least })).toEqual(readSolanaSettings(least))
  })

  it('shows the actual defaults of the TRON family', () => {
    const least = { TRON_RPC_URL_mainnet: 'https://node.example' }
    const family = Object.fromEntries(
      shown.filter(({ value }) => value !== '').map(({ name, value }) => [name, value]),
    )
    expect(readTronSettings({ ...family, ...least })).toEqual(readTronSettings(least))
  })

  it('shows the actual defaults of the TON family', () => {
    const least = { TON_MNEMONIC: Array(24).fill('word').join(' '), TON_NETWORKS: 'mainnet' }
    const family = Object.fromEntries(
      shown.filter(({ value }) => value !== '').map(({ name, value }) => [name, value]),
    )
    expect(readTonSettings({ ...family, ...least })).toEqual(readTonSettings(least))
  })
})

describe("the README's configuration table", () => {
  const readNamed = (): readonly string[] => {
    const path = fileURLToPath(new URL('../README.md', import.meta.url))
    if (!existsSync(path)) throw new Error('There is no README.md yet')
    const rows = readText('README.md')
      .split('\n')
      .flatMap((line) => /^\| `([A-Z][A-Z0-9_]*(?:_<[a-z ]+>)?)` *\|/.exec(line)?.[1] ?? [])
    if (rows.length === 0) throw new Error('README.md has no row of the form | `NAME` | default | meaning |')
    return rows
  }

  it('has a row for every setting of the schema', () => {
    expect(listMissing(readNamed()), 'not in the README').toEqual([])
  })

  it('has only rows for settings of the schema, each once', () => {
    const named = readNamed()
    expect(listUnknown(named), 'no setting').toEqual([])
    expect(listTwice(named), 'stands twice').toEqual([])
  })
})
